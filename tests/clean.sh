# regard clean: each rule drops its pair and no other, sides stay together, packed files come and go, damaged input is named.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1
long=$(yes word | head -151 | tr '\n' ' ')
cat > pairs.tsv <<PAIRS
the dog sleeps	le chien dort
	le chien dort
$long	$long x
one two three four five six seven eight nine	un deux
Same text here	Same text here
1 2 3 4 5 % % %	... 5 6 7 8
the dog sleeps	le chien dort
the cat sleeps	кошка спит на диване
in 1999 we left	en 1998 nous sommes partis
a $(printf 'x%.0s' $(seq 70)) b	un mot trop long
the end	la fin
PAIRS
cut -f1 pairs.tsv > a.en; cut -f2 pairs.tsv > a.fr
"$REGARD" clean a.en a.fr -o b.en.gz b.fr.gz --source-lang en --target-lang fr --same-numbers --reasons why --rejected bad 2> log || { cat log; fail run; }
printf 'the dog sleeps\nthe end\n' > want; zcat b.en.gz | cmp -s - want || { zcat b.en.gz; fail "the source side"; }
printf 'le chien dort\nla fin\n' > want; zcat b.fr.gz | cmp -s - want || fail "the target side"
printf '2\tempty\n3\tlong\n4\tratio\n5\tcopied\n6\tletters\n7\tduplicate\n8\tscript\n9\tnumbers\n10\tlong-word\n' > want
cmp -s why want || { cat why; fail reasons; }
grep -q '2 of 11 pairs kept (18.2 %)' log || { cat log; fail "the table"; }
[ "$(wc -l < bad)" = 9 ] && grep -q '^script	the cat sleeps	' bad || fail "--rejected"
# a table, packed, gives the same
gzip -k pairs.tsv
"$REGARD" clean pairs.tsv.gz -o c.tsv --source-lang en --target-lang fr --same-numbers 2> log2 || { cat log2; fail "a table"; }
zcat b.en.gz > x; zcat b.fr.gz > y; paste x y | cmp -s - c.tsv || fail "a table gives the same"
cmp -s log log2 || fail "the same counts"
grep -q '^languages are told by ' log || { cat log; fail "how languages were told"; }
# languages of one script: by the detector where it is installed, not by script
cat > l.en <<'L'
The committee will meet again on Thursday to discuss what happened in the north of the country.
Der Ausschuss trifft sich am Donnerstag wieder, um über die Ereignisse im Norden des Landes zu sprechen.
Nobody knew where the old man had come from, and nobody dared to ask him about it.
Paris
L
cat > l.fr <<'L'
Le comité se réunira de nouveau jeudi pour parler de ce qui est arrivé dans le nord du pays.
Le comité se réunira de nouveau jeudi pour parler des événements dans le nord du pays.
Nobody knew where the man had come from, and no one dared to ask him anything about it.
London
L
languages() { "$REGARD" clean l.en l.fr -o o1 o2 --source-lang en --target-lang fr --reasons why "$@" 2> log || cat log; wc -l < o1; }
[ "$(languages --detect script)" = 4 ] && grep -qx 'languages are told by script' log || { cat log; fail "--detect script"; }
if [ -e "$BUILD_DIR/regard-languages.so" ]; then
    [ "$(languages)" = 2 ] && [ "$(languages --detect cld2)" = 2 ] || { cat log why; fail "--detect auto"; }
    printf '2\tlanguage\n3\tlanguage\n' | cmp -s - why || { cat why; fail "pairs in another language"; }
    grep -qx 'languages are told by libcld2, and by script' log || { cat log; fail "it says by what"; }
    # installed without the module
    mkdir bare; cp "$REGARD" "$BUILD_DIR"/libregard.so.0 bare/
    bare() { LD_LIBRARY_PATH=bare bare/regard clean l.en l.fr -o o1 o2 --source-lang en --target-lang fr "$@" 2> log; }
    bare && [ "$(wc -l < o1)" = 4 ] && grep -q 'by script only: regard-languages.so' log || { cat log; fail "without the module"; }
    bare --detect cld2 && fail "--detect cld2 without the module"
    grep -q 'regard-languages.so' log || { cat log; fail "what is missing is named"; }
fi
# duplicates by side, none; scores of a model
printf 'a b\na b\nc d\n' > d.en; printf 'x y\nz y\nz y\n' > d.fr
kept() { "$REGARD" clean d.en d.fr -o o1 o2 "$@" 2> log || cat log; wc -l < o1; }
[ "$(kept)" = 3 ] && [ "$(kept --duplicates source)" = 2 ] && [ "$(kept --duplicates target)" = 2 ] || fail "--duplicates"
printf -- '-0.5\n-9\nnan\n' > s
[ "$(kept --scores s --min-score -3)" = 1 ] || fail "--scores"
printf '你好世界\n' > z.zh; printf 'hello world\n' > z.en
"$REGARD" clean z.zh z.en -o o1 o2 --source-lang zh --target-lang en --max-words 4 2> log; [ "$(wc -l < o1)" = 1 ] || fail "Chinese letters are words"
"$REGARD" clean z.zh z.en -o o1 o2 --max-words 3 2> log; [ "$(wc -l < o1)" = 0 ] || fail "Chinese letters are counted"
# refused, and nothing is left behind
refuse() { word=$1; shift; rm -f o1 o2; "$REGARD" clean "$@" > out 2> log && fail "accepted: $*"; grep -q -- "$word" log || { cat log; fail "$word: $*"; }; [ ! -e o1 ] || fail "a file was left: $*"; }
printf 'a\nb\n' > short
refuse 'has more' d.en short -o o1 o2
refuse 'as many' d.en d.fr -o o1
refuse 'twice' d.en d.fr -o o1 o1
refuse 'd.en' d.en d.fr -o d.en o2
refuse 'short.none' d.en d.fr -o o1 o2 --scores short.none
printf 'x\n' > bad.s; refuse 'not a number' d.en d.fr -o o1 o2 --scores bad.s
printf -- '-1\n' > few; refuse '1 scores' d.en d.fr -o o1 o2 --scores few
refuse 'no pair' d.en d.fr -o o1 o2 --min-words 9 --max-words 3
printf 'ok fine\n\377\376 bad\n' > w.en; printf 'bien oui\nmal\n' > w.fr
"$REGARD" clean w.en w.fr -o o1 o2 --reasons why 2> log; grep -qx '2	damaged' why || { cat why log; fail "bytes that are not UTF-8"; }
[ "$failures" = 0 ]

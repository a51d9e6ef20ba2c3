# Documents from outside: formats by ending and by name, sentences, refusals, and a run that is killed and resumed.
# release only
set -u
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
[ -e "$BUILD_DIR/regard-sentences.so" ] || exit 77

"$TRAINER" demo translate -o demo --sentences 300 --tests 20 --after-batches 12 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
translate() { "$REGARD" translate -m demo/model.safetensors -b 1 --cpu-threads 1 "$@"; }
first=$(sed -n 1p demo/test.en)
second=$(sed -n 2p demo/test.en)
a=$(echo "$first" | translate)
b=$(echo "$second" | translate)

# One line in, one line out; two sentences on a line are translated one by one.
capital() { printf '%s' "$1" | sed 's/^./\U&/'; }
printf '%s. %s\n\n%s\n' "$first" "$(capital "$second")" "$first" > lines
translate --split-sentences yes -i lines > out 2> err || fail "--split-sentences: $(cat err)"
[ "$(wc -l < out)" = 3 ] || fail "3 lines in, $(wc -l < out) out"
[ "$(sed -n 3p out)" = "$a" ] || fail "a line of one sentence: $(sed -n 3p out), not $a"
one=$(echo "$first." | translate) two=$(capital "$second" | translate)
[ "$(sed -n 1p out)" = "$one $two" ] || fail "two sentences: $(sed -n 1p out), not $one $two"
translate --split-sentences yes --json -i lines > out 2> err && fail "--json of sentences is taken"
grep -q 'not with --n-best, --json' err || fail "what is refused with sentences: $(cat err)"

# A document by its ending, by its name, and as lines.
printf '<ul>\n<li class="x">%s</li>\n<li>%s</li>\n</ul>\n' "$first" "$second" > page.html
printf '<ul>\n<li class="x">%s</li>\n<li>%s</li>\n</ul>\n' "$a" "$b" > expected
translate -i page.html -o page.out 2> err || fail "page.html: $(cat err)"
cmp -s page.out expected || fail "page.html: $(cat page.out)"
[ ! -e page.out.partial ] || fail "page.out.partial is left behind"
translate --input-format html < page.html > out 2> err || fail "standard input: $(cat err)"
cmp -s out expected || fail "HTML of standard input: $(cat out)"
translate --input-format lines -i page.html > out || fail "page.html as lines"
[ "$(wc -l < out)" = 4 ] || fail "page.html as lines: $(wc -l < out)"
translate --input-format nosuch -i page.html > out 2> err && fail "--input-format nosuch is taken"
grep -q 'nosuch: there are auto, lines, text, html' err || fail "which formats there are: $(cat err)"
printf '{"a":\n' > broken.json
translate -i broken.json -o out.json 2> err && fail "broken JSON is taken"
grep -q 'broken.json: line' err || fail "where JSON is broken: $(cat err)"
[ ! -e out.json ] || fail "an output of a broken document"
printf 'msgid "%s"\nmsgstr ""\n' "$first" > a.po
translate -i a.po > out 2> err && [ "$(tail -1 out)" = "msgstr \"$a\"" ] || fail "a.po: $(cat out err)"

# What is in a memory is copied and marked; a TMX is also a corpus.
printf '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>%s</seg></tuv><tuv xml:lang="fr"><seg>BY HAND</seg></tuv></tu></body></tmx>\n' "$first" > my.tmx
printf '%s\n%s\n' "$first" "$second" > two
translate --memory my.tmx -i two > out 2> err || fail "--memory: $(cat err)"
[ "$(sed -n 1p out)" = "BY HAND" ] && [ "$(sed -n 2p out)" = "$b" ] || fail "--memory: $(cat out)"
grep -q 'my.tmx: 1 copied from 1 pairs' err || fail "how many were copied: $(cat err)"
translate --memory my.tmx --json -i two 2> err | head -1 | grep -q '"text":"BY HAND","memory":true' || fail "a copy is not marked in JSON"
translate --memory my.tmx -i page.html 2> err | grep -q '<li class="x">BY HAND</li>' || fail "--memory of a document"
translate --memory nosuch.tmx -i two > out 2> err && fail "a memory that is not there is taken"
paste demo/train.en demo/train.fr | awk -F '\t' 'BEGIN { print "<tmx><header srclang=\"en\"/><body>" }
    { printf "<tu><tuv xml:lang=\"en\"><seg>%s</seg></tuv><tuv xml:lang=\"fr\"><seg>%s</seg></tuv></tu>\n", $1, $2 } END { print "</body></tmx>" }' > train.tmx
"$REGARD" train -t train.tmx --columns en,fr -m tmx.safetensors --vocab-kind words --dim-vocabs 0 --preset tiny --after-batches 2 \
    --cpu-threads 1 > log 2>&1 || fail "training on TMX: $(tail -3 log)"
grep -q "$(wc -l < demo/train.en) pairs" log || fail "pairs of the TMX: $(grep pairs log)"

# Killed in the middle, it goes on where it was, to the same file as without.
for i in $(seq 150); do sed "s/\$/ $i/" demo/test.en; done > long.txt
translate --input-format text -i long.txt -o whole.out 2> err || fail "long.txt: $(cat err)"
"$REGARD" translate -m demo/model.safetensors -b 1 --cpu-threads 1 --input-format text -i long.txt -o long.out 2> err &
pid=$!
# It saves once per second, and a fast machine is done before: every tenth of a second it is held for longer than that.
for _ in $(seq 40); do
    for _ in 1 2 3 4 5; do [ -e long.out.partial ] || sleep 0.02; done
    [ ! -e long.out.partial ] || break
    kill -STOP $pid && sleep 1.1 && kill -CONT $pid
done
kill -9 $pid
wait $pid 2> /dev/null
[ -e long.out.partial ] || fail "no long.out.partial after 40 seconds"
[ ! -e long.out ] || fail "long.out is there before it is done"
cp long.out.partial other.out.partial
head -20 long.txt > other.txt
translate --input-format text -i other.txt -o other.out 2> err || fail "another input: $(cat err)"
grep -q 'beginning anew' err || fail "a partial file of another input is used: $(cat err)"
translate --input-format text -i long.txt -o long.out 2> err || fail "resuming: $(cat err)"
grep -q 'resumed, [1-9][0-9]* of 3000 sentences' err || fail "it was not resumed: $(cat err)"
cmp -s long.out whole.out || fail "what was resumed is not what is written without a break"
[ ! -e long.out.partial ] || fail "long.out.partial is left behind"

[ $failures = 0 ] && echo "documents: fine"
exit $((failures > 0))

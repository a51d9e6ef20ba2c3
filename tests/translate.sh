# Translating from outside: one line in, one line out, whatever the bytes; answers at once; scores; averages; refusals; outputs that fail.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

"$TRAINER" demo translate -o "$work/demo" --sentences 300 --tests 20 --after-batches 12 --cpu-threads 1 > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
model=$work/demo/model.safetensors
test_en=$work/demo/test.en

# 2,000 lines of every kind (P6): as many lines out, and the good ones as if they were alone (P7).
awk 'BEGIN { srand(7) } { good[NR] = $0 } END {
    printf "\357\273\277%s\n", good[1]
    for (i = 2; i <= 2000; i++) {
        k = int(rand() * 8)
        if (k == 0) print ""
        else if (k == 1) printf "%s\r\n", good[1 + i % NR]
        else if (k == 2) printf "a%cb\n", 0
        else if (k == 3) printf "\377\376 \300\257 x\n"
        else if (k == 4) print "   "
        else print good[1 + i % NR]
    }
}' "$test_en" > "$work/lines"
awk 'BEGIN { for (i = 0; i < 250000; i++) printf "cat "; print "" }' >> "$work/lines" # 1 MB
"$REGARD" translate -m "$model" -b 1 --quiet --max-length 50 < "$work/lines" > "$work/out" || fail "the line generator's file"
[ "$(wc -l < "$work/out")" = 2001 ] || fail "2001 lines in, $(wc -l < "$work/out") out"
"$REGARD" translate -m "$model" -b 1 --quiet < "$test_en" > "$work/lone" || fail "the good lines"
paste -d '\t' "$test_en" "$work/lone" > "$work/table"
tr -d '\r' < "$work/lines" | sed '1s/^\xef\xbb\xbf//' | LC_ALL=C paste -d '\t' - "$work/out" | LC_ALL=C awk -F '\t' -v table="$work/table" '
    BEGIN { while ((getline line < table) > 0) { split(line, f, "\t"); want[f[1]] = f[2] } }
    ($1 in want) { seen++; if ($2 != want[$1]) { print "line " NR ": " $1 " -> " $2 ", alone " want[$1]; bad = 1 } }
    $1 == "" && $2 != "" { print "line " NR ": empty in, " $2 " out"; bad = 1 }
    END { if (seen < 500) { print "only " seen " good lines"; bad = 1 } exit bad }' || fail "a line depends on its neighbours"

# What is wrong with a line is said with file and line number, by translate and score; as many lines out as in (P6).
{ head -1 "$test_en"; printf 'a\377b\n'; printf 'a\000b\n'; head -c 17000000 /dev/zero | tr '\0' x; printf '\nlast\n'; } > "$work/odd"
printf 'x\nx\nx\nx\n\303\n' > "$work/odd.fr"
"$REGARD" translate -m "$model" -b 1 -i "$work/odd" > "$work/out" 2> "$work/err" || fail "odd lines: $(cat "$work/err")"
[ "$(wc -l < "$work/out")" = 5 ] || fail "5 odd lines in, $(wc -l < "$work/out") out"
[ "$(sed -n 4p "$work/out")" = "" ] || fail "a line over the limit was not read as empty"
"$REGARD" score -m "$model" "$work/odd" "$work/odd.fr" > "$work/out" 2> "$work/err.score" || fail "odd pairs: $(cat "$work/err.score")"
[ "$(wc -l < "$work/out")" = 5 ] || fail "5 odd pairs in, $(wc -l < "$work/out") scores out"
for said in 'odd: line 2: bad UTF-8' 'odd: line 3: NUL' 'odd: line 4: over the byte limit'; do
    for err in err err.score; do grep -q "$said" "$work/$err" || fail "\"$said\" is not in: $(cat "$work/$err")"; done
done
grep -q 'odd.fr: line 5: bad UTF-8' "$work/err.score" || fail "the target's line 5: $(cat "$work/err.score")"
"$REGARD" translate -m "$model" -b 1 -i "$work/odd" --quiet 2>&1 > /dev/null | grep -q . && fail "--quiet is not quiet"
yes "$(printf 'a\377b')" | head -30 | "$REGARD" translate -m "$model" -b 1 > "$work/out" 2> "$work/err" || fail "30 odd lines"
grep -q 'standard input: 30 with bad UTF-8, replaced by U+FFFD (lines 1, 2, 3' "$work/err" || fail "the sum of odd lines: $(cat "$work/err")"
[ "$(grep -c 'bad UTF-8' "$work/err")" = 9 ] || fail "30 odd lines gave $(grep -c 'bad UTF-8' "$work/err") remarks"

# A person gets the answer to a line before sending the next.
mkfifo "$work/in"
"$REGARD" translate -m "$model" < "$work/in" > "$work/answers" 2> /dev/null &
child=$!
exec 3> "$work/in"
for n in 1 2 3; do
    head -1 "$test_en" >&3
    for _ in $(seq 200); do [ "$(wc -l < "$work/answers")" -ge $n ] && break; sleep 0.05; done
    [ "$(wc -l < "$work/answers")" = $n ] || fail "line $n was not answered before the next"
done
exec 3>&-
wait $child || fail "an interactive run"

# Batches, threads, n-best, JSON.
"$REGARD" translate -m "$model" --quiet < "$test_en" > "$work/a"
"$REGARD" translate -m "$model" --quiet --mini-batch 3 --maxi-batch 2 --cpu-threads 3 < "$test_en" > "$work/b"
cmp -s "$work/a" "$work/b" || fail "batches or threads changed a translation"
"$REGARD" translate -m "$model" "$model" --quiet < "$test_en" > "$work/b"
cmp -s "$work/a" "$work/b" || fail "an ensemble of two alike differs from one"
"$REGARD" translate -m "$model" --quiet --n-best 2 < "$test_en" | awk -F ' [|][|][|] ' '$1 != last { print $2; last = $1 }' last=-1 > "$work/b"
cmp -s "$work/a" "$work/b" || fail "the first of n best is not the best"
"$REGARD" translate -m "$model" --quiet --json < "$test_en" 2> /dev/null | head -1 | grep -q '"attention":\[\[' || fail "no attention in --json"
[ "$("$REGARD" translate -m "$model" --quiet --alignment hard < "$test_en" | grep -cE ' \|\|\| ([0-9]+-[0-9]+ ?)*$')" = 20 ] || fail "alignments"

# The search as a tree: the answers are the same, and the tree ends in them.
"$REGARD" translate -m "$model" --quiet --trace "$work/beam.json" -b 3 < "$test_en" > "$work/t"
"$REGARD" translate -m "$model" --quiet -b 3 < "$test_en" > "$work/b"
cmp -s "$work/t" "$work/b" || fail "a trace changed a translation"
[ -s "$work/beam.json" ] && [ -s "$work/beam.20.json" ] || fail "not a tree per line"
"$REGARD" show "$work/beam.3.json" --width 80 > "$work/tree" || fail "show of a beam"
head -1 "$work/tree" | grep -qF "→ $(sed -n 3p "$work/b")" || fail "the tree's title is not its answer"
grep -q 'ANSWER, score' "$work/tree" || fail "the tree has no answer"
"$REGARD" show "$work/beam.3.json" --html "$work/tree.html" && grep -q '"kind":"beam"' "$work/tree.html" || fail "page of a beam"
"$REGARD" translate -m "$model" --trace "$model" < "$test_en" > /dev/null 2>&1 && fail "a trace over the model"

# A grid of a translation has every head of every layer, not the alignment alone.
if [ -e "$BUILD_DIR/regard-figures.so" ]; then
    tall() { sed -nE 's/.*<svg .* height="([0-9]+).*/\1/p' "$1" | head -1; }
    "$REGARD" show -m "$model" --style grid --svg "$work/all.svg" the cat || fail "show -m --style grid"
    "$REGARD" show -m "$model" --style grid --name alignment --svg "$work/one.svg" the cat || fail "show -m --style grid --name"
    [ "$(tall "$work/all.svg")" -gt $((3 * $(tall "$work/one.svg"))) ] || fail "the grid of a translation is $(tall "$work/all.svg") points high"
fi

# Unknown words are said to be unknown, or taken from the source as they stand there although the source does not know them either.
forced() { echo "Zebu" | "$REGARD" translate -m "$model" --quiet --prefix qqq "l'qqq" "$@"; }
forced | grep -q "^<unk> l'<unk>" || fail "an unknown word: $(forced)"
forced --replace-unk | grep -q "^Zebu l'Zebu" || fail "--replace-unk: $(forced --replace-unk)"
"$REGARD" translate -m "$model" --quiet --replace-unk < "$test_en" | cmp -s "$work/a" - || fail "--replace-unk changed answers without unknown words"

# The example of the C API gives what the program gives.
example=$BUILD_DIR/examples/03_translate
if [ -x "$example" ]; then
    line=$(head -1 "$test_en")
    [ "$("$example" "$model" "$line" | head -1)" = "$(head -1 "$work/a")" ] || fail "the example translates otherwise"
    "$example" "$work/none" > /dev/null && fail "the example does not miss its model"
fi

# Scores of what was found are those of the search; per piece they add up.
"$REGARD" translate -m "$model" --quiet -n 0 --n-best 1 < "$test_en" > "$work/nbest"
awk -F ' [|][|][|] ' '{ print $2 }' "$work/nbest" > "$work/hyp"
"$REGARD" score -m "$model" --word-scores "$test_en" "$work/hyp" > "$work/scores" 2> "$work/err" || fail "score: $(cat "$work/err")"
paste -d ' ' "$work/nbest" "$work/scores" | awk -F ' [|][|][|] ' '{ split($4, x, " "); d = x[1] - x[2]; n = split($5, w, " "); s = 0; for (i = 1; i <= n; i++) s += w[i]
    if (s - x[2] > 1e-3 || x[2] - s > 1e-3) { print "pieces add up to " s ", not " x[2]; bad = 1 }
    if (d > 1e-4 || -d > 1e-4) differ++ }
    END { if (differ > 4) { print differ " scores differ from the search"; bad = 1 } exit bad }' || fail "forced scores" # answers that were cut, or are spelt otherwise, may differ
head -3 "$work/hyp" > "$work/short"
"$REGARD" score -m "$model" "$test_en" "$work/short" > /dev/null 2> "$work/err" && fail "sides of different length were accepted"
grep -q 'ends after 3 lines' "$work/err" || fail "score does not say which side ends: $(cat "$work/err")"

# An average of a model with itself is the model.
"$REGARD" average "$model" "$model" -o "$work/mean.safetensors" 2> "$work/err" || fail "average: $(cat "$work/err")"
"$REGARD" translate -m "$work/mean.safetensors" --quiet < "$test_en" > "$work/b"
cmp -s "$work/a" "$work/b" || fail "the average of a model with itself differs"

# What does not belong together, or is no model, is refused (P8).
"$TRAINER" demo translate -o "$work/other" --sentences 60 --tests 5 --after-batches 1 --seed 5 --cpu-threads 1 > /dev/null 2>&1
if ! cmp -s <("$REGARD" translate -m "$work/other/model.safetensors" --json --quiet < "$test_en" 2> /dev/null | head -1) /dev/null; then
    "$REGARD" translate -m "$model" "$work/other/model.safetensors" < "$test_en" > /dev/null 2> "$work/err" && fail "an ensemble of strangers was accepted"
    grep -q vocabular "$work/err" || fail "strangers: $(cat "$work/err")"
    "$REGARD" average "$model" "$work/other/model.safetensors" -o "$work/x" 2> "$work/err" && fail "an average of strangers was accepted"
fi
"$REGARD" translate -m "$test_en" < "$test_en" > /dev/null 2> "$work/err" && fail "a text file was taken for a model"
grep -q "$test_en" "$work/err" || fail "the refusal does not name the file"
head -c 20000 "$model" > "$work/half"
"$REGARD" translate -m "$work/half" < "$test_en" > /dev/null 2>&1 && fail "half a model was accepted"

# Outputs that fail are failures.
"$REGARD" translate -m "$model" --quiet < "$test_en" > /dev/full 2> /dev/null && fail "a full disk went unnoticed"
"$REGARD" translate -m "$model" --quiet -o /dev/full < "$test_en" 2> /dev/null && fail "a full disk behind -o went unnoticed"
"$REGARD" translate -m "$model" --quiet < "$test_en" >&- 2> /dev/null && fail "a closed output went unnoticed"
[ $failures = 0 ]

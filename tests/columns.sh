#!/bin/bash
# Columns of `regard reproduce` about pictures, on a few updates: they are there, they are numbers, and claims are judged by them.
# timeout 300
# release only: trainings; their parts are tested in every build (test_lab_judges)
set -u
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
column() { awk -v row="$1" -v name="$2" -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } $1 == row { print c ? $c : ""; exit }' runs/comparison.tsv; }
table() { # table EXPERIMENT ROWS
    rm -rf runs
    "$REGARD" reproduce "$1" --data data --out runs --quick --only "$2" --cpu-threads 1 --options="--disp-freq 5" > table 2> log
    [ $? -le 1 ] || fail "reproduce $1: $(tail -2 log)"
}
between() { awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(x != "" && x >= a && x <= b) }'; }

# MNIST's files in small: digits that are drawn
mkdir -p data/mnist
"$REGARD" make t60 --size 28 -n 130 --valid 0 --test 60 -o digits > /dev/null || fail "make t60"
for part in train:train test:t10k; do
    for kind in images-idx3 labels-idx1; do gzip -c "digits/${part%:*}-$kind-ubyte" > "data/mnist/${part#*:}-$kind-ubyte.gz"; done
done

# updates until 95 %: nothing was learned in five updates, so that five are the bound that claims see, and no figure is printed
table digits grid-soft
grep -qE '^row .* upd\. to 95 % ' table || fail "digits: $(head -3 table)"
[ -z "$(column grid-soft updates-95)" ] && [ "$(column grid-soft updates-95-least)" = 5 ] || fail "updates to 95 %: $(cat runs/comparison.tsv)"
[ "$(od -An -tu1 -j7 -N1 runs/held-labels | tr -d ' ')" = 3 ] || fail "of 130 digits 3 are held back"
# as the log of a longer training would say it: judged again from there
sed -i 's/"accuracy": *[0-9.]*/"accuracy": 0.96/' runs/grid-soft.s1.quick/model.safetensors.jsonl && rm runs/grid-soft.s1.quick/result.json
"$REGARD" reproduce digits --data data --out runs --quick --judge --only grid-soft --cpu-threads 1 --options="--disp-freq 5" > table 2> log
[ "$(column grid-soft updates-95)" = 5 ] || fail "95 % in the log: $(cat runs/comparison.tsv)"

table ram ram-28
between "$(column ram-28 policy-variance)" 1e-9 1e9 && between "$(column ram-28 policy-variance-plain)" 1e-9 1e9 && between "$(column ram-28 variance-ratio)" 1e-6 1e6 ||
    fail "variance of ram: $(cat runs/comparison.tsv)"
table captcha digits-mean
grep -qE '^row .* ordered % ' table && [ "$(column digits-mean ordered)" = 0 ] || fail "captcha: equal weights have an order: $(cat table)"
table captions scenes-soft
grep -qE '^row .* nouns % ' table && between "$(column scenes-soft pointing)" 0 1 || fail "captions: $(cat table)"
table recipes concat
between "$(column concat grammar-perplexity)" 1.02 1.4 && between "$(column concat over-grammar)" 1.1 1e6 || fail "recipes: $(cat runs/comparison.tsv)"
awk -v p="$(column concat test-perplexity)" -v g="$(column concat grammar-perplexity)" -v r="$(column concat over-grammar)" 'BEGIN { d = p / g - r; exit !(d < 1e-6 && d > -1e-6) }' ||
    fail "the ratio is none"
[ $failures = 0 ] || exit 1
echo "columns work"

# regard report of several runs: one set of curves per quantity with a line per run, a table of bests, one picture, one page.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1
mkdir runs
for run in a b; do
    for step in 10 20 30; do
        bleu=$step; [ $run = a ] || bleu=$((50 - step))
        echo "{\"step\":$step,\"epoch\":1,\"loss\":$((60 - step)).5,\"lr\":0.001}"
        echo "{\"step\":$step,\"epoch\":1,\"valid\":{\"bleu\":$bleu,\"perplexity\":$((100 - step))}}"
    done > runs/$run.jsonl
done
"$REGARD" report runs/a.jsonl runs/b.jsonl > out 2> log || { cat log; fail "two runs"; }
awk '/^Validation: bleu, most/ { on = 2; next } on { print; on-- }' out > bleu
grep -q '^  a.jsonl *30.0000  at step 30 of 30$' bleu && grep -q '^  b.jsonl *40.0000  at step 10 of 30$' bleu || { cat out; fail "the best of each"; }
awk '/^Perplexity, least/ { on = 2; next } on { print; on-- }' out | grep -q '^  a.jsonl *70.0000  at step 30' || fail "the least perplexity"
[ "$(grep -c '━━ a.jsonl   ━━ b.jsonl' out)" = 4 ] || { cat out; fail "both in every drawing"; }
"$REGARD" report runs/a.jsonl runs/b.jsonl --only BLEU | grep -q Perplexity && fail "--only in the table"
[ "$("$REGARD" report runs/a.jsonl runs/b.jsonl --only BLEU | grep -c '━━ a.jsonl')" = 1 ] || fail "--only"
"$REGARD" report runs/a.jsonl runs/b.jsonl --json r.json --html r.html || fail "files"
grep -q '"Validation: bleu"' r.json && grep -q 'Validation: bleu' r.html && grep -q 'b.jsonl' r.html || fail "what is in them"
"$REGARD" report runs/a.jsonl runs/b.jsonl --only bleu --png r.png 2> log && [ -s r.png ] || grep -q 'cannot be opened' log || { cat log; fail "--png"; }
# sheets of samples that validations left beside a model
for step in 10 30; do echo "{\"step\":$step,\"valid\":{\"parzen\":$step}}"; done > gan.jsonl
mkdir gan.samples
if [ -s r.png ]; then
    cp r.png gan.samples/000010.png
    cp r.png gan.samples/000030.png
    "$REGARD" report gan.jsonl --only samples --png sheets.png || fail "sheets of samples"
    [ -s sheets.png ] && ! cmp -s sheets.png r.png || fail "what the sheets are drawn to"
fi
refuse() { word=$1; shift; "$REGARD" report "$@" > out 2> log && fail "accepted: $*"; grep -q -- "$word" log || { cat log; fail "$word: $*"; }; }
refuse 'twice' runs/a.jsonl runs/a.jsonl
refuse 'RUN'
refuse 'nothing' runs/a.jsonl --only nothing
refuse 'runs/b.jsonl' runs/a.jsonl runs/b.jsonl --html runs/b.jsonl
[ "$failures" = 0 ]

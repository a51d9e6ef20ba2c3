# The grid of recurrent translators on one's own files, and the rows of headlines: few updates per row, resumed, reported, refused.
# timeout 900
# release only: its trainings are those of other tests
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1

awk 'BEGIN { srand(3); split("ba de fi go ku la me ni", w, " ")
    for (i = 0; i < 120; i++) { n = 3 + int(rand() * 4); a = b = ""; for (k = 0; k < n; k++) { x = w[1 + int(rand() * 8)]; a = a (k ? " " : "") x; b = x (k ? " " : "") b }
        print a > "a.src"; print b > "a.tgt"; printf "%d\t%s\t%s\n", i, a, b > "news.tsv" } }'
small="--dim-vocabs 0 --vocab-kind words --dim-emb 8 --dim-rnn 8"

"$REGARD" reproduce grid -t a.src a.tgt --axes cell,beam --seeds 2 --quick --cpu-threads 1 --options="$small" -o runs > out 2> err || { cat out err; fail "grid on own files"; }
for row in base cell-gru cell-rnn; do
    grep -qE "^$row .*[0-9]" out || { cat out err; fail "no row $row"; }
    [ -s "runs/$row.s2.quick/result.json" ] || fail "no second run of $row"
done
grep -q '95 % interval' out || fail "no intervals"
[ "$(wc -l < runs/held-out.source)" = 6 ] || fail "every 20th line is held out"
[ "$(wc -l < runs/train.source)" = 114 ] || fail "the others are learned from"
"$REGARD" show runs/bleu.json > drawn && grep -qE 'cell-gru .*[0-9] to [0-9]|cell-gru .* 0' drawn || { cat drawn; fail "no means with intervals"; }
grep -q '"low":' runs/bleu.json && [ -s runs/bleu.png ] && [ -s runs/bleu.svg ] || fail "no figure of the means"
grep -q beam_25 runs/base.s1.quick/result.json || fail "no beams of the base"
grep -q beam_25 runs/cell-gru.s1.quick/result.json && fail "beams of other rows"
"$REGARD" reproduce grid -t a.src a.tgt --axes cell,beam --seeds 2 --quick --cpu-threads 1 --options="$small" -o runs > again 2> err || { cat again err; fail "finished runs"; }
grep -q "Up\." err && fail "a finished run was trained again"

refuse() { # refuse PATTERN WORDS...
    pattern=$1
    shift
    "$REGARD" reproduce "$@" > out 2>&1 && fail "regard reproduce $*: accepted"
    grep -qE -- "$pattern" out || { fail "regard reproduce $*: no /$pattern/ in"; cat out; }
}
refuse 'there are cell, depth' grid -t a.src a.tgt --axes colour --quick
refuse 'Multi30k, or your own files' grid --axes cell --quick -o none
refuse 'two files' grid -t a.src --axes cell --quick -o none2

mkdir news
for set in train valid test; do gzip -c news.tsv > news/$set.tsv.gz; done
"$REGARD" reproduce headlines --data news --only attention,copy --seeds 1 --quick --cpu-threads 1 --options="--dim-vocabs 0 --dim-emb 8 --dim-rnn 8" -o heads > out 2> err || { cat out err; fail "headlines"; }
grep -qE '^copy .*[0-9]' out || { cat out err; fail "no row copy"; }
grep -q lead10 heads/copy.s1.quick/result.json || fail "no lead of ten words"
# Rows without --quick are options that `regard train` takes, too: they are read before anything is learned.
"$REGARD" reproduce headlines --data news --only attention,abs --seeds 1 --cpu-threads 1 -o whole --options="--dim-vocabs 0 --dim-emb 8 --after-batches 2 --valid-freq 2 --lr-warmup 1 --max-length 20" > out 2> err
[ $? -le 1 ] && grep -qE '^abs .*[0-9]' out && grep -qE '^abs-plus .*[0-9]' out && grep -q 'tuned on' err || { cat out err; fail "whole rows of headlines"; }

# Sentences by length: 5 words or more, no longer than the set says; a table by length and a drawing.
"$REGARD" reproduce length --only attention-15 --seeds 1 --quick --cpu-threads 1 --options="--dim-emb 8 --dim-rnn 8" -o length > out 2> err || { cat out err; fail "length"; }
grep -qE '^attention-15 +[0-9.]+ +- ' out && grep -q '^BLEU, words *10 *15' out && [ -s length/bleu-by-length.png ] || { cat out err; fail "no table by length"; }
awk 'NF < 5 || NF > 15 { exit 1 }' length/data.quick/train-15.en || fail "sentences to learn from are of 5 to 15 words"
awk 'NF < 56 || NF > 60 { exit 1 }' length/data.quick/test-60.en || fail "sentences of 56 to 60 words"
[ "$(sort -u length/data.quick/test-60.en | wc -l)" = 10 ] || fail "ten sentences of 60 words"
[ $failures = 0 ]

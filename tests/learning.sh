# release only
# Luong's model learns as it is shipped: one layer on the demo's grammar, 500 updates, perplexity of unseen sentences;
# and reads backwards (--reverse) without showing it: the same alignments everywhere, and words copied by them. One seed
# here, three with CAMPAIGN=1, which also asks tied embeddings, and local-p for 85 BLEU after 2,000 updates.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1

"$TRAINER" demo translate -o demo --sentences 40000 --tests 1000 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }

# learn SEED UPDATES [option...]: "metric value" of the last validation
learn() {
    seed=$1 updates=$2
    shift 2
    "$REGARD" train --type luong -t demo/train.en demo/train.fr --valid-sets demo/test.en demo/test.fr --vocab-kind words --dim-vocabs 0 \
        --dim-emb 96 --dim-rnn 96 --mini-batch-words 700 --learn-rate 0.003 --lr-warmup 150 --lr-decay-inv-sqrt 0 --label-smoothing 0.05 \
        --after-batches "$updates" --valid-freq "$updates" --valid-metrics perplexity --early-stopping 0 --keep-best false --save-freq 0 \
        --valid-samples 0 --cpu-threads 1 --seed "$seed" --overwrite -m model.st "$@" > log 2>&1 || { cat log; exit 1; }
    sed -n 's/.*\[valid\].* : \([a-z]*\) : \([0-9.]*\).*/\1 \2/p' log | tail -1
}

# expect WHAT MEASURED LIMIT: "perplexity 1.7" at most, "bleu 90" at least
expect() {
    echo "$1: $2 (asked: $3)"
    echo "$2 $3" | awk '{ exit !(NF == 3 && ($1 == "bleu" ? $2 >= $3 : $2 <= $3)) }' || fail "$1: $2, asked was $3"
}

# A source that is read backwards shows the same alignments: heads, links, JSON, records.
look() {
    "$REGARD" heads -m $1.st -d demo/test.en demo/test.fr --dry-run > $1.heads 2> err || fail "heads of $1: $(cat err)"
    "$REGARD" translate -m $1.st --alignment hard --quiet < demo/test.en > $1.links || fail "alignment of $1"
    "$REGARD" translate -m $1.st --json --quiet < demo/test.en > $1.json || fail "JSON of $1"
    "$REGARD" show -m $1.st --json $1.record.json "the red house is big" 2> err || fail "record of $1: $(cat err)"
}

# An unknown word becomes the very word that its link names: three of them are forced upon every answer.
copies() {
    "$REGARD" translate -m $1.st --prefix "qqq qqq qqq" --replace-unk --alignment hard --quiet < demo/test.en \
        > $1.copies || fail "copies of $1"
    paste -d '|' demo/test.en $1.copies | awk -F '[|]+' '
        { n = split($1, word, " "); split($2, answer, " "); split($3, link, " ") }
        {
            for (k = 1; k <= 3; k++) {
                split(link[k], at, "-")
                copied++
                wrong += at[1] >= n || answer[k] != word[at[1] + 1]
            }
        }
        END {
            print copied + 0 " words copied, " wrong + 0 " not those of their links"
            exit copied < 1000 || wrong
        }' || fail "--replace-unk of $1"
}

seeds=1
[ -z "${CAMPAIGN:-}" ] || seeds="1 2 3"
for seed in $seeds; do
    expect "luong, seed $seed" "$(learn $seed 500)" 2.5
    [ $seed != 1 ] || mv model.st ahead.st
    [ -n "${CAMPAIGN:-}" ] || continue
    expect "luong with tied embeddings, seed $seed" "$(learn $seed 500 --tied-embeddings)" 2.5
    expect "luong local-p, seed $seed" "$(learn $seed 2000 --attention-kind local-p --valid-metrics bleu)" 85
done
expect "luong --reverse" "$(learn 1 500 --reverse)" 2.5
mv model.st back.st
look ahead
look back
copies ahead
copies back
python3 "$SOURCE_DIR/tests/alignments.py" ahead back || fail "a reversed source shows other alignments"

# A new model of local-m counts places in the source: with window 1, word k of an answer looks at words k - 1 to k + 1.
learn 1 10 --reverse --attention-kind local-m --window 1 > /dev/null
head -100 demo/test.en | "$REGARD" translate -m model.st --json --quiet > local.json || fail "JSON of local-m"
python3 - local.json << 'END' || fail "local-m --reverse looks outside its window"
import json, sys
rows = [(k, row) for line in open(sys.argv[1]) for k, row in enumerate(json.loads(line)["answers"][0]["attention"])]
outside = sum(any(w > 0 and abs(j - min(k, len(row) - 1)) > 1 for j, w in enumerate(row)) for k, row in rows)
print(f"local-m --reverse: {len(rows)} rows, {outside} with weight outside their window")
sys.exit(0 if rows and not outside else 1)
END
[ $failures = 0 ]

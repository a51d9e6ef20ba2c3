# Marian's command lines paste over: the 41 flags of its Transformer example and a usual call of its decoder. Every
# flag is honoured (seen in --dump-config) or explained in one remark; what is unknown is reported all at once.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1

"$TRAINER" demo translate -o demo --sentences 300 --tests 20 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
mkdir model data
cp demo/train.en data/corpus.en; cp demo/train.fr data/corpus.de
head -20 demo/test.en > data/valid.en; head -20 demo/test.fr > data/valid.de
{ printf '</s>: 0\n<unk>: 1\n'; cat data/corpus.en data/corpus.de | tr ' ' '\n' | sort -u | grep . | awk '{ printf "\"%s\": %d\n", $0, NR + 1 }'; } > model/vocab.yml
cat > validate.sh <<'SCRIPT'
test -s "$2" || exit 3
echo "$1" > given
cat "$2" >> given
echo 12.5
SCRIPT

# flag | its words | the line of --dump-config that honours it, or "remark"
cat > flags <<'FLAGS'
--model|model/model.npz|model: "model/model.npz"
--type|transformer|type: "transformer"
--train-sets|data/corpus.en data/corpus.de|train-sets: ["data/corpus.en", "data/corpus.de"]
--max-length|50|max-length: 50
--vocabs|model/vocab.yml model/vocab.yml|vocabs: ["model/vocab.yml", "model/vocab.yml"]
--mini-batch-fit||mini-batch-words: 0
-w|100|workspace: 100
--maxi-batch|1000|maxi-batch: 1000
--early-stopping|5|early-stopping: 5
--cost-type|ce-mean-words|honoured
--valid-freq|2u|valid-freq: 2
--save-freq|2|save-freq: 2
--disp-freq|1|disp-freq: 1
--valid-metrics|ce-mean-words perplexity translation|valid-metrics: ["ce-mean-words", "perplexity", "translation"]
--valid-sets|data/valid.en data/valid.de|valid-sets: ["data/valid.en", "data/valid.de"]
--valid-script-path|sh ./validate.sh extra|valid-script-path: "sh ./validate.sh extra"
--valid-translation-output|data/out.{U}|valid-translation-output: "data/out.{U}"
--quiet-translation||valid-samples: 0
--valid-mini-batch|64|remark
--beam-size|2|beam-size: 2
--normalize|0.6|normalize: 0.6
--log|model/train.log|log: "model/train.log"
--valid-log|model/valid.log|valid-log: "model/valid.log"
--enc-depth|1|enc-depth: 1
--dec-depth|1|dec-depth: 1
--transformer-heads|2|transformer-heads: 2
--transformer-postprocess-emb|d|transformer-norm-embedding: false
--transformer-postprocess|dan|transformer-norm: "post"
--transformer-dropout|0.15|transformer-dropout: 0.15
--label-smoothing|0.05|label-smoothing: 0.05
--learn-rate|0.0003|learn-rate: 0.0003
--lr-warmup|16K|lr-warmup: 16000
--lr-decay-inv-sqrt|16000|lr-decay-inv-sqrt: 16000
--lr-report||remark
--optimizer-params|0.9 0.98 1e-09|optimizer-epsilon: 1e-09
--clip-norm|5|clip-norm: 5
--tied-embeddings-all||tied-embeddings-all: true
--devices|0 1|remark
--sync-sgd||remark
--seed|1111|seed: 1111
--exponential-smoothing||exponential-smoothing: 0.0001
FLAGS
set --
while IFS='|' read -r flag words _; do
    set -- "$@" "$flag"
    case $flag in --valid-script-path) set -- "$@" "$words" ;; *) set -- "$@" $words ;; esac
done < flags
set -- "$@" --after-batches 4 --dim-emb 16 --transformer-dim-ffn 16 --cpu-threads 1

"$REGARD" train "$@" --dump-config > dump 2> log || { cat log; exit 1; }
"$REGARD" train "$@" > out 2> log || { cat log; exit 1; }
known=0 total=0
while IFS='|' read -r flag _ line; do
    total=$((total + 1))
    case $line in
    remark) grep -q "^  $flag " log && known=$((known + 1)) || fail "$flag is in no remark" ;;
    honoured) known=$((known + 1)) ;;
    *) grep -qxF -- "$line" dump && known=$((known + 1)) || fail "$flag: no line $line" ;;
    esac
done < flags
[ "$(grep -c 'known to Marian, not needed here' log)" = 1 ] || fail "one remark"
[ "$total" = 41 ] || fail "$total flags"
grep -qx 'beta1: 0.9' dump && grep -qx 'beta2: 0.98' dump || fail "--optimizer-params"

# what was honoured happened
[ "$(head -1 given)" = extra ] && [ "$(sed 1d given | wc -l)" = 20 ] || fail "the script got its argument and the file"
[ "$(wc -l < data/out.2)" = 20 ] && [ -s data/out.4 ] || fail "translations of both validations"
grep -q '^\[....-..-.. ..:..:..\] \[valid\] Ep. 2 : Up. 2 : translation : 12.5000 : new best$' model/valid.log || fail "--valid-log"
[ "$(grep translation model/valid.log | sort -rg -k12,12 -t' ' | cut -f8 -d' ' | head -n1)" = 4 ] || fail "fields of the log"
grep -q 'Ep. 1 : Up. 1 : Cost' model/train.log || fail "--log"
awk -F' : ' '/ce-mean-words/ { c = $4 } /perplexity/ { p = $4 } END { d = exp(c) / p; exit !(d > 0.999 && d < 1.001) }' model/valid.log ||
    fail "perplexity is exp of ce-mean-words"
[ "$failures" = 0 ] && echo "$known of $total honoured or explained"

# the decoder
"$REGARD" translate -m model/model.npz -d 0 -b 4 -n -w 6000 --mini-batch 16 --maxi-batch 10 --maxi-batch-sort src \
    --quiet-translation --cpu-threads 1 < data/valid.en > plain 2> log || { cat log; fail decoder; }
[ "$(wc -l < plain)" = 20 ] || fail "lines of the decoder"
"$REGARD" translate -m model/model.npz -b 3 --n-best --cpu-threads 1 -i data/valid.en > best 2> log || fail "n-best"
[ "$(grep -c '^0 ||| ' best)" = 3 ] || fail "--n-best alone: as many as the beam"
"$REGARD" translate -m model/model.npz --alignment --cpu-threads 1 -i data/valid.en > links 2> log || fail alignment
"$REGARD" translate -m model/model.npz --alignment hard --cpu-threads 1 -i data/valid.en > hard 2> log
cmp -s links hard || fail "--alignment alone is hard"
"$REGARD" translate -m model/model.npz --output-sampling topk 3 0.5 --cpu-threads 1 -i data/valid.en > a 2> log || fail sampling
"$REGARD" translate -m model/model.npz --sampling --top 3 --temperature 0.5 --cpu-threads 1 -i data/valid.en > b 2> log
cmp -s a b || fail "--output-sampling"

# units
dump() { "$REGARD" train --type transformer "$@" --dump-config 2> log || cat log; }
dump --after 10e,5Ku | grep -qx 'after-epochs: 10' || fail "--after 10e"
dump --after 10e,5Ku | grep -qx 'after-batches: 5000' || fail "--after 5Ku"
dump -a 1Gt | grep -qx 'after-labels: 1000000000' || fail "-a 1Gt"
dump --valid-freq 2e | grep -qx 'valid-epochs: 2' || fail "--valid-freq 2e"
dump --valid-freq 1Mt | grep -qx 'valid-freq: 0' || fail "--valid-freq 1Mt"
dump --transformer-preprocess n --transformer-postprocess da | grep -qx 'transformer-norm: "pre"' || fail "pre-norm"
dump --task transformer-big | grep -qx 'dim-emb: 1024' || fail "--task"
printf 'mini-batch-fit: true\nvalid-freq: 500u\noptimizer-params: [0.9, 0.999, 1e-8]\ndevices: [0]\n' > c.yml
dump -c c.yml | grep -qx 'workspace: 2048' || fail "a configuration of Marian"

# refused: all of them in one message
refuse() {
    words=$1; shift
    "$REGARD" train --type transformer "$@" > out 2> log && fail "accepted: $*"
    for word in $words; do grep -q -- "$word" log || { cat log; fail "$word is not named: $*"; }; done
}
refuse '--no-such --neither dim-emb' --no-such 3 --neither --dim-embb 4
refuse '--right-left --dropout-src' --right-left --dropout-src 0.1 --devices 0
refuse 'rnnsearch' --type s2s
refuse 'updates' --lr-warmup 1Gt
refuse '--valid-script-path' --train-sets data/corpus.en data/corpus.de --valid-sets data/valid.en data/valid.de --valid-metrics translation --cpu-threads 1 -m x.safetensors --vocab-kind words
printf 'one: 1\ntwo: 2\n' > bad.yml
refuse '--one line --two' -c bad.yml
echo 'exit 7' > broken.sh
refuse 'status 7' --train-sets data/corpus.en data/corpus.de --valid-sets data/valid.en data/valid.de --valid-metrics valid-script \
    --valid-script-path 'sh broken.sh' --vocab-kind words --valid-freq 1 --after-batches 1 --dim-emb 16 --transformer-heads 2 --cpu-threads 1 -m y.safetensors

# by target tokens: a run of 600 of them validates and saves on its way and ends there; a vocabulary with symbols of the user's
"$REGARD" train --train-sets data/corpus.en data/corpus.de --valid-sets data/valid.en data/valid.de --dim-emb 16 --transformer-dim-ffn 16 \
    --transformer-heads 2 --enc-depth 1 --dec-depth 1 --mini-batch-words 100 --after 600t --valid-freq 250t --disp-freq 200t --cpu-threads 1 \
    --dim-vocabs 60 --user-symbols '<name>' '<place>' --sentencepiece-options '--character_coverage=1.0 --split_digits=true' \
    --valid-metrics cross-entropy ce-sum bleu-segmented bleu-detok -m z.safetensors > out 2> log || { cat log; fail "by tokens"; }
[ "$(grep -c 'cross-entropy' log)" -ge 2 ] || { cat log; fail "validations by tokens"; }
grep -q 'all target tokens are done' log || fail "the end by tokens"
echo 'a <name> b <place>' | "$REGARD" translate -m z.safetensors --json --cpu-threads 1 2> log | grep -q '"<name>"' || fail "--user-symbols"
"$REGARD" train --train-sets data/corpus.en data/corpus.de --sentencepiece-options '--vocab_size=3' --after-batches 1 -m q.safetensors > out 2> log && fail "vocab_size taken"
grep -q 'vocab_size' log || fail "vocab_size is not named"

[ "$failures" = 0 ]

# Training from outside: killed and resumed runs end with the same bytes; SIGTERM saves; nonsense is refused by name; nothing that is not
# finite reaches a file; the workspace is honoured.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1

updates=600
[ "$BUILD_TYPE" = Release ] || updates=120 # sanitizers are slow
"$TRAINER" demo translate -o demo --sentences 400 --tests 20 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
cat > small.yml << YAML
type: transformer
train-sets: [demo/train.en, demo/train.fr]
vocab-kind: words
dim-vocabs: [0]
dim-emb: 16
transformer-dim-ffn: 24
transformer-heads: 2
enc-depth: 1
dec-depth: 1
mini-batch-words: 100
after-batches: $updates
save-freq: 7
disp-freq: 50
cpu-threads: 1
YAML
train() { "$REGARD" train -c small.yml "$@"; }

train -m whole.st > log 2>&1 || { cat log; fail "an undisturbed run"; }

# kill -9 at random moments, resume, compare (P4, P5)
seed=${SEED:-$$}
echo "seed $seed"
killed=0
for n in 1 2 3 4 5 6 7 8 9 10; do
    "$REGARD" train -c small.yml -m killed.st > log 2>&1 &
    child=$!
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    sleep "0.$(printf %02d $((2 + seed / 65536 % 12)))"
    kill -9 $child 2> /dev/null
    wait $child 2> /dev/null
    [ $? = 137 ] && killed=$((killed + 1))
done
[ $killed -ge 3 ] || fail "only $killed of 10 runs were killed before their end"
train -m killed.st > log 2>&1 || { cat log; fail "resuming after kill -9"; }
cmp -s whole.st killed.st || fail "a killed and resumed run ended with other weights"

# SIGTERM saves and stops; the same command goes on
"$REGARD" train -c small.yml -m asked.st --disp-freq 1 > log 2>&1 &
child=$!
for _ in $(seq 200); do grep -q 'Up. 3 ' log && break; sleep 0.02; done
kill -TERM $child
wait $child
code=$?
[ -f asked.st.checkpoint ] || fail "SIGTERM left no checkpoint (exit $code)"
[ $code = 0 ] || fail "SIGTERM: exit $code"
train -m asked.st > log 2>&1 || fail "going on after SIGTERM"
cmp -s whole.st asked.st || fail "a stopped and resumed run ended with other weights"

# one tab-separated file is as good as two
paste demo/train.en demo/train.fr > train.en-fr.tsv
paste demo/test.en demo/test.fr > test.tsv
for joint in true false; do
    train -m two.st --overwrite --joint-vocab $joint --valid-sets demo/test.en demo/test.fr --valid-freq $((updates / 2)) > log 2>&1 || { cat log; fail "two files"; }
    train -m one.st --overwrite --joint-vocab $joint --tsv --train-sets train.en-fr.tsv --valid-sets test.tsv --valid-freq $((updates / 2)) > log.tsv 2>&1 ||
        { cat log.tsv; fail "--tsv"; }
    cmp -s two.st one.st || fail "--tsv ended with other weights (--joint-vocab $joint)"
    [ "$(grep -c valid log)" = 6 ] && [ "$(grep valid log)" = "$(grep valid log.tsv)" ] || fail "--tsv is validated otherwise: $(grep valid log log.tsv)"
done

# in lower case capitals make no difference: not to the weights, not to validation, not to answers
mkdir capitals
for file in train.en train.fr test.en test.fr; do tr a-z A-Z < demo/$file > capitals/$file; done
for folder in demo capitals; do
    train -m lower.st --overwrite --train-sets $folder/train.en $folder/train.fr --valid-sets $folder/test.en $folder/test.fr --valid-metrics bleu chrf \
        --valid-freq $((updates / 2)) --normalization lower > $folder.log 2>&1 || { cat $folder.log; fail "--normalization lower"; }
    grep -o 'Up. .*\(bleu\|chrf\) : [0-9.]*' $folder.log > $folder.valid
    "$REGARD" translate -m lower.st < $folder/test.en > $folder.out || fail "translating in lower case"
done
cmp -s demo.out capitals.out || fail "capitals changed an answer in lower case"
grep -q '[A-Z]' capitals.out && fail "answers in lower case have capitals"
[ -s demo.valid ] && cmp -s demo.valid capitals.valid || fail "capitals changed validation in lower case: $(cat demo.valid capitals.valid)"

# lines cut into other tokens each epoch: stopped in the middle of one, it goes on alike; what cannot be cut anew is refused
anew() { train --vocab-kind bpe --dim-vocabs 200 --sentencepiece-alphas 0.2 "$@"; }
anew -m anew.st --after-batches 40 > log 2>&1 || { cat log; fail "--sentencepiece-alphas"; }
anew -m parts.st --after-batches 23 > log 2>&1 && anew -m parts.st --after-batches 40 > log 2>&1 || fail "going on with --sentencepiece-alphas"
cmp -s anew.st parts.st || fail "tokens cut anew differ after resuming"
train -m x.st --sentencepiece-alphas 0.2 > log 2>&1 && fail "words were cut anew"
grep -q 'unigram or bpe, not words' log || fail "words cut anew: $(tail -1 log)"
anew -m x.st --sentencepiece-alphas 2 > log 2>&1 && fail "an alpha of 2 was accepted"

# positions that were learned: what is longer is refused in training and cut, with a word, in translation
places() { train -m places.st --overwrite --transformer-positions learned --transformer-max-positions 12 --after-batches 20 "$@"; }
places > log 2>&1 && fail "sentences longer than the learned positions"
grep -q '100 tokens (--max-length) and their end do not fit the 12 positions' log || fail "too few positions: $(tail -1 log)"
places --max-length 11 --valid-sets demo/test.en demo/test.fr --valid-freq 20 > log 2>&1 || { cat log; fail "learned positions"; }
{ head -1 demo/test.en; yes the | head -40 | tr '\n' ' '; echo; head -1 demo/test.en; } > long.en
"$REGARD" translate -m places.st < long.en > long.out 2> err || fail "a line longer than the learned positions: $(cat err)"
[ "$(wc -l < long.out)" = 3 ] && [ "$(sed -n 1p long.out)" = "$(sed -n 3p long.out)" ] || fail "lines beside one that is too long: $(cat long.out)"
grep -q 'line 2: the last 29 of 40 tokens were not read; the model has learned positions for 11' err || fail "it is not said what was cut: $(cat err)"
[ "$(awk '{ if (NF > n) n = NF } END { print n }' long.out)" -le 12 ] || fail "an answer longer than the learned positions"

# numbers out of range and metrics nobody knows are refused at once
train -m x.st --label-smoothing 1.5 > log 2>&1 && fail "a label smoothing of 1.5"
grep -q -- '--label-smoothing is 1.5; it should be at least 0 and below 1' log || fail "label smoothing: $(tail -2 log)"
train -m x.st --valid-sets demo/test.en demo/test.fr --valid-metrics bleu nonsense > log 2>&1 && fail "a metric nobody knows"
grep -q 'no metric is called "nonsense"' log && ! grep -q 'Up. ' log || fail "a metric nobody knows: $(tail -2 log)"

# an absurd learning rate: named, and never in a file (P9)
train -m absurd.st --learn-rate 1e30 --lr-warmup 0 --clip-norm 0 > log 2>&1 && fail "a learning rate of 1e30 went unnoticed"
grep -qE 'corpus lines [0-9]' log || { fail "a loss that is not finite does not name its lines:"; tail -2 log; }
for file in absurd.st absurd.st.checkpoint; do
    [ ! -f $file ] || "$REGARD" translate -m $file --quiet < demo/test.en > /dev/null 2> err || fail "$file cannot be loaded: $(cat err)"
done

# refusals
head -5 demo/train.fr > short.fr
train -m x.st --train-sets demo/train.en short.fr > log 2>&1 && fail "sides of different length were accepted"
grep -q short.fr log || fail "sides of different length: $(tail -1 log)"
train -m x.st --learning-rate 1 > log 2>&1 && fail "an unknown flag was accepted"
grep -q 'did you mean --learn-rate' log || fail "no suggestion: $(cat log)"
train -m x.st --train-sets demo/train.en > log 2>&1 && fail "one file was accepted"
train -m whole.st --train-sets demo/test.en demo/test.fr --after-batches $((updates + 10)) > log 2>&1 && fail "a checkpoint of another corpus was resumed"

# what --dump-config prints is a configuration
train --dump-config --enc-depth 2 > dumped.yml || fail "--dump-config"
"$REGARD" train -c dumped.yml --dump-config > again.yml || fail "the dumped configuration cannot be read"
cmp -s dumped.yml again.yml || fail "the dumped configuration is not the same again"

# pairs and tokens limit a batch together: 400 pairs are at least 40 batches of 10, and no limit at all is refused
for limits in "--mini-batch 10:40" "--mini-batch 10 --mini-batch-words 0:40" "--mini-batch 10 --maxi-batch 0:40" "--mini-batch 0 --mini-batch-words 100000:1"; do
    train -m limits.st --overwrite --mini-batch-words 100000 ${limits%:*} --after-batches 0 --after-epochs 1 --save-freq 0 > log 2>&1 || { cat log; fail "$limits"; }
    grep -q "Done after ${limits#*:} updates" log || fail "$limits: $(tail -1 log)"
done
train -m limits.st --overwrite --mini-batch 0 --mini-batch-words 0 > log 2>&1 && fail "batches without a limit"
grep -q "nothing limits a batch" log || fail "batches without a limit: $(cat log)"
rm -f limits.st*

# the workspace: batches are made to fit, what cannot fit is refused
train -m w.st --workspace 8 --mini-batch-words 0 --after-batches 3 > log 2>&1 || fail "--workspace 8: $(tail -1 log)"
grep -q 'fit a workspace of 8 MiB' log || fail "the batch size was not taken from the workspace"
train -m w2.st --workspace 1 --max-length 100000 --after-batches 1 > log 2>&1 && fail "a sentence of 100,000 tokens in 1 MiB"
grep -q 'raise it or lower --max-length' log || fail "--workspace 1: $(tail -1 log)"
[ $failures = 0 ]

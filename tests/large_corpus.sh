#!/bin/bash
# A corpus of shards in a training: the same bits with a cache, without one, and resumed in the middle of an epoch with a cache that is not there, in
# the making, whole or damaged; the vocabulary is learned once; SIGTERM while a vocabulary is learned or text is encoded acts at once.
# release only
set -u
python=$(command -v /usr/bin/python3 || command -v python3) || { echo "no python3"; exit 77; }
failed=0
fail() { echo "FAILED: $*"; failed=1; }
awk 'BEGIN { x = 7; for (i = 0; i < 16000; i++) { s = t = ""
    for (k = 0; k < 4 + i % 9; k++) { x = (x * 75 + 74) % 65537; w = "w" x % 300; s = s (k ? " " : "") w; t = w (k ? " " : "") t }
    print s > "a.src"; print t > "a.tgt" } }'
[ "$(cat a.src a.tgt | wc -c)" -gt 1048576 ] || fail "the corpus is not larger than 1 MiB"
options="--type transformer --dim-emb 16 --transformer-dim-ffn 24 --transformer-heads 2 --enc-depth 1 --dec-depth 1 -t a.src a.tgt --vocab-kind words
    --dim-vocabs 0 --mini-batch-words 3000 --corpus-memory 1 --cpu-threads 2 --valid-freq 0 --disp-freq 20"
hash_of() { "$python" "$SOURCE_DIR/tests/tensor_hash.py" "$1" | tr '\n' ' '; }
learn() { # learn MODEL UPDATES OPTION...
    local model=$1 updates=$2
    shift 2
    "$REGARD" train $options --after-batches "$updates" -m "$model" "$@" > log 2>&1 || { cat log; fail "training $model"; }
}

learn whole.st 100 --cache none
known=$(hash_of whole.st)
ls ./*.encoded ./*.vocab 2> /dev/null && fail "--cache none left a file"
grep -q "16000 pairs of lines, encoded when they are needed" log || fail "no shards: $(cat log)"

learn kept.st 100
[ "$(hash_of kept.st)" = "$known" ] || fail "a cache in the making changes bits"
[ "$(ls a.tgt.*.encoded | wc -l)" = 1 ] || fail "no cache beside the target"
[ "$(ls a.tgt.*.vocab | wc -l)" = 1 ] || fail "no vocabulary beside the target"
learn again.st 100
[ "$(hash_of again.st)" = "$known" ] || fail "a whole cache changes bits"
grep -q "learned before" log || fail "the vocabulary was learned twice: $(cat log)"
grep -q "16000 of 16000 pairs" log || fail "a whole cache has no counts: $(cat log)"

for state in absent whole damaged; do # resumed in the middle of the first epoch and of the second
    rm -f a.tgt.*.encoded part.st*
    [ $state = absent ] || learn other.st 100 --overwrite
    learn part.st 21
    [ $state != damaged ] || printf 'xxxxxxxx' | dd of="$(ls a.tgt.*.encoded)" bs=1 seek=5000 conv=notrunc 2> /dev/null
    learn part.st 70
    learn part.st 100
    [ "$(hash_of part.st)" = "$known" ] || fail "resumed with a cache that is $state: other bits"
done

mkdir elsewhere
learn dir.st 3 --cache elsewhere
learn dir.st 100 --cache elsewhere
[ "$(hash_of dir.st)" = "$known" ] || fail "--cache DIRECTORY: other bits"
ls elsewhere/a.tgt.*.encoded > /dev/null || fail "nothing in --cache DIRECTORY"

# Packed: the bits of the plain files.
gzip -1 < a.src > p.src.gz
gzip -1 < a.tgt > p.tgt.gz
packed=${options/-t a.src a.tgt/-t p.src.gz p.tgt.gz}
for model in packed.st packed-again.st; do
    "$REGARD" train $packed --after-batches 100 -m $model > log 2>&1 || { cat log; fail "packed files"; }
    [ "$(hash_of $model)" = "$known" ] || fail "packed files: other bits"
done
[ "$(ls p.???.gz.*.text | wc -l)" = 2 ] || fail "the text of packed files is not kept"
rm -f p.???.gz.*
"$REGARD" train $packed --cache none --after-batches 3 -m packed-whole.st > log 2>&1 || { cat log; fail "packed files without a cache"; }
grep -q "16000 of 16000 pairs" log || fail "packed files with --cache none are not read as a whole: $(cat log)"
ls p.???.gz.* 2> /dev/null && fail "--cache none unpacked something"

# Two at once.
rm -f a.tgt.*.encoded
(REGARD_LOG=1 "$REGARD" train $options --after-batches 100 -m x.st > x.log 2>&1) &
first=$!
"$REGARD" train $options --after-batches 100 -m y.st > y.log 2>&1 || fail "the second of two: $(tail -2 y.log)"
wait $first || fail "the first of two: $(tail -2 x.log)"
[ "$(hash_of x.st)" = "$known" ] && [ "$(hash_of y.st)" = "$known" ] || fail "two at once: other bits"

# SIGTERM while a vocabulary is learned from all of a larger text.
for i in 1 2 3 4 5 6; do cat a.src; done > b.src
for i in 1 2 3 4 5 6; do cat a.tgt; done > b.tgt
"$REGARD" train --type transformer -t b.src b.tgt --vocab-kind unigram --dim-vocabs 4000 --sentencepiece-max-mib 0 --corpus-memory 1 --cpu-threads 1 -m s.st > s.log 2>&1 &
pid=$!
sleep 1
kill -0 $pid 2> /dev/null || fail "the vocabulary was learned within a second: $(cat s.log)"
begun=$(date +%s%N)
kill -TERM $pid
wait $pid || fail "stopped while learning a vocabulary: exit code $?"
ms=$((($(date +%s%N) - begun) / 1000000))
[ $ms -lt 4000 ] || fail "SIGTERM took $ms ms"
echo "stopped in $ms ms"
exit $failed

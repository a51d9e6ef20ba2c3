#!/bin/bash
# Small trainings of every kind of system end with the same bits as when tests/data/bits/hashes was written: a change of the code that
# reads, cuts, learns or saves must not change a number. --write writes the file anew (after a change that is meant to change them).
# The hashes are of machines with fused multiply-add; every kernel table that has it gives the same.
# release only: it compares numbers; sanitizers see the same code in test_tasks.
set -u
python=$(command -v /usr/bin/python3 || command -v python3) || { echo "no python3"; exit 77; }
grep -qw avx2 /proc/cpuinfo 2> /dev/null || { echo "no AVX2 here"; exit 77; }
stored=$SOURCE_DIR/tests/data/bits/hashes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Sentences of a made-up language and their mirror image, the same on every machine.
awk 'BEGIN { srand(1); split("ba de fi go ku la me ni", w, " "); x = 7
    for (i = 0; i < 240; i++) { s = t = ""
        for (k = 0; k < 2 + i % 5; k++) { x = (x * 75 + 74) % 65537; word = w[1 + x % 8]; s = s (k ? " " : "") word; t = word (k ? " " : "") t }
        print s > "a.src"; print t > "a.tgt" } }'
head -n 20 a.src > v.src
head -n 20 a.tgt > v.tgt
mkdir graph
awk 'BEGIN { x = 3; for (i = 0; i < 24; i++) { print i "\t" (i + 1) % 24 > "graph/edges.tsv"; x = (x * 75 + 74) % 65537
    print i % 3, 3 + x % 5 > "graph/features.txt"; print i % 3 > "graph/labels.txt"
    print (i < 12 ? "train" : i < 18 ? "val" : "test") "\t" i > "graph/split.tsv" } }'
awk 'BEGIN { x = 5; for (i = 0; i < 90; i++) { s = ""
    for (k = 0; k < 2 + i % 4; k++) { x = (x * 75 + 74) % 65537; s = s " w" x % 20 }
    print "class" i % 3 "\t" s " m" i % 3 > (i < 70 ? "c.tsv" : "d.tsv") } }'

awk 'BEGIN { x = 9; print "sequence\ttext"; for (i = 0; i < 40; i++) { s = ""
    for (k = 0; k < 3 + i % 4; k++) { x = (x * 75 + 74) % 65537; s = s (k ? "; " : "") x % 8 " " x % 5 - 2 }
    print s "\t" i % 3 i % 2 > "s.tsv" } }' > head.tsv && cat s.tsv >> head.tsv

text="-t a.src a.tgt --valid-sets v.src v.tgt --vocab-kind words --dim-vocabs 0 --mini-batch-words 60 --lr-warmup 4 --after-batches 12 --valid-freq 6 --save-freq 6"
failed=0
case_of() { # case_of NAME OPTION...
    local name=$1
    shift
    rm -f m.st*
    "$REGARD" train "$@" -m m.st > log 2>&1 || { cat log; echo "FAILED: training $name"; failed=1; return; }
    echo "$name $("$python" "$SOURCE_DIR/tests/tensor_hash.py" m.st m.st.checkpoint | tr '\n' ' ')" | sed 's/ $//'
}
all() {
    case_of transformer --type transformer --dim-emb 16 --transformer-dim-ffn 24 --transformer-heads 2 --enc-depth 1 --dec-depth 2 --cpu-threads 2 $text
    case_of transformer-long --type transformer --dim-emb 16 --transformer-dim-ffn 24 --transformer-heads 2 --enc-depth 1 --dec-depth 1 --cpu-threads 1 $text \
        --optimizer adamw --weight-decay 0.01 --lr-cooldown 6 --optimizer-delay 2 --exponential-smoothing 0.01 --average 2 --workspace 64
    case_of seq2seq --type seq2seq --dim-emb 12 --dim-rnn 12 --cpu-threads 1 $text
    case_of rnnsearch --type rnnsearch --dim-emb 12 --dim-rnn 12 --cpu-threads 2 $text --optimizer adadelta --learn-rate 1
    case_of luong --type luong --dim-emb 12 --dim-rnn 12 --cpu-threads 1 $text
    for system in gat gcn mlp; do case_of $system --type $system --graph graph --width 4 --after-epochs 8 --cpu-threads 1; done
    case_of ntm --type ntm --bits 3 --max-length 3 --units 16 --memory-rows 12 --memory-width 5 --sequences 24 --valid-freq 12 --valid-length 5 --valid-count 2 --cpu-threads 1
    case_of ntm-batch --type ntm --task recall --min-length 2 --max-length 3 --bits 3 --units 16 --memory-rows 12 --memory-width 5 --sequences 24 --mini-batch 4 --valid-freq 0 --cpu-threads 2
    case_of lstm-copy --type lstm-copy --bits 3 --max-length 3 --units 12 --sequences 24 --valid-freq 0 --cpu-threads 1
    case_of listen --type listen --in sequence -t head.tsv --vocab-kind characters --dim-in 6 --width 5 --dim-emb 4 --dim-rnn 6 --mini-batch 8 --after-epochs 3 --cpu-threads 2
    case_of words --type words -t c.tsv --valid-sets d.tsv --width 6 --mini-batch 16 --after-epochs 3 --cpu-threads 2
}
if [ "${1:-}" = --write ]; then
    all > "$stored"
    exit $failed
fi
for table in avx2 wide avx512; do
    "$REGARD" version | grep -q "kernels.*\b$table\b" || continue
    REGARD_CPU=$table all > found
    diff -u "$stored" found > changed || { echo "FAILED: other bits than stored with REGARD_CPU=$table"; cat changed; failed=1; }
done
[ $failed = 0 ] && echo "$(wc -l < found) trainings give the stored bits"
exit $failed

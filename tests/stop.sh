#!/bin/bash
# SIGTERM in the middle of a validation that would take minutes: a training of any task stops at once with exit code 0, says that it can be resumed, and
# its checkpoint says that the validation is owed.
# release only
set -u
failed=0
fail() { echo "FAILED: $*"; failed=1; }
awk 'BEGIN { x = 7; for (i = 0; i < 60000; i++) { s = ""
    for (k = 0; k < 30; k++) { x = (x * 75 + 74) % 65537; s = s " w" x % 50 }
    print s > "a.src"; print s > "a.tgt"; print "c" i % 2 "\t" s > "a.tsv" } }'
head -200 a.src > t.src
head -200 a.tgt > t.tgt
head -200 a.tsv > t.tsv
for i in $(seq 150); do # graphs to validate on
    mkdir -p g/$i
    awk -v seed="$i" 'BEGIN { x = seed; d = "g/" seed "/"; for (i = 0; i < 3000; i++) { x = (x * 75 + 74) % 65537
        print i "\t" (i + 1) % 3000 > (d "edges.tsv"); print x % 50 > (d "features.txt"); print i % 3 > (d "labels.txt") } }'
done

stopped() { # stopped NAME OPTION...
    local name=$1 pid waited=0 begun
    shift
    "$REGARD" train "$@" --disp-freq 1 --cpu-threads 1 -m "$name.st" > "$name.log" 2>&1 &
    pid=$!
    until grep -q '"step":1,.*"loss"' "$name.st.jsonl" 2> /dev/null; do # the first update: behind it the validation begins
        kill -0 $pid 2> /dev/null || { cat "$name.log"; fail "$name ended by itself"; return; }
        sleep 0.05
        waited=$((waited + 1))
        [ $waited -lt 2400 ] || { fail "$name: no update in two minutes"; kill -9 $pid; return; }
    done
    sleep 0.3
    begun=$(date +%s%N)
    kill -TERM $pid
    wait $pid || fail "$name: exit code $?: $(tail -2 "$name.log")"
    local ms=$((($(date +%s%N) - begun) / 1000000))
    [ $ms -lt 8000 ] || fail "$name took $ms ms to stop"
    grep -q "stopped as asked; everything is saved" "$name.log" || fail "$name: $(tail -2 "$name.log")"
    grep -aq '"trainer.owed"' "$name.st.checkpoint" || fail "$name: the validation is not owed; it was not in the middle of one"
    echo "$name stopped in $ms ms"
}

stopped translation --type luong --dim-emb 32 --dim-rnn 32 -t t.src t.tgt --valid-sets a.src a.tgt --vocab-kind words --dim-vocabs 0 --valid-freq 1 \
    --valid-metrics bleu --beam-size 8 --after-batches 5
stopped memory --type ntm --valid-freq 1 --valid-count 100000 --sequences 5
stopped graph --type gat --heads 8 --width 64 --graph g/1 --valid-graph $(seq -f g/%g 2 150) --after-epochs 5
stopped classify --type words --width 1000 -t t.tsv --valid-sets a.tsv --mini-batch 200 --valid-epochs 1 --after-epochs 5
exit $failed

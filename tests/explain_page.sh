#!/bin/bash
# Pages of explanations in a real browser (explain_page.py): two models side by side; 2,500 by 2,500 tokens.
# release only
set -u
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || { echo "no chromium: skipped"; exit 77; }
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
"$REGARD" make grammar -n 300 -o data > log 2>&1 || { cat log; exit 1; }
for seed in 1 2; do
    "$REGARD" train -t data.en data.fr --type transformer --vocab-kind words --dim-vocabs 0 --dim-emb 16 --transformer-dim-ffn 16 \
        --transformer-heads 2 --enc-depth 1 --dec-depth 1 --seed $seed --after-batches 15 --cpu-threads 1 -m m$seed.st > log 2>&1 || { cat log; exit 1; }
done
"$REGARD" show -m m1.st -m m2.st "the old cat sleeps" --by occlusion --html beside.html || exit 1
"$REGARD" show -m m1.st "the old cat sleeps" --max-length 3 --by attention > seen 2> log || { cat log; exit 1; }
cat seen log | tr -s '\n ' ' ' | grep -q '1 tokens behind the first 3 were not read (--max-length)' || { cat seen log; echo "what is cut is not said"; exit 1; }
"$REGARD" predict -m m1.st "the old cat sleeps" --max-length 3 2> log > /dev/null && grep -q "^line 1: 1 tokens behind the first 3" log || { cat log; exit 1; }
"$REGARD" make scenes -n 40 --valid 2 --test 0 -o scenes > log 2>&1 && tar -xf scenes/valid.tar || { cat log; exit 1; }
for kind in soft hard; do
    "$REGARD" train --type caption --attention $kind -t scenes/train.tsv --layers "c3x8s2 p2 c3x8" --dim-emb 8 --dim-rnn 8 --mini-batch 8 \
        --after-batches 4 --cpu-threads 1 -m $kind.st > log 2>&1 || { cat log; exit 1; }
done
"$REGARD" show -m soft.st -m hard.st 000001.png --html pictures.html || exit 1
"$BUILD_DIR/tests/page_records" . 2500 && "$REGARD" show tokens.json --html long.html || exit 1
exec python3 "$SOURCE_DIR/tests/explain_page.py" "$REGARD"

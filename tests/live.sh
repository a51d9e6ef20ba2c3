#!/bin/bash
# The served page of two directions in a real browser (live.py). Skipped without a browser or python.
# release only
set -u
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || { echo "no chromium: skipped"; exit 77; }
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
[ -e "$BUILD_DIR/regard-serve.so" ] || { echo "no server module: skipped"; exit 77; }
"$REGARD" make grammar -n 400 -o data > log 2>&1 || { cat log; exit 1; }
mkdir models
for pair in "en fr" "fr en"; do
    # shellcheck disable=SC2086
    set -- $pair
    "$TRAINER" train -t "data.$1" "data.$2" --type transformer --dim-emb 32 --transformer-dim-ffn 32 --transformer-heads 2 --enc-depth 1 --dec-depth 1 \
        --source-lang "$1" --target-lang "$2" --after-batches 60 --learn-rate 0.005 --lr-warmup 10 --cpu-threads 1 -m "models/$1-$2.safetensors" > log 2>&1 || { cat log; exit 1; }
done
rm -f models/*.checkpoint models/*.jsonl
exec python3 "$SOURCE_DIR/tests/live.py" "$REGARD" models data.en

#!/bin/bash
# A server with several models (serve_models.py): five small ones that differ are trained first.
# release only
set -u
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
[ -e "$BUILD_DIR/regard-serve.so" ] || { echo "no server module: skipped"; exit 77; }
"$REGARD" make grammar -n 300 -o data > log 2>&1 || { cat log; exit 1; }
mkdir models
seed=0
# SOURCE TARGET FROM TO: what the model says it translates, and what it learns
while read -r source target from to; do
    "$TRAINER" train -t "data.$from" "data.$to" --type transformer --dim-emb 32 --transformer-dim-ffn 32 --transformer-heads 2 \
        --enc-depth 1 --dec-depth 1 --source-lang "$source" --target-lang "$target" --seed "$((++seed))" --after-batches 15 \
        --cpu-threads 1 -m "models/$source-$target.safetensors" > log 2>&1 || { cat log; exit 1; }
    rm -f models/*.checkpoint models/*.jsonl
done << EOF
en fr en fr
fr en fr en
de en en fr
en cs en fr
fr nl fr en
EOF
exec python3 "$SOURCE_DIR/tests/serve_models.py" "$REGARD" models data.en

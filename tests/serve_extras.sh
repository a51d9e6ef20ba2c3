#!/bin/bash
# What /translate tells of its certainty, the description of the server, suggestions (serve_extras.py).
# release only
set -u
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
[ -e "$BUILD_DIR/regard-serve.so" ] || { echo "no server module: skipped"; exit 77; }
"$TRAINER" demo translate -o demo --after-batches 30 --sentences 500 --tests 10 > log 2>&1 || { cat log; exit 1; }
exec python3 "$SOURCE_DIR/tests/serve_extras.py" "$REGARD" demo/model.safetensors demo/test.en

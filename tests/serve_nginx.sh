#!/bin/bash
# Servers behind a load balancer, with the configuration that docs/serve.md shows (serve_nginx.py). Skipped without nginx.
# release only
set -u
PATH=$PATH:/usr/sbin:/sbin
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
nginx=$(command -v nginx) || { echo "no nginx: skipped"; exit 77; }
[ -e "$BUILD_DIR/regard-serve.so" ] || { echo "no server module: skipped"; exit 77; }
"$TRAINER" demo translate -o demo --after-batches 30 --sentences 500 --tests 10 > log 2>&1 || { cat log; exit 1; }
exec python3 "$SOURCE_DIR/tests/serve_nginx.py" "$REGARD" demo/model.safetensors demo/test.en "$SOURCE_DIR/docs/serve.md" "$nginx"

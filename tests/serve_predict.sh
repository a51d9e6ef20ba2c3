#!/bin/bash
# The server with a model that does not translate: /v1/predict, /classify, what is refused, many at once, and a stop that loses nobody.
# release only
set -u
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
[ -e "$BUILD_DIR/regard-serve.so" ] || { echo "no server module: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$REGARD" demo sentiment -o "$work/class" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$REGARD" demo gat --quick -o "$work/graph" > "$work/log" 2>&1 || [ $? = 1 ] || { cat "$work/log"; exit 1; }
if "$REGARD" serve -m "$work/graph/model.safetensors" -p 0 > "$work/log" 2>&1; then echo "a graph model is served"; exit 1; fi
grep -q "reads no texts" "$work/log" || { cat "$work/log"; exit 1; }
# without attention, the words a label rests on are found by leaving out each in turn: work that a deadline must be able to end
"$TRAINER" train --type words -t "$work/class/train.tsv" --valid-sets "$work/class/valid.tsv" -m "$work/words.safetensors" --after-epochs 3 \
    > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 "$SOURCE_DIR/tests/serve_predict.py" "$REGARD" "$work/class/model.safetensors" "$work/words.safetensors"

#!/bin/bash
# Model files of earlier versions answer as they did: the baseline on graphs when it was a system of its own, and `dense`, as mlp was called.
# tests/data/old_models holds files and answers of the program from before.
set -u
cd "$SOURCE_DIR/tests/data/old_models" || exit 1
failed=0
same() { # same NAME OPTION...
    local name=$1
    shift
    "$REGARD" predict -m "$name.safetensors" "$@" > "$TMPDIR/found" 2> "$TMPDIR/log" || { cat "$TMPDIR/log"; failed=1; }
    diff -u "$name.tsv" "$TMPDIR/found" || { echo "FAILED: $name answers otherwise"; failed=1; }
}
same mlp-graph --graph graph
same dense-numbers --logits -i numbers.txt
same dense-counts --logits -i counts.txt
[ $failed = 0 ] && echo "old model files answer as before"
exit $failed

#!/bin/bash
# The server from the outside: a small model is trained, then serve.py asks it in every way, good and bad, and serve_load.py
# in great numbers (60 seconds in a campaign). Skipped without python or the module.
# release only
set -u
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
[ -e "$BUILD_DIR/regard-serve.so" ] || { echo "no server module: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$TRAINER" demo translate -o "$work" --after-batches 30 --sentences 500 --tests 10 > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 "$SOURCE_DIR/tests/serve.py" "$REGARD" "$work/model.safetensors" "$work/test.en"
failed=$?
# A model that has learned nothing answers with the longest text it may: what makes a request expensive.
"$TRAINER" demo translate -o "$work/long" --after-batches 1 --sentences 500 --tests 10 > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 "$SOURCE_DIR/tests/serve_share.py" "$REGARD" "$work/long/model.safetensors" "$work/long/test.en" || failed=1
load="--seconds 5"
[ -z "${CAMPAIGN:-}" ] || load="--seconds 60 --strict"
# shellcheck disable=SC2086
python3 "$SOURCE_DIR/tests/serve_load.py" "$REGARD" "$work/model.safetensors" "$work/test.en" $load || failed=1
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || { echo "no chromium: the live page is not tested"; exit $failed; }
python3 "$SOURCE_DIR/tests/serve_page.py" "$REGARD" "$work/model.safetensors" "$(head -1 "$work/test.en")" || failed=1
exit $failed

#!/bin/bash
# The page in a real browser (page.py). Skipped without a browser or python.
# release only: browser and page are the same whatever wrote the page
set -u
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || { echo "no chromium: skipped"; exit 77; }
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
exec python3 "$SOURCE_DIR/tests/page.py" "$REGARD" "$BUILD_DIR/tests/page_records" "$SOURCE_DIR/tests/page" "$@"

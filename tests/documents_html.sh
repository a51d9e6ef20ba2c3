# HTML documents: tags, text nodes and attributes by an independent parser.
set -u
command -v python3 > /dev/null || exit 77
[ -x "$BUILD_DIR/tests/document_upper" ] || exit 77
exec python3 "$SOURCE_DIR/tests/documents/check_html.py" "$BUILD_DIR/tests/document_upper"

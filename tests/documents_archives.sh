# docx, odt, pptx and epub: archives that an XML parser reads, with every text translated; hostile ones are refused.
set -u
command -v python3 > /dev/null || exit 77
[ -x "$BUILD_DIR/tests/document_upper" ] || exit 77
exec python3 "$SOURCE_DIR/tests/documents/check_archives.py" "$BUILD_DIR/tests/document_upper"

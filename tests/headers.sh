# All public headers together, in one C17 and one C++17 file, each with a variable for every public default macro: no two of them clash, none
# needs another one first, and every default compiles in both languages.
set -eu
here=$(mktemp -d "${TMPDIR:-/tmp}/regard-headers.XXXXXX")
trap 'rm -rf "$here"' EXIT
headers=$(cd "$SOURCE_DIR/include" && ls regard/*.h)

# RG_TAPE_CONFIG_DEFAULT is the default of an rg_tape_config.
for header in $headers; do echo "#include \"$header\""; done > "$here/all.c"
(cd "$SOURCE_DIR/include" && sed -n 's/^#define \(RG_[A-Z0-9_]*\)_DEFAULT\>.*/\1/p' $headers) | while read -r name; do
    type=$(echo "$name" | tr 'A-Z' 'a-z')
    echo "const $type *get_$type(void) { static const $type x = ${name}_DEFAULT; return &x; }"
done > "$here/defaults"
[ -s "$here/defaults" ] || { echo "found no default macros"; exit 1; }
sed 's/ \*get_\([a-z0-9_]*\)(void) .*/ *get_\1(void);/' "$here/defaults" >> "$here/all.c"
cat "$here/defaults" >> "$here/all.c"
cp "$here/all.c" "$here/all.cc"

compile() { "$@" -Wall -Wextra -Werror -Wno-missing-field-initializers -fsyntax-only -I"$SOURCE_DIR/include"; }
compile "${CC:-cc}" -std=c17 -Wpedantic "$here/all.c"
compile "${CXX:-c++}" -std=c++17 "$here/all.cc"

for header in $headers; do
    echo "#include \"$header\"" > "$here/one.c"
    compile "${CC:-cc}" -std=c17 -Wpedantic "$here/one.c" || { echo "$header needs another header first"; exit 1; }
done
command -v python3 > /dev/null && "$SOURCE_DIR/tools/api-index" --check
echo "$(echo "$headers" | wc -l) headers, $(wc -l < "$here/defaults") defaults"

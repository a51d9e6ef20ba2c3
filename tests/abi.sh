# tools/abi finds a function that is gone and a struct that changed, and calls equal libraries equal.
set -u
command -v abidiff > /dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
build() { "$CC" -g -shared -fPIC -Wl,-soname,libx.so.0 -x c - -o "$1"; }
echo 'struct s { int a; }; int f(struct s *x) { return x->a; } int g(void) { return 1; }' | build old.so
echo 'struct s { int a; }; int f(struct s *x) { return x->a; }' | build gone.so
echo 'struct s { long b; int a; }; int f(struct s *x) { return x->a; } int g(void) { return 1; }' | build other.so
tool=$SOURCE_DIR/tools/abi
"$tool" --files old.so old.so > log || { cat log; echo "equal ones differ"; exit 1; }
if "$tool" --files old.so gone.so > log; then cat log; echo "a function that is gone was not missed"; exit 1; fi
"$tool" --files old.so other.so > log
grep -q "'long\|type size changed\|size changed" log || { cat log; echo "a struct that changed was not seen"; exit 1; }

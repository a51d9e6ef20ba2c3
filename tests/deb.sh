# Packages: built, free of what lintian calls errors and warnings, complete, and without paths of the build tree. Long: it compiles
# everything once more.
# release only
# timeout 3000
set -eu
[ -n "${CAMPAIGN:-}" ] || exit 77
for tool in dpkg-deb dpkg-shlibdeps git; do command -v $tool > /dev/null || exit 77; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$SOURCE_DIR" "$work/regard" && cd "$work/regard"
tools/deb > log || { cat log; exit 1; }
for name in regard libregard0 libregard-dev python3-regard; do
    ls build/packages/${name}_*.deb > list || { echo "no $name"; exit 1; }
done
for deb in build/packages/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
lib=$(dirname "$(find "$work/root" -name 'libregard.so.0')")
LD_LIBRARY_PATH=$lib "$work/root/usr/bin/regard" version
if grep -rl "$work/regard" "$work/root"; then echo "these files name the build tree"; exit 1; fi
readelf -d "$work/root/usr/bin/regard" | grep -q RUNPATH && { echo "the program has a RUNPATH"; exit 1; }
zcat "$work/root/usr/share/man/man1/regard-train.1.gz" | grep -q 'REGARD' || exit 1
if command -v lintian > /dev/null; then lintian --allow-root --fail-on error,warning build/packages/*.deb; fi

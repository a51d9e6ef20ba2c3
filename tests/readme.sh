# README's commands work when they are pasted: those of the demo in the source folder, the others, behind `make install`, in a folder with
# the files they name. Training is cut short; everything else runs as it stands.
# release only: other tests run these commands under sanitizers
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1

# the lines of the code blocks of a section, without prompts, answers and comments
commands() { awk -v title="## $1" '/^## /{on = $0 == title} on && /^```/{code = !code && $0 == "```sh"; next} on && code' "$SOURCE_DIR/README.md" |
    sed 's/^\$ //; s/  *# .*//' | grep -E '^(echo|regard|build)'; }

mkdir -p build/release bin
ln -s "$REGARD" build/release/regard
cat > bin/regard <<'SH'
#!/bin/sh
command=$1
shift
[ "$command" != train ] || set -- "$@" --vocab-kind words --dim-vocabs 0 --preset tiny --after-batches 4 --valid-freq 2 --cpu-threads 1
exec "$REGARD" "$command" "$@"
SH
chmod +x bin/regard
build/release/regard demo translate --sentences 300 --tests 20 --after-batches 2 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
for part in train valid test; do
    from=test
    [ $part != train ] || from=train
    cp regard-demo/$from.en $part.en
    cp regard-demo/$from.fr $part.de
done

run() { # section, least number of commands
    commands "$1" > list
    [ "$(wc -l < list)" -ge "$2" ] || fail "README has $(wc -l < list) commands under '$1'"
    while read -r line; do PATH="$work/bin:$PATH" bash -c "$line" > out 2> err < /dev/null || fail "$line: $(tail -3 err)"; done < list
}
run 'Two commands' 1
run 'Your own translator' 4
grep -q 'make install' "$SOURCE_DIR/README.md" || fail "README does not say how regard comes onto the path"
[ "$(wc -l < test.out)" = "$(wc -l < test.en)" ] || fail "test.out has $(wc -l < test.out) lines"

# every page is linked: those of docs/ from README itself, the others from a page that is
for page in "$SOURCE_DIR"/docs/*.md; do
    grep -qF "(docs/$(basename "$page")" "$SOURCE_DIR/README.md" || fail "README has no link to docs/$(basename "$page")"
done
for page in "$SOURCE_DIR"/docs/*/*.md; do
    name=$(basename "$(dirname "$page")")/$(basename "$page")
    grep -qF "($name" "$SOURCE_DIR"/docs/*.md || grep -qF "(docs/$name" "$SOURCE_DIR/README.md" || fail "no page links to docs/$name"
done
grep -oE '\]\([^)#: ]+[)#]' "$SOURCE_DIR/README.md" | sed 's/](//; s/[)#]$//' | sort -u > links
while read -r link; do [ -e "$SOURCE_DIR/$link" ] || fail "README links to $link, which is not there"; done < links
[ $failures = 0 ]

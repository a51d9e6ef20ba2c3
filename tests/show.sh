#!/bin/bash
# regard show, report and gradients from the outside: what they write, and how they refuse.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL $*"; failed=1; }

"$BUILD_DIR/tests/page_records" "$work" || exit 1
cd "$work" || exit 1
export LC_ALL=C.UTF-8 TERM=xterm-256color COLORTERM=truecolor
esc=$(printf '\033')

"$REGARD" show translation.json > out || fail "show"
grep -q 'zone → Area' out || fail "no arrow from zone to Area"
grep -q "$esc" out && fail "colours in a pipe"
"$REGARD" show translation.json --color 24bit | grep > /dev/null "$esc\[48;2;" || fail "--color 24bit gives no 24-bit colour"
"$REGARD" show translation.json --color 256 | grep > /dev/null "$esc\[48;5;" || fail "--color 256 gives none of 256 colours"
LC_ALL=C "$REGARD" show translation.json | grep > /dev/null 'zone -> Area' || fail "no ASCII arrow without UTF-8"
[ "$("$REGARD" show translation.json --list | wc -l)" = 12 ] || fail "--list does not show 12 maps"
"$REGARD" show translation.json --layer 0 --head 3 | grep > /dev/null 'layer 0 · head 3' || fail "--layer and --head"

if [ -e "$BUILD_DIR/regard-figures.so" ]; then
    "$REGARD" show translation.json --png a.png --svg a.svg --pdf a.pdf --html a.html || fail "files"
    head -c4 a.png | grep > /dev/null PNG || fail "a.png is not a PNG"
    grep -q '</svg>' a.svg || fail "a.svg is not whole"
    head -c5 a.pdf | grep > /dev/null '%PDF-' || fail "a.pdf is not a PDF"
    for style in matrix grid links; do "$REGARD" show translation.json --style $style --dark --svg b.svg || fail "$style"; done
fi

refuse() { # CODE WORD COMMAND...
    local code=$1 word=$2
    shift 2
    "$REGARD" "$@" > out 2> err
    [ $? = "$code" ] || fail "exit code of: $*"
    grep -q "$word" err || fail "\"$word\" is not in the message of: $* ($(head -1 err))"
}
refuse 2 RECORD show
refuse 2 RECORD show a b
refuse 1 nothing.json show nothing.json
refuse 2 'is --layer 7; --list' show translation.json --layer 7
refuse 2 'is --name x --head 3; --list' show translation.json --name x --head 3
refuse 2 '0 sets of curves' show translation.json --style curves --png a.png
refuse 2 style show translation.json --style oil
echo '{"format":"regard-record/1","labels":3}' > bad.json
refuse 1 'bad.json: "labels"' show bad.json
refuse 1 no/folder show translation.json --html no/folder/a.html
refuse 2 RUN report
mkdir empty
refuse 1 'empty: neither log.jsonl' report empty
refuse 2 steps gradients --steps 1

refuse 2 'give --depth 30' gradients --remedy batchnorm
refuse 1 nowhere gradients -m nowhere.safetensors --text translation.json
"$REGARD" gradients --depth 30 --remedy batchnorm --json deep.json && grep -q '30 tanh layers: vanish' deep.json || fail "gradients of a deep network"
"$REGARD" gradients --units 8 --steps 40 -o g.safetensors || fail "gradients"
"$REGARD" show g.safetensors --html g.html || fail "a record as safetensors"
grep -q '<svg' g.html || fail "the page of gradients has no curve"
printf '{"step":1,"loss":3.5}\n{"step":2,"loss":2.5}\n' > log.jsonl
"$REGARD" report . --html r.html --json r.json || fail "report"
grep -q 'Training loss' r.html || fail "the report has no loss"
mv log.jsonl m.safetensors.jsonl
"$REGARD" report m.safetensors | grep > /dev/null Loss || fail "the report of a model"
"$REGARD" show r.json | grep > /dev/null Loss || fail "the report's record"
exit $failed

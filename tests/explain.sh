#!/bin/bash
# regard show --by, for models of every kind of data: which maps there are, what is written of them, how it refuses.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL $*"; failed=1; }
cd "$work" || exit 1
export LC_ALL=C.UTF-8
show() { "$REGARD" show "$@"; }
learn() { "$TRAINER" demo "$1" --quick -o "$1" > log 2>&1; [ -s "$1/model.safetensors" ] || { cat log; fail "demo $1"; }; }
# maps NAME... of record r.json, those that `show --by all` added
maps() { show r.json --list | awk -F'\t' '$3 == "layer -1" && $4 == "head -1" { print $2 }' | tr '\n' ' '; }
expect() { # expect WHAT "MAPS"
    local found; found=$(maps)
    [ "$found" = "$2 " ] || fail "$1: $found instead of $2"
    grep -q '"faithfulness"' r.json || fail "$1: nothing is said of faithfulness"
}
every="attention rollout gradient input-gradient integrated zeroing occlusion"

learn sentiment
show -m sentiment/model.safetensors --by all --json r.json "a dull film" && expect sentiment "$every"
other=$(cut -f1 sentiment/train.tsv | sort -u | tail -1)
show -m sentiment/model.safetensors --by occlusion --against "$other" "a dull film" > out || fail "--against"
grep -q 'occlusion against' out || fail "--against is not in the title"
grep -q 'faithfulness: rank correlation' out || fail "nothing under the map"
show -m sentiment/model.safetensors --by gradient,occlusion --png a.png --html a.html "a dull film" || fail "files"
if [ -e "$BUILD_DIR/regard-figures.so" ]; then [ -s a.png ] || fail "no figure"; fi
grep -q '"integrated"' a.html && fail "a map nobody asked for"

learn names
show -m names/model.safetensors --by all --json r.json "anna lives in paris" &&
    expect names "gradient input-gradient integrated occlusion"
learn gat
show -m gat/model.safetensors --graph gat --node 5 --by all --json r.json && expect gat "$every"
learn cam
show -m cam/model.safetensors --by all --json r.json cam/shown.png &&
    expect cam "attention rollout gradient input-gradient integrated occlusion"
learn caption
show -m caption/model.safetensors --by all --json r.json caption/ask.png && expect caption "$every"
learn set
show -m set/model.safetensors --by all --json r.json set/ask.png && expect set "$every"
"$REGARD" train --type set --predictor bce -t set/train.tsv --pictures set/train.tar --after-batches 3 --valid-freq 0 --early-stopping 0 -m at_once.safetensors > /dev/null 2>&1 &&
    { show -m at_once.safetensors --by occlusion --json r.json set/ask.png || fail "labels found at once"; }
learn recipe
show -m recipe/model.safetensors --by occlusion,gradient --json r.json recipe/ask.png > out || fail "recipe --by"
learn language
show -m language/model.safetensors --by all --json r.json "the cat" && expect language "$every"
learn ntm
show -m ntm/model.safetensors --length 3 --by all --json r.json &&
    expect ntm "adds reads input output target gradient input-gradient integrated occlusion"

refuse() { # refuse CODE WORDS COMMAND...
    local code=$1 words=$2; shift 2
    "$REGARD" "$@" > out 2>&1
    local got=$?
    [ $got = "$code" ] || fail "$*: exit code $got instead of $code"
    grep -q -- "$words" out || { fail "$*: '$words' is not in:"; cat out; }
}
"$REGARD" evaluate --faithfulness -m sentiment/model.safetensors --by gradient,occlusion <(printf "a dull film\na fine one\n") > out || fail "evaluate --faithfulness"
[ "$(cut -f1 out | tr "\n" " ")" = "method gradient occlusion " ] || { cat out; fail "evaluate --faithfulness prints other rows"; }
printf "5\n6\n" > nodes
"$REGARD" evaluate --faithfulness -m gat/model.safetensors --graph gat --by zeroing nodes | grep -q "^zeroing.*2$" || fail "nodes"
refuse 2 'the methods are' show -m sentiment/model.safetensors --by magic "a film"
refuse 2 'no contrast' show -m sentiment/model.safetensors --by attention --against "$other" "a film"
refuse 2 'no such class' show -m sentiment/model.safetensors --by occlusion --against purple "a film"
refuse 2 'by which method' show -m sentiment/model.safetensors --against "$other" "a film"
refuse 2 'needs the model' show r.json --by occlusion
refuse 2 'no such label' show -m set/model.safetensors --by occlusion --against purple set/ask.png
refuse 1 'no attention over' show -m names/model.safetensors --by zeroing "anna lives"
[ $failed = 0 ] && echo "explained"
exit $failed

#!/bin/bash
# regard reproduce speech on recordings that are made: parts by number, strings of them, a table of both.
# release only: a table of trainings; test_sound and speech.sh read recordings under sanitizers.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

"$REGARD" make speech -n 240 --valid 0 --test 0 --shortest 1 --longest 1 --seconds 0.1 --seed 7 -o lab > /dev/null || fail "make for the lab"
mkdir -p spoken/recordings unpacked && tar -C unpacked -xf lab/train.tar
n=0
tail -n +2 lab/train.tsv | while IFS=$'\t' read -r file text _; do
    cp "unpacked/$file" "spoken/recordings/${text}_anna_$((n % 15)).wav"
    n=$((n + 1))
done
"$REGARD" reproduce speech --data spoken --out runs --only digits,strings-mean --quick --cpu-threads 1 > log 2>&1 || fail "reproduce: $(tail -2 log)"
grep -q '^digits' log && grep -q '^strings-mean' log || fail "rows are missing: $(cat log)"
grep -qE '^strings/test-00020.wav	[0-9]{3,7}$' runs/data-quick/strings-test.tsv || fail "strings: $(tail -1 runs/data-quick/strings-test.tsv)"
cut -f2 runs/data-quick/digits-test.tsv | grep -vE '_[0-4].wav$|^sound$' && fail "a test recording with another number"

# what is not there is said
mkdir empty
"$REGARD" reproduce speech --data empty --out none --only digits --quick > log 2>&1 && fail "no data is no failure"
grep -q "empty: the folder has no files" log || fail "empty: $(tail -1 log)"
"$REGARD" reproduce speech --data empty --out none --only spelled --quick > log 2>&1 && fail "no spelled words are no failure"
grep -q "empty/spelled-train.tsv is not there: .tools/speak-spelled empty. makes it" log || fail "spelled: $(tail -1 log)"

# words that espeak-ng spells, where it is installed: other words in each list, the same files again
if command -v espeak-ng > /dev/null; then
    "$SOURCE_DIR/tools/speak-spelled" "my words" 12 3 3 || fail "speak-spelled"
    [ "$(cut -f2 my*/spelled-*.tsv | grep -v '^text$' | grep -cE '^[a-z]{3,6}$')" = 18 ] && [ -z "$(cut -f2 my*/spelled-*.tsv | grep -v '^text$' | sort | uniq -d)" ] || fail "words: $(cat my*/*.tsv)"
    "$SOURCE_DIR/tools/speak-spelled" again 12 3 3 && diff -r "my words" again || fail "speak-spelled writes others the second time"
    "$REGARD" reproduce speech --data "my words" --out spelled --only spelled --quick --cpu-threads 1 > log 2>&1 || fail "spelled: $(tail -2 log)"
    grep -q '^spelled ' log || fail "no row of spelled words: $(cat log)"
fi
[ $failures = 0 ]

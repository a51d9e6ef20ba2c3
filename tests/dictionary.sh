# Unknown words: with `regard translate --replace-unk --dictionary` the translation of the word they looked at; shown by their text.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cd "$work" || exit 1

"$TRAINER" demo translate -o demo --sentences 60 --tests 20 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
"$REGARD" train --type rnnsearch --dim-emb 8 --dim-rnn 8 -t demo/train.en demo/train.fr --vocab-kind words --dim-vocabs 0 --after-batches 2 --valid-freq 0 \
    --cpu-threads 1 -m model.st > log 2>&1 || { cat log; exit 1; }
# every word of the tests but one, alone on its line, with an X: a dictionary without doubt
tr ' ' '\n' < demo/test.en | sort -u | sed 1d > words.en
sed 's/$/X/' words.en > words.x
say() { "$REGARD" translate -m model.st --prefix "qqq qqq" --cpu-threads 1 --quiet "$@" < demo/test.en | cut -d ' ' -f 1,2; }
say --replace-unk > copied || fail "copied"
say --replace-unk --dictionary words.en words.x > found || fail "found"
awk 'NR == FNR { known[$1] = 1; next } { for (k = 1; k <= NF; k++) printf "%s%s", $k (known[$k] ? "X" : ""), k < NF ? " " : "\n" }' words.en copied > expected
cmp -s expected found || fail "$(diff expected found | head -4)"
grep -q X found || fail "nothing was found: $(head -3 found)"
"$REGARD" translate -m model.st --dictionary words.en words.x < demo/test.en > out 2> err
[ $? = 2 ] && grep -q 'needs --replace-unk' err || fail "a dictionary for nothing: $(cat err)"
# a word the model does not know is shown as it was written
"$REGARD" show -m model.st --json record.json "the qqqq is big" > out 2>&1 || fail "show: $(cat out)"
python3 - << 'END' || fail "labels of the source: $(cat record.json)"
import json
record = json.load(open("record.json"))
source = next(l for l in record["labels"] if l["name"] == "source")
assert source["text"][1] == "qqqq", source
assert any(t["role"] == "source" and t["text"] == "the qqqq is big" for t in record["texts"]), record["texts"]
END

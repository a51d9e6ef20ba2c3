#!/bin/bash
# A text classifier from the outside: files of several formats, answers, records, and refusals that name file and line.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }

# Labels with a blank; a marker word tells the class; quotes and commas in the texts.
awk 'BEGIN { split("very good|so so|bad", name, "|"); split("fine meh awful", mark, " "); x = 3
    for (i = 0; i < 120; i++) { s = ""
        for (k = 0; k < 1 + i % 4; k++) { x = (x * 75 + 74) % 65537; s = s "word" x % 30 ", " }
        c = i % 10 < 5 ? 1 : i % 10 < 8 ? 2 : 3
        print name[c] "\t" s mark[c] > (i < 90 ? "train.tsv" : "valid.tsv") } }'
csv() { awk -F'\t' 'BEGIN { print "id,review,stars" } { printf "%d,\"%s\",%s\n", NR, $2, $1 }' "$1"; }
csv train.tsv > train.csv
csv valid.tsv > valid.csv
awk -F'\t' '{ printf "{\"label\": \"%s\", \"text\": \"%s\"}\n", $1, $2 }' train.tsv > train.jsonl
gzip -k train.tsv

small="--type words --width 8 --mini-batch 16 --learn-rate 0.02 --after-epochs 12 --cpu-threads 1 --overwrite"
"$REGARD" train $small -t train.tsv --valid-sets valid.tsv -m tsv.st > log 2>&1 || { cat log; fail "training on TSV"; }
grep -q '3 classes (bad, so so, very good)' log || fail "the classes are not named"
grep -q 'accuracy : 1.0000' log || { cat log; fail "the marker words were not learned"; }
grep -q '^best accuracy: 1.00, in tsv.st' log || fail "the summary does not say that the best weights are the model's"
[ "$(grep -c 'valid.* accuracy' log)" -ge 6 ] || fail "not a validation per epoch"
"$REGARD" train $small -t train.csv --valid-sets valid.csv --columns stars,review -m csv.st > log 2>&1 || { cat log; fail "training on CSV"; }
"$REGARD" train $small -t train.jsonl -m jsonl.st > log 2>&1 || { cat log; fail "training on JSON lines, without validation"; }
"$REGARD" train $small -t train.tsv.gz --valid-sets valid.tsv -m gz.st > log 2>&1 || { cat log; fail "training on gzipped TSV"; }
cmp -s tsv.st csv.st && cmp -s tsv.st gz.st || fail "the same texts in another format gave another model"
tac train.tsv > turned.tsv
"$REGARD" train $small -t turned.tsv --after-epochs 1 -m turned.st > log 2>&1
grep -q '3 classes (bad, so so, very good)' log || fail "the order of the file changed the classes"

# With labels that are wrong the best weights are not the last: the model has the best, and the summary says so. --disp-freq hides no
# validation of an epoch with more updates than that.
awk -F'\t' -v OFS='\t' '{ print "very good", $2 }' valid.tsv > wrong.tsv
"$REGARD" train $small -t train.tsv --valid-sets wrong.tsv --disp-freq 5 --early-stopping 0 -m wrong.st > log 2>&1 || fail "wrong labels"
best=$(sed -nE 's/.*accuracy : ([0-9.]+) : new best.*/\1/p' log | tail -n1)
grep 'valid.* accuracy' log | tail -n1 | grep -q "stalled .* (best $best)" || { cat log; fail "the last weights are the best: nothing is tested"; }
grep -q "^best accuracy: ${best:0:3}.*, in wrong.st" log || { cat log; fail "the summary does not name the best, $best"; }
cut -f2 wrong.tsv | "$REGARD" predict -m wrong.st 2> /dev/null | tail -n +2 | cut -f1 | paste - <(cut -f1 wrong.tsv) |
    awk -F'\t' -v best="$best" '$1 == $2 { n++ } END { exit sprintf("%.4f", n / NR) != best }' || fail "the model's accuracy is not the best one, $best"
[ "$(grep -c 'valid.* accuracy' log)" = 12 ] || fail "validations are hidden"

# One row per line, in order; an empty text has the most frequent class, and a note says so.
printf 'word3, awful awful\n\nmeh\nfine unseen words' > lines
printf 'label\tprobability\nbad\nvery good\nso so\nvery good\n' > expected
"$REGARD" predict -m tsv.st --input lines > out 2> err || { cat err; fail "predict"; }
sed -E '1!s/\t[01]\.[0-9]{4}$//' out | cmp -s - expected || { cat out; fail "answers"; }
[ "$(sed -n 3p out)" = "very good	0.5000" ] || fail "an empty text is not answered with the shares of the classes"
grep -q 'text 2 is empty' err || fail "nothing is said of the empty text"
"$REGARD" predict -m tsv.st < lines 2> /dev/null | cmp -s - out || fail "standard input and --input differ"
printf 'meh\nm\377eh\n' | "$REGARD" predict -m tsv.st 2>&1 > /dev/null | grep -q '1 with bad UTF-8 (line 2)' || fail "nothing is said of bad UTF-8"
"$REGARD" predict -m tsv.st --top 9 this is awful > top 2> err || fail "predict --top"
head -n1 top | grep -q '^label	probability	label-2	probability-2	label-3	probability-3$' || fail "columns of --top"
awk -F'\t' 'NR == 2 { exit !($1 == "bad" && $2 >= $4 && $4 >= $6 && $2 + $4 + $6 > 0.999) }' top || fail "--top is not sorted, or no distribution"
"$REGARD" predict -m tsv.st --json meh > json 2> err || fail "predict --json"
grep -Eq '^\{"label":"so so","probability":0\.[0-9]+\}$' json || { cat json; fail "JSON answer"; }
"$REGARD" predict -m tsv.st --attention r.json --input lines > again 2> /dev/null || fail "predict --attention"
cmp -s out again || fail "the record changed the answers"
grep -q '"text":\["word3,","awful","awful"\]' r.json || fail "the record does not have the words"
"$REGARD" show -m tsv.st meh > /dev/null || fail "show -m"
"$REGARD" show -m tsv.st > err 2>&1 && fail "show -m without a text"
"$REGARD" average tsv.st csv.st -o mean.st > /dev/null 2>&1 || fail "average"
"$REGARD" predict -m mean.st --input lines 2> /dev/null | cmp -s - out || fail "the mean of twice the same answers otherwise"
"$REGARD" list tasks | grep -q classify || fail "the list of tasks"

refuses() { # refuses PATTERN OPTION...: training fails with such a message
    local pattern=$1
    shift
    if "$REGARD" train $small -m no.st "$@" > log 2>&1; then fail "accepted: $*"; fi
    grep -Eq -- "$pattern" log || { cat log; fail "$*: no message like /$pattern/"; }
    [ ! -e no.st ] || fail "$*: a model was written"
}
printf 'a\tone\nb two\n' > tab.tsv
printf 'a\tone\na\ttwo\n' > single.tsv
printf 'bad\tmeh\nodd\tmeh\n' > odd.tsv
printf 'label,text\na,"one\nb,two\n' > quote.csv
: > empty.tsv
refuses 'tab.tsv: line 2: .*tab' -t tab.tsv
refuses "single.tsv: every row has the label 'a': there must be two classes" -t single.tsv
refuses "odd.tsv: line 2: .*'odd' is not one of the 3 classes" -t train.tsv --valid-sets odd.tsv
refuses 'quote.csv: line 2: a quote' -t quote.csv
refuses 'empty.tsv' -t empty.tsv
refuses 'empty.tsv' -t train.tsv --valid-sets empty.tsv
refuses 'nowhere.tsv' -t nowhere.tsv
refuses 'takes one file of labels and texts, not 0'
refuses 'takes one file of labels and texts, not 2' -t train.tsv valid.tsv
refuses 'nothing limits a batch' -t train.tsv --mini-batch 0
refuses 'no format|formats' -t train.tsv --format nosuch
refuses 'train.csv.*nosuch|nosuch.*train.csv' -t train.csv --columns nosuch,review

# log p of given labels: that of the predicted label is the log of its probability; what is no class is named.
cut -f2- valid.tsv > texts
"$REGARD" predict -m tsv.st --json < texts > predicted
python3 -c 'import json, sys
for line in open("predicted"): print(json.loads(line)["label"])' > labels
paste labels texts | "$REGARD" score -m tsv.st --json > scores 2> log || { cat log; fail "score"; }
python3 -c 'import json, math
a, b = [[json.loads(l) for l in open(f)] for f in ("predicted", "scores")]
assert len(a) == len(b) and all(abs(math.log(x["probability"]) - y["log_p"]) < 1e-9 and x["label"] == y["label"] for x, y in zip(a, b))' || fail "log p is not that of predict"
printf 'nosuch\ta text\n' | "$REGARD" score -m tsv.st > log 2>&1 && fail "a label that is no class was scored"
grep -q "line 1: the model has no class 'nosuch'" log || { cat log; fail "no word of the label"; }

# A checkpoint is not resumed with other data.
"$REGARD" train ${small% --overwrite} -t turned.tsv --valid-sets valid.tsv -m tsv.st > log 2>&1 && fail "resumed with other data"
grep -q 'another corpus' log || { cat log; fail "no word of the other data"; }
[ $failed = 0 ] && echo "classifiers train, answer and refuse"
exit $failed

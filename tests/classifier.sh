#!/bin/bash
# Classifiers by encoder and pooling, masked language models and what is fine-tuned from them, from the outside: answers, words, test sets,
# sequences of numbers, records, refusals that name what is wrong; and the experiment on tiny data.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }

awk 'BEGIN { split("good so-so bad", name, " "); split("fine meh awful", mark, " "); x = 3
    for (i = 0; i < 150; i++) { s = ""
        for (k = 0; k < 2 + i % 4; k++) { x = (x * 75 + 74) % 65537; s = s "word" x % 30 " " }
        c = 1 + i % 3
        print name[c] "\t" s mark[c] " end" > (i < 90 ? "train.tsv" : i < 120 ? "valid.tsv" : "test.tsv")
        print s mark[c] " end" (i % 4 == 3 ? "\n" : "") > "text.txt" } }'
files="-t train.tsv --valid-sets valid.tsv --header no"
small="--type classifier --dim-emb 16 --width 8 --mini-batch 16 --learn-rate 0.02 --after-epochs 12 --cpu-threads 1 --dropout 0.1 --dropout-emb 0 --dropout-words 0 --overwrite"

"$REGARD" train $small $files --test-sets test.tsv -m m.st > log 2>&1 || { cat log; fail "training"; }
grep -q 'test-accuracy 1.0000' log || { cat log; fail "test data were not judged at the end"; }
[ "$(grep -c 'f1' log)" -ge 6 ] || { cat log; fail "no table of the classes at each validation"; }
"$REGARD" predict -m m.st --top 3 --words "word1 awful word2 end" > out 2> err || { cat err; fail "predict --words"; }
awk -F'\t' 'NR == 2 { exit !($1 == "bad" && $2 >= $4 && $4 >= $6 && $7 ~ /awful/ && split($7, w, " ") == 4) }' out || { cat out; fail "--top 3 --words"; }
"$REGARD" predict -m m.st --json --words "a fine end" | grep -q '"words":"[^"]*fine' || fail "--json --words"
"$REGARD" show -m m.st "word1 awful word2 end" > shown || fail "show"
grep -q 'awful' shown && grep -Eq 'labels +bad 0\.[0-9]+, ' shown || { cat shown; fail "show does not name the probabilities"; }
"$REGARD" show -m m.st --html page.html "word1 awful word2 end" > /dev/null && grep -q awful page.html || fail "show --html"
cut -f2 test.tsv | "$REGARD" predict -m m.st 2> /dev/null > predicted
"$REGARD" evaluate --type classes test.tsv < predicted > table 2> err || { cat err; fail "evaluate"; }
grep -qi 'accuracy' table || { cat table; fail "evaluate says nothing of accuracy"; }

# damaged lines are answered, in order, and told
{ head -c 1000000 /dev/zero | tr '\0' 'a'; printf '\nawful\0 end\ncaf\351 awful end\n\n'; } | "$REGARD" predict -m m.st > out 2> err || fail "damaged lines"
[ "$(wc -l < out)" = 5 ] || { cat out; fail "not an answer per line"; }
grep -q 'NUL bytes (line 2)' err && grep -q 'bad UTF-8 (line 3)' err && grep -q 'text 4 is empty' err || { cat err; fail "what was damaged is not told"; }

# every encoder with another pooling learns the marker words
set -- rnn:max lstm:last gru:last bilstm:mean bigru:max transformer:mean cnn:max words:max window:attention
for way; do
    "$REGARD" train $small $files --encoder ${way%:*} --pool ${way#*:} --maps 8 --transformer-heads 2 --transformer-dropout 0 -m way.st > log 2>&1 || { cat log; fail "$way"; }
    best=$(sed -nE 's/.*accuracy : ([0-9.]+) : new best.*/\1/p' log | tail -n1)
    awk -v b="${best:-0}" 'BEGIN { exit b < 0.9 }' || { cat log; fail "$way reached $best"; }
done
"$REGARD" train $small $files --preset lin -m lin.st > log 2>&1 || { cat log; fail "rows of attention"; }
"$REGARD" predict -m lin.st --attention r.json "a fine end" > /dev/null 2>&1 && grep -q '"pool"' r.json || fail "no weights in the record"

# sequences of numbers: the adding problem
"$REGARD" make adding -n 200 --valid 40 --test 20 --length 6 -o sums > /dev/null || fail "make adding"
"$REGARD" train --type classifier --out number --encoder lstm --pool last --width 8 --dim-emb 4 --dropout 0 --dropout-emb 0 --dropout-words 0 --after-epochs 2 --cpu-threads 1 \
    -t sums/train.tsv --valid-sets sums/valid.tsv --test-sets sums/test.tsv -m sum.st > log 2>&1 || { cat log; fail "numbers of sequences"; }
grep -q 'a number from sequence, 2 features' log && grep -q 'test-mse' log || { cat log; fail "the columns were not understood"; }
"$REGARD" predict -m sum.st "0.5 1; 0.2 0; 0.25 1" | tail -n1 | grep -Eq '^-?[0-9.]+$' || fail "no number"

# a masked language model, and classifiers that start from it and from a gpt
lm="-t text.txt --vocab-kind words --normalization lower --dim-emb 16 --layers 2 --transformer-heads 2 --context 24 --mini-batch 4 --after-batches 30 --cpu-threads 1 --overwrite"
"$REGARD" train --type bert $lm --valid-share 0.2 --valid-freq 15 -m bert.st > log 2>&1 || { cat log; fail "bert"; }
grep -q 'pairs of segments' log && grep -q 'follows' log || { cat log; fail "the documents were not found"; }
grep -q 'valid-most-frequent' log || { cat log; fail "nothing to compare the accuracy with"; }
"$REGARD" predict -m bert.st --top 2 "word1 [MASK] end" | tail -n1 | grep -qE '^[^	]+	0\.[0-9]+	[^	]+	0\.[0-9]+$' || fail "nothing was filled in"
"$REGARD" predict -m bert.st --attention b.json "word1 [MASK] end" > /dev/null 2>&1 || fail "no record"
python3 -c 'import json
m = json.load(open("b.json"))["maps"]
assert len({(x["layer"], x["head"]) for x in m}) == 4, m' || fail "not every layer and head is in the record"
"$REGARD" score -m bert.st text.txt > log 2>&1 && fail "a masked model scored a text"
"$REGARD" generate -m bert.st --prompt a > log 2>&1 && fail "a masked model generated"
"$REGARD" train --type classifier --encoder transformer --init-from bert.st $files --after-epochs 2 --cpu-threads 1 -m tuned.st > log 2>&1 || { cat log; fail "fine-tuning"; }
grep -q 'parameters from bert.st: embedding places segments' log && grep -q '^fresh: output.w output.b' log || { cat log; fail "what was taken is not told"; }
"$REGARD" predict -m tuned.st --words "a fine end" | tail -n1 | grep -qv '</s>' || fail "a sign is no word"
"$REGARD" train --type gpt $lm -m gpt.st > log 2>&1 || { cat log; fail "gpt"; }
"$REGARD" train --type classifier --encoder transformer --init-from gpt.st --lm-weight 0.5 $files --after-epochs 2 --cpu-threads 1 -m tuned2.st > log 2>&1 || { cat log; fail "fine-tuning a gpt"; }
grep -q 'block.end' log || { cat log; fail "the last norm of the gpt was not taken"; }

refuses() { # refuses PATTERN OPTION...: training fails with such a message
    local pattern=$1
    shift
    if "$REGARD" train --type classifier -m no.st --cpu-threads 1 --after-epochs 1 "$@" > log 2>&1; then fail "accepted: $*"; fi
    grep -Eq -- "$pattern" log || { cat log; fail "$*: no message like /$pattern/"; }
    [ ! -e no.st ] || fail "$*: a model was written"
}
refuses 'embedding is [0-9]+ x 16 there, [0-9]+ x 12 here' $files --encoder transformer --init-from bert.st --dim-emb 12
printf 'fine\nmeh\nawful\n' > other.txt
refuses 'another vocabulary' $files --encoder transformer --init-from bert.st --vocabs other.txt
refuses 'lm-weight.*causal' $files --lm-weight 0.5
refuses 'system classifier reads text' $files --in pixels
refuses 'takes one file like --train-sets' $files --test-sets test.tsv valid.tsv

# the experiment: tiny data of the same form, windows-1252 in the reviews
mkdir -p data/sentiment data/ptb
for i in $(seq 30); do printf 'a dull film \223number %d\224\n' $((i % 7)); done | gzip > data/sentiment/rt-polarity.neg.gz
for i in $(seq 30); do printf 'a fine film caf\351 %d\n' $((i % 7)); done | gzip > data/sentiment/rt-polarity.pos.gz
for part in train.all test.all; do for i in $(seq 20); do echo "$((i % 2)) what is word$((i % 5)) ?"; done | gzip > data/sentiment/TREC.$part.gz; done
for set in binary fine; do for part in train dev test; do for i in $(seq 12); do echo "$((i % 2)) a $([ $((i % 2)) = 1 ] && echo fine || echo dull) film"; done | gzip > data/sentiment/stsa.$set.$part.gz; done; done
for part in train valid; do for i in $(seq 30); do echo " the n company of new york said <unk> "; done | gzip > data/ptb/ptb.$part.txt.gz; done
"$REGARD" reproduce sentiment --data data --out runs --quick --seeds 2 --cpu-threads 1 --only mr-attention,sst2,trec,bert,tuned-few > log 2>&1
grep -q 'mr-attention' log || { cat log; fail "no table"; }
[ -f runs/tuned-few.s2.quick/result.json ] && [ -f runs/trec.s1.quick/result.json ] || { cat log; fail "runs are missing"; }
grep -q '“number' runs/data/mr.1.train.tsv && grep -q 'café' runs/data/mr.1.train.tsv || { head -n3 runs/data/mr.1.train.tsv; fail "windows-1252 was not converted"; }
cmp -s runs/data/mr.1.test.tsv runs/data/mr.2.test.tsv && fail "two folds are the same"
"$REGARD" reproduce sentiment --data data --out runs --quick --report > report 2>&1
grep -q 'mr-attention' report || { cat report; fail "--report"; }
"$REGARD" reproduce sentiment --data data --out logged --seeds 1 --cpu-threads 1 --only trec --options="--dim-emb 4 --after-epochs 0 --after-batches 100 --early-stopping 0" > log 2>&1
grep -qE '"updates": 100' logged/trec.s1/result.json && grep -q '"seconds"' logged/trec.s1/result.json || { cat log logged/trec.s1/result.json; fail "a row does not say how long it learned"; }
[ $failed = 0 ] && echo "classifiers, masked models and what is fine-tuned answer and refuse"
exit $failed

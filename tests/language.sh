#!/bin/bash
# Language models from the outside: texts of letters and tokens, state that survives kill -9, texts drawn and scored, refusals that name what
# is wrong, and the experiment with tiny data.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }

"$REGARD" make grammar -n 300 --seed 1 -o made > /dev/null || fail "no sentences"
english=$(ls made*en* | head -n1)
head -n 250 "$english" > train.txt
tail -n +251 "$english" > valid.txt
printf '  int x;\n\tif (x)  y();\n\xc3\xa9t\xc3\xa9 \xe2\x82\xac\n' > code.txt
gzip -k train.txt

small="--vocab-kind characters --dim-emb 12 --dim-rnn 12 --layers 1 --mini-batch 4 --chunk 12 --after-batches 30 --valid-freq 15 --cpu-threads 2 --overwrite"
"$REGARD" train --type lm $small -t train.txt --valid-sets valid.txt -m lm.st > log 2>&1 || { cat log; fail "training on letters"; }
grep -q 'bits-per-character' log || { cat log; fail "no bits per character"; }
"$REGARD" train --type lm $small -t train.txt.gz --valid-sets valid.txt -m gz.st > log 2>&1 || { cat log; fail "training on .gz"; }
cmp -s lm.st gz.st || fail "packed text gave another model"

# kill -9 in the middle of an epoch: resumed, the same bytes, carried state included
long="${small/--overwrite/} --bptt 20 --after-batches 60 --save-freq 7 -t train.txt --valid-sets valid.txt"
"$REGARD" train --type lm $long -m whole.st > log 2>&1 || { cat log; fail "whole"; }
"$REGARD" train --type lm $long -m killed.st > log 2>&1 &
pid=$!
for _ in $(seq 200); do [ -f killed.st.checkpoint ] && break; sleep 0.02; done
kill -9 $pid 2> /dev/null
wait $pid 2> /dev/null
"$REGARD" train --type lm $long -m killed.st > log 2>&1 || { cat log; fail "resuming"; }
cmp -s whole.st killed.st || fail "resumed to another model"

# score: what validation said; one line per line; words
said=$("$REGARD" train --type lm $small -t train.txt --valid-sets valid.txt -m lm.st 2>&1 | sed -nE 's/.*valid-perplexity ([0-9.]+).*/\1/p' | tail -n1)
"$REGARD" score -m lm.st valid.txt > scores 2> note || { cat note; fail "score"; }
[ "$(wc -l < scores)" = $(($(wc -l < valid.txt) + 1)) ] || fail "not one score per line"
grep -q "perplexity $said" note || { cat note; fail "score says another perplexity than validation, $said"; }
"$REGARD" score -m lm.st --word-scores --json valid.txt 2> /dev/null | head -n1 | grep -q '"word_scores"' || fail "no word scores"

# generate: seeds, threads, prompts from a file, JSON, whole characters
"$REGARD" generate -m lm.st --prompt "the" "a dog" -n 2 --length 60 --temperature 0.8 --top 10 --top-p 0.9 --seed 7 > one 2> log || { cat log; fail "generate"; }
"$REGARD" generate -m lm.st --prompt "the" "a dog" -n 2 --length 60 --temperature 0.8 --top 10 --top-p 0.9 --seed 7 --cpu-threads 8 > two
cmp -s one two || fail "8 threads draw other texts"
"$REGARD" generate -m lm.st --prompt "the" "a dog" -n 2 --length 60 --temperature 0.8 --top 10 --top-p 0.9 --seed 8 > two
cmp -s one two && fail "another seed draws the same texts"
[ "$(grep -c '^----------------$' one)" = 3 ] || { cat one; fail "not four texts"; }
printf 'the\n\na dog\n' | "$REGARD" generate -m lm.st --length 5 --json > json || fail "prompts from standard input"
[ "$(grep -c '"text"' json)" = 3 ] || { cat json; fail "not a text per prompt"; }
# how a text grew: what was drawn beside what else was likely, the same text as without
"$REGARD" generate -m lm.st --prompt "the" --length 6 --temperature 0.8 --seed 7 > untraced && "$REGARD" generate -m lm.st --prompt "the" "a dog" --length 6 --temperature 0.8 --seed 7 --trace grown.json > traced || fail "--trace"
head -1 traced | cmp -s - <(head -1 untraced) || fail "a traced text is another"
"$REGARD" show grown.json > drawn && grep -q ANSWER drawn && [ "$(grep -c dropped: drawn)" -ge 5 ] && [ -s grown.2.json ] || { cat drawn; fail "the tree of a text"; }
"$REGARD" generate -m lm.st --prompt "the" --length 4 --temperature 0 --json --trace greedy.json > /dev/null && "$REGARD" show greedy.json | grep -q ANSWER || fail "the tree of a greedy text"
cp lm.st same.st
"$REGARD" generate -m same.st --prompt "the" --trace same.st > log 2>&1 && fail "a trace over the model"
cmp -s lm.st same.st || fail "the model was overwritten"
"$REGARD" generate -m lm.st --length 200 --one-line --prompt the | wc -l | grep -qx 1 || fail "--one-line gave several"
"$REGARD" predict -m lm.st --top 2 "the d" | tail -n1 | grep -qE '^[^	]+	0\.[0-9]+	' || fail "what comes next"

# what its gates did, and weight against distance where it looks at its past
"$REGARD" show -m lm.st --gates "the dog" --json gates.json && grep -q '"forget"' gates.json && grep -q '"cell"' gates.json || fail "no gates"
"$REGARD" train --type lm --cell rnn --look attention $small -t train.txt -m look.st > log 2>&1 || { cat log; fail "lm with a look"; }
"$REGARD" show -m look.st "the dog sees" | grep -q 'Weight against distance' || fail "no curve of weights"
"$REGARD" show -m look.st --gates "the dog" > out 2>&1 && fail "a plain network has gates"
grep -q 'no gates' out || { cat out; fail "gates of a plain network"; }

# how far back it depends on the text
"$REGARD" gradients -m lm.st --text valid.txt --distance 20 --json g.json && grep -q '"title": *"lm: gradients' g.json || fail "gradients of a trained model"
"$REGARD" gradients -m lm.st --text empty-nowhere.txt > out 2>&1 && fail "gradients of no text"
grep -q empty-nowhere.txt out || { cat out; fail "the file is not named"; }

# a text with its blanks, and characters of several bytes
"$REGARD" train --type gpt --vocab-kind characters --normalization exact --context 6 --mini-batch 2 --dim-emb 8 --transformer-heads 2 --layers 1 \
    --after-batches 3 --cpu-threads 1 -t code.txt -m code.st > log 2>&1 || { cat log; fail "gpt on code"; }
grep -q '3 lines, 29 tokens' log || { cat log; fail "blanks of the text were not kept"; }
"$REGARD" generate -m code.st --prompt "" -n 3 --length 50 --seed 3 | iconv -f utf-8 -t utf-8 > /dev/null || fail "part of a character was printed"
"$REGARD" train --type gpt --vocab-kind bpe --dim-vocabs 60 --context 8 --mini-batch 2 --dim-emb 8 --transformer-heads 2 --layers 1 --after-batches 3 \
    --cpu-threads 1 -t train.txt -m bpe.st > log 2>&1 || { cat log; fail "gpt on subwords"; }
"$REGARD" generate -m bpe.st --prompt "the" --length 20 > /dev/null || fail "generate from subwords"

# refusals: 2 for wrong usage, 1 for failures; each names what is wrong
refused() { # code, words of the message, arguments
    local code=$1 words=$2
    shift 2
    "$REGARD" "$@" > out 2>&1
    [ $? = "$code" ] && grep -q -- "$words" out || { cat out; fail "$*"; }
}
refused 2 "which text" train --type lm -m x.st
refused 1 "nowhere.txt" train --type lm -t nowhere.txt -m x.st --after-epochs 1
refused 2 "--bptt" train --type lm -t train.txt --chunk 9 --bptt 3 -m x.st --after-epochs 1
refused 2 "lower --context" train --type gpt -t code.txt --context 500 -m x.st --after-epochs 1
refused 2 "lower --mini-batch" train --type lm -t code.txt --mini-batch 500 -m x.st --after-epochs 1
refused 2 "temperature 0" generate -m lm.st --temperature 0 -n 2 --prompt x
: > empty.txt
refused 1 "empty.txt" train --type lm -t empty.txt -m x.st --after-epochs 1

# damaged text is read all the same, and the training says where; lines of a megabyte are text
printf 'caf\351 noir\nthe dog\000 runs\n' > damaged.txt
cat train.txt >> damaged.txt
"$REGARD" train --type lm $small -t damaged.txt -m x.st > log 2>&1 || { cat log; fail "windows-1252 and NUL"; }
grep -qE 'line 1|1 line' log && grep -qiE 'utf-8|NUL' log || { cat log; fail "damaged lines are not named"; }
{ head -c 1000000 /dev/zero | tr '\0' 'a'; echo; cat train.txt; } > long.txt
"$REGARD" train --type lm $small --after-batches 2 -t long.txt -m x.st > log 2>&1 || { cat log; fail "a line of 1 MB"; }
printf 'ab\n' > tiny.txt
refused 2 "streams" train --type lm --vocab-kind characters --mini-batch 20 -t tiny.txt -m y.st --after-epochs 1
refused 2 "lower --context" train --type gpt --vocab-kind characters --context 64 -t tiny.txt -m y.st --after-epochs 1
[ ! -e y.st ] || fail "a text that is too short left a model"

# the lectures' sentences, word for word
"$REGARD" make longrange --distance 0 -n 60 --valid 0 --test 0 -o zero > /dev/null || fail "make longrange"
for line in "John arrived early at the train station and waited until 2pm for the train" "Rachel was at home when the doorbell rang, she opened the door" "Le chat boit du lait"; do
    cut -f1 zero/train.tsv | grep -qx "$line" || fail "longrange has no '$line'"
done

# the experiment: one row of letters, one of words (too much for a sanitized program)
mkdir -p data/ptb data/tinyshakespeare
gzip -c train.txt > data/ptb/ptb.train.txt.gz
gzip -c valid.txt | tee data/ptb/ptb.valid.txt.gz > data/ptb/ptb.test.txt.gz
gzip -c train.txt > data/tinyshakespeare/input.txt.gz
"$TRAINER" reproduce lm --data data --out runs --quick --only gpt-4x128 ptb-one-layer ptb-3-gram --cpu-threads 1 > table 2> log
[ $? -le 1 ] && grep -q 'gpt-4x128' table && grep -q 'ptb-one-layer' table && grep -qE 'ptb-3-gram +[0-9]' table || { cat table log; fail "reproduce lm"; }
# where looks go and how much truncation leaves of a gradient: the share of the last five words is one where there are no more
"$REGARD" reproduce lm --data data --out runs --quick --only ptb-attention ptb-key-value-15 ptb-bptt-5 --cpu-threads 1 --options="--dim-rnn 12 --dim-emb 8" > table 2> log
[ $? -le 1 ] && grep -qE '^row .* last 5 % +cosine ' table || { cat table log; fail "columns of reproduce lm"; }
column() { awk -v row="$1" -v name="$2" -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } $1 == row { print c ? $c : ""; exit }' runs/comparison.tsv; }
awk -v a="$(column ptb-attention near-5)" 'BEGIN { exit !(a > 0.99999 && a < 1.00001) }' || { cat runs/comparison.tsv; fail "five of five words"; }
awk -v a="$(column ptb-key-value-15 near-5)" -v b="$(column ptb-bptt-5 cosine)" 'BEGIN { exit !(a > 0.05 && a < 0.95 && b > 0 && b < 0.99999) }' ||
    { cat runs/comparison.tsv; fail "shares of weight and gradient"; }
[ -z "$(column ptb-bptt-5 near-5)" ] && [ -z "$(column ptb-attention cosine)" ] || fail "figures of rows that have none"
# long-range sentences: data made, a row trained and judged, cue and cloze in the table
"$TRAINER" reproduce longrange --out longrange --quick --only gpt-5 --cpu-threads 1 > table 2> log
[ $? -le 1 ] && grep -q 'zeroing %' table && grep -q '^gpt-5' table || { cat table log; fail "reproduce longrange"; }
head -n 20 longrange/data-5/valid.txt > lines
"$REGARD" train --type lm $small --cloze lines -t train.txt --valid-sets valid.txt -m lm.st > log 2>&1 || { cat log; fail "--cloze"; }
grep -q 'last tokens predicted' log || { cat log; fail "no share of last tokens"; }
exit $failed

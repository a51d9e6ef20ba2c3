# The table of `regard reproduce multi30k` on a tiny corpus in the same folder form: all rows, read back, resumed, judged.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1

"$REGARD" demo -o demo --sentences 60 --tests 6 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
mkdir -p data/multi30k
for language in en:en de:fr fr:fr; do
    gzip -c demo/train.${language#*:} > data/multi30k/train.${language%:*}.gz
    gzip -c demo/test.${language#*:} > data/multi30k/val.${language%:*}.gz
    cp demo/test.${language#*:} data/multi30k/test_2016_flickr.${language%:*} # not packed: both are read
done
base="--vocab-kind words --dim-vocabs 0 --dim-emb 16 --mini-batch-words 100 --after-batches 2 --valid-freq 2 --save-freq 0 --disp-freq 1 --average 0 --max-length-factor 0.3"
small="$base --dim-rnn 16"
table() { "$REGARD" reproduce multi30k --data data --cpu-threads 1 --options="$small" "$@"; }

# every row trains, the recurrent ones with their options and the transformers with theirs; claims that do not hold give exit 1
"$REGARD" reproduce multi30k --list > list
rows=$(sed -n 's/^# //p' list)
of_type() { sed -n '/^# /{s///;N;/--type '"$1"'/s/\n.*//p}' list; }
recurrent=$(of_type '[^t]')
attentive=$(of_type transformer)
[ $(echo $recurrent $attentive | wc -w) = $(echo $rows | wc -w) ] || fail "rows of no type: $rows"
table --out runs --only $recurrent > out 2> err
[ $? = 1 ] || { fail "claims of two updates held, or worse:"; tail -3 err; }
[ "$(ls runs/*/result.json | wc -l)" = "$(echo "$recurrent" | wc -l)" ] || fail "$recurrent, but: $(ls runs/*/result.json)"
[ "$(wc -l < runs/comparison.tsv)" = $(($(echo "$recurrent" | wc -l) + 1)) ] || fail "comparison.tsv: $(cat runs/comparison.tsv)"
for file in comparison.json bleu-by-length-ende.svg bleu-by-length-enfr.png; do [ -s runs/$file ] || fail "no $file"; done
[ "$(wc -l < runs/enfr-luong.s1/test2016.fr)" = 6 ] || fail "not all of the test set was translated"
"$REGARD" reproduce multi30k --data data --cpu-threads 1 --options="$base" --out attentive --only $attentive > attentive.out 2> err
[ $? = 1 ] && grep -q 'does not hold  ende-transformer: BLEU .* at least 40' attentive.out || fail "no claim: $(cat attentive.out err)"
# the figures of a run are those of the other commands
"$REGARD" evaluate --lowercase --metrics bleu --width 8 --json demo/test.fr < runs/ende-rnnsearch.s1/test2016.de > bleu.json || fail "evaluate"
same() { python3 -c 'import json,sys; a=json.load(open(sys.argv[1]))["score"]; b=json.load(open(sys.argv[2]))["bleu"]; sys.exit(abs(a-b) > 1e-6)' "$1" "$2"; }
same bleu.json runs/ende-rnnsearch.s1/result.json || fail "BLEU is not what regard evaluate says"

# finished rows are read back
table --out runs --only $recurrent > again 2> err
[ $? = 1 ] && cmp -s out again || fail "the second time it came out differently"
grep -q '^==' err && fail "a finished row was trained again"

# another seed stands beside the first
table --out runs --only ende-luong --seed 2 --seeds 1 > out 2> err
grep -qE '^ende-luong .* 2  \+- [0-9.]+$' out && grep -qE '^enfr-luong .* 1$' out || fail "two seeds: $(cat out err)"
rm -r runs/ende-luong.s2

# claims: figures written by hand into the files of every row
"$REGARD" reproduce multi30k --list | sed -n 's/^# //; s/^regard train .* val\.[a-z]* val\.[a-z]* //; p' | while read -r row && read -r options; do
    mkdir -p hand/$row.s1
    printf '%s' "$options" > hand/$row.s1/options
    cp runs/ende-rnnsearch.s1/result.json hand/$row.s1/
done
judge() { "$REGARD" reproduce multi30k --out hand --report > out 2> err; }
bleu() { sed -i "s/\"bleu\": .*/\"bleu\": $2,/" hand/$1.s1/result.json; }
for row in $rows; do bleu $row 61; done
bleu ende-seq2seq 50; bleu enfr-seq2seq 53; bleu part-no-positions 56; bleu part-no-dropout 59; bleu part-cold-post 51
judge || fail "claims that hold: $(cat out err)"
grep -q ' 0 do not, 0 are not measured$' out || fail "claims that hold: $(cat out err)"
bleu score-cosine 58.9
judge && fail "scores 2.1 apart pass for equal"
bleu score-cosine 61; bleu enfr-seq2seq 53.1
judge && fail "attention 7.9 above passes for 8"
bleu enfr-seq2seq 53; bleu ladder-reverse 60.9
judge && fail "reading backwards was worse and passes for better"
bleu ladder-reverse 61; sed -i 's/"perplexity": .*/"perplexity": 1e9,/' hand/part-no-smoothing.s1/result.json
judge && fail "perplexity was better with smoothing and passes for worse"
cp hand/part-transformer.s1/result.json hand/part-no-smoothing.s1/
rm hand/enfr-seq2seq.s1/result.json
judge || fail "what is not measured counts as failed: $(cat out)"
grep -q ' 0 do not, 2 are not measured$' out || fail "without a row: $(tail -4 out)"

# a run that was killed goes on and ends with the same bytes
small="$small --after-batches 20 --mini-batch-words 50 --save-freq 2 --average 2 --early-stopping 0"
table --out whole --only ende-luong > out 2> err
"$REGARD" reproduce multi30k --data data --cpu-threads 1 --options="$small" --out killed --only ende-luong > out 2> err &
child=$!
for _ in $(seq 500); do [ -f killed/ende-luong.s1/model.safetensors.checkpoint.prev ] && break; sleep 0.01; done
kill -9 $child 2> /dev/null
wait $child 2> /dev/null
killed=$?
table --out killed --only ende-luong enfr --judge > out 2> err
grep -q '^ende-luong ' out && ! grep -q '^enfr' out || fail "--judge: $(cat out err)"
grep -q 'resuming' err && fail "--judge trained"
table --out killed --only ende-luong > out 2> err
[ $killed != 137 ] || grep -q 'resuming after' err || fail "a killed run began anew"
cmp -s whole/ende-luong.s1/model.safetensors killed/ende-luong.s1/model.safetensors || fail "a killed run ended with other weights"
steps() { sed -n 's/.*"updates": \([0-9]*\).*/\1/p' $1/ende-luong.s1/result.json; }
[ "$(steps whole)" = 20 ] && [ "$(steps killed)" = 20 ] || fail "updates: $(steps whole) and $(steps killed)"

# other options are not mixed; more epochs go on
small="$small --label-smoothing 0.2"
table --out whole --only ende-luong > out 2> err && fail "other options were taken for the same run"
grep -q 'trained with other options' err || fail "other options: $(cat err)"
table --out whole --only ende-luong --overwrite --quick > out 2> err || fail "quick: $(cat err)"
table --out whole --only ende-luong --overwrite > out 2> err
grep -q '^ende-luong ' out || fail "--overwrite: $(cat out err)"

table --only nonsense > out 2> err
[ $? = 2 ] || fail "a row that does not exist"
"$REGARD" reproduce multi30k --data demo --out none > out 2> err && fail "a folder without the corpus"
grep -q 'has no train.de.gz' err || fail "a folder without the corpus: $(cat err)"
[ $failures = 0 ]

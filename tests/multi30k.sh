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
small="--vocab-kind words --dim-vocabs 0 --mini-batch-words 100 --after-batches 2 --valid-freq 2 --save-freq 0 --disp-freq 1 --average 0 --max-length-factor 0.3"
table() { "$REGARD" reproduce multi30k --data data --cpu-threads 1 --options="$small" "$@"; }

if [ "${BUILD_TYPE:-Release}" = Release ]; then # 18 rows are for the fast build; the others learn enough from one
# every row trains; claims that do not hold give exit 1
table --out runs > out 2> err
[ $? = 1 ] || { fail "claims of two updates held, or worse:"; tail -3 err; }
rows=$("$REGARD" reproduce multi30k --list | grep -c '^# ')
[ "$(ls runs/*/result.json | wc -l)" = "$rows" ] || fail "$rows rows, but: $(ls runs/*/result.json)"
[ "$(wc -l < runs/comparison.tsv)" = $((rows + 1)) ] || fail "comparison.tsv: $(cat runs/comparison.tsv)"
grep -q 'ende-transformer: BLEU .* at least 40' out || fail "no claim: $(cat out)"
grep -q ' 0 are not measured$' out || fail "claims are left over: $(tail -4 out)"
for file in comparison.json bleu-by-length-ende.svg bleu-by-length-enfr.png; do [ -s runs/$file ] || fail "no $file"; done
[ "$(wc -l < runs/enfr-luong.s1/test2016.fr)" = 6 ] || fail "not all of the test set was translated"
# the figures of a run are those of the other commands
"$REGARD" evaluate --lowercase --metrics bleu --width 8 --json demo/test.fr < runs/ende-rnnsearch.s1/test2016.de > bleu.json || fail "evaluate"
same() { python3 -c 'import json,sys; a=json.load(open(sys.argv[1]))["score"]; b=json.load(open(sys.argv[2]))["bleu"]; sys.exit(abs(a-b) > 1e-6)' "$1" "$2"; }
same bleu.json runs/ende-rnnsearch.s1/result.json || fail "BLEU is not what regard evaluate says"

# finished rows are read back; edited figures make the claims hold, and one of them fail
table --out runs > again 2> err
[ $? = 1 ] && cmp -s out again || fail "the second time it came out differently"
grep -q '^==' err && fail "a finished row was trained again"
bleu() { sed -i "s/\"bleu\": .*/\"bleu\": $2,/" runs/$1.s1/result.json; }
for row in $("$REGARD" reproduce multi30k --list | sed -n 's/^# //p'); do bleu $row 61; done
bleu ende-seq2seq 50; bleu enfr-seq2seq 53
table --out runs --report > out 2> err || fail "claims that hold: $(cat out err)"
grep -q ' 0 do not, 0 are not measured$' out || fail "claims that hold: $(tail -4 out)"
bleu score-cosine 58.9
table --out runs --report > out 2> err && fail "scores 2.1 apart pass for equal"
bleu score-cosine 61; bleu enfr-seq2seq 53.1
table --out runs --report > out 2> err && fail "attention 7.9 above passes for 8"
rm runs/enfr-seq2seq.s1/result.json
table --out runs --report > out 2> err || fail "what is not measured counts as failed: $(cat out)"
grep -q ' 0 do not, 2 are not measured$' out || fail "without a row: $(tail -4 out)"

fi

# a run that was killed goes on and ends with the same bytes
small="$small --after-batches 20 --mini-batch-words 50 --save-freq 2 --average 2"
table --out whole --only ende-luong > out 2> err
"$REGARD" reproduce multi30k --data data --cpu-threads 1 --options="$small" --out killed --only ende-luong > out 2> err &
child=$!
for _ in $(seq 500); do [ -f killed/ende-luong.s1/model.safetensors.checkpoint.prev ] && break; sleep 0.01; done
kill -9 $child 2> /dev/null
wait $child 2> /dev/null
killed=$?
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

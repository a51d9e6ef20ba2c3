# Headlines from outside: columns of a TSV file, names that no vocabulary has copied exactly, scored and served like others; experts, reward and
# other vocabularies train; nonsense is refused by name.
# timeout 600
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1

# number TAB "NAME of CITY met NAME on DAY ." TAB "NAME met NAME", every name a new one
news() { # news LINES SEED
    awk -v n="$1" -v seed="$2" 'function name(   s, i) { s = ""; for (i = 0; i < 3; i++) s = s substr("badefigokulameni", 1 + 2 * int(rand() * 8), 2) substr("ktrszwn", 1 + int(rand() * 7), 1); return s }
        BEGIN { srand(seed); split("bonn rome oslo kyiv", city, " "); split("monday friday sunday", day, " ")
                for (i = 1; i <= n; i++) { a = name(); b = name()
                    printf "%d\t%s of %s met %s on %s .\t%s met %s\n", i, a, city[1 + int(rand() * 4)], b, day[1 + int(rand() * 3)], a, b } }'
}
news 600 1 > train.tsv
news 40 2 > valid.tsv
cut -f2 valid.tsv > leads
cut -f3 valid.tsv > titles
common="-t train.tsv --tsv --columns 2,3 --vocab-kind words --dim-vocabs 0 --vocab-min-count 20 --mini-batch 20 --mini-batch-words 0 --cpu-threads 1 --valid-samples 0 --quiet"

"$REGARD" train --type rnnsearch --copy $common --dim-emb 24 --dim-rnn 32 --learn-rate 0.01 --lr-warmup 20 --dropout-rnn 0 --after-batches 240 -m copy.st > log 2>&1 || { cat log; fail "training with --copy"; }
"$REGARD" translate -m copy.st -b 3 < leads > out 2> log || { cat log; fail "translating with copies"; }
same=$(paste out titles | awk -F'\t' '$1 == $2' | wc -l)
[ "$same" -ge 36 ] || { fail "$same of 40 titles with names that nobody knows"; paste out titles | head -5; }
echo "zbigniew of rome met ada on sunday ." | "$REGARD" translate -m copy.st > one 2>&1
[ "$(cat one)" = "zbigniew met ada" ] || fail "zbigniew: $(cat one)"
"$REGARD" score -m copy.st leads out > scores 2> log || { cat log; fail "scoring copies"; }
[ "$(wc -l < scores)" = 40 ] || fail "scores of 40 lines"

# Drawings have copied words by their text, and show which words were copied.
echo "zbigniew of rome met ada on sunday ." | "$REGARD" translate -m copy.st --attention copied.json > log 2>&1 || { cat log; fail "--attention of copies"; }
"$REGARD" show copied.json --name alignment > drawn 2>&1
grep -q '^ *zbigniew ' drawn && ! grep -q unk drawn || { cat drawn; fail "copied words in a drawing"; }
"$REGARD" show copied.json --name copy.switch > drawn 2>&1
grep -q 'copy.switch · 2 x 4' drawn && grep -q 'copied → zbigniew *\(1.00\|0.9\)' drawn && grep -q 'generated → met *\(1.00\|0.9\)' drawn || { cat drawn; fail "the switch"; }

# An empty line stays a line; a very long one is cropped.
{ echo; awk 'BEGIN { for (i = 0; i < 10000; i++) printf "rome "; print "" }'; } | "$REGARD" translate -m copy.st > odd 2> log || { cat log; fail "odd lines"; }
[ "$(wc -l < odd)" = 2 ] || fail "$(wc -l < odd) lines for 2"

# The same pairs as tabs, commas and JSON, columns by number and by name: the same model, and one line out per row.
{ printf 'id,title,text\n'; awk -F'\t' '{ printf "%s,\"%s\",\"%s\"\n", $1, $3, $2 }' train.tsv; } > train.csv
awk -F'\t' '{ printf "{\"text\": \"%s\", \"title\": \"%s\"}\n", $2, $3 }' train.tsv > train.jsonl
plain="--type luong --dim-emb 8 --dim-rnn 8 --vocab-kind words --dim-vocabs 0 --after-batches 3 --cpu-threads 1 --valid-samples 0 --quiet"
"$REGARD" train $plain -t train.tsv --columns 2,3 -m tsv.st > log 2>&1 || { cat log; fail "TSV by its name"; }
"$REGARD" train $plain -t train.csv --valid-sets train.csv --columns text,title -m csv.st > log 2>&1 || { cat log; fail "CSV"; }
"$REGARD" train $plain -t train.jsonl --columns text,title -m jsonl.st > log 2>&1 || { cat log; fail "JSON lines"; }
for kind in csv jsonl; do
    "$REGARD" translate -m $kind.st -b 1 --quiet -i train.$kind --columns text > $kind.out 2> log || { cat log; fail "translating $kind"; }
    cut -f2 train.tsv | "$REGARD" translate -m tsv.st -b 1 --quiet > tsv.out 2> log || cat log
    cmp -s tsv.out $kind.out || fail "$kind: other answers than for TSV"
done
printf '{"text": "a of rome", "title": "a"}\n{"title": "b"}\n' | "$REGARD" translate -m tsv.st --format jsonl --columns text > odd 2> log
[ "$(wc -l < odd)" = 2 ] && grep -q '1 without a text.*line 2' log || { cat log; fail "a row without a text"; }
printf 'text,title\n"a b c d e f",t\n"g h i j k l",\n"m n o p q r",u\n"s","u v w x"\n' > few.csv
"$REGARD" train ${plain/--quiet/} -t few.csv --columns text,title -m few.st > log 2>&1 || { cat log; fail "a few rows"; }
grep -q '1 empty, skipped (line 3)' log && grep -q 'target longer than its source, kept (line 5)' log || { cat log; fail "empty and long titles are counted"; }

# Words of the source are weighed on validation data; the model that is written answers with them.
"$REGARD" tune -m tsv.st --valid-sets valid.tsv --columns 2,3 --beam-size 2 -o plus.st > tuned 2> log || { cat log; fail "tune"; }
"$REGARD" translate -m plus.st -b 2 --quiet < leads > plus.out 2> log || { cat log; fail "translating with a tuned model"; }
now=$("$REGARD" evaluate --metrics rouge1 -- titles < plus.out | sed 's/.* = //')
grep -qE "rouge1 of 40 lines: [0-9.]+ before, $now now" tuned || { cat tuned; fail "the tuned model has ROUGE-1 $now"; }
awk '/before/ { exit !($7 > $5 + 5) }' tuned || { cat tuned; fail "tuning made nothing better"; }
"$REGARD" tune -m tsv.st --valid-sets a b c > log 2>&1 && fail "three files to tune on"
grep -q '3 files given' log || { cat log; fail "three files to tune on"; }

# Baselines and GLEU.
"$REGARD" evaluate --metrics rouge gleu --baseline lead:3 --source leads -- titles > eval 2>&1 || { cat eval; fail "--baseline"; }
grep -q '^ROUGE-1.* = ' eval && grep -q '^GLEU.* = ' eval || { cat eval; fail "ROUGE and GLEU of lead:3"; }

# Experts, the words of the batch, a reward after likelihood.
small="$common --dim-emb 8 --dim-rnn 8 --after-batches 4"
"$REGARD" train --type luong --experts 4 --top-experts 2 $small -m experts.st > log 2>&1 || { cat log; fail "experts"; }
head -1 leads | "$REGARD" translate -m experts.st --quiet --attention experts.json > log 2>&1 || { cat log; fail "--attention of experts"; }
"$REGARD" show experts.json --list > drawn 2>&1
grep -q 'experts.load.*1 x 4' drawn && grep -qE $'\texperts\t.*4 x [0-9]' drawn || { cat drawn; fail "where words went"; }
"$REGARD" show experts.json --style curves > drawn && grep -q '^Load of the experts' drawn && grep -q '^expert 4 ' drawn || { cat drawn; fail "bars of the load"; }
"$REGARD" train --type luong --experts 4 --top-experts 2 $small --valid-sets valid.tsv --valid-freq 2 --valid-metrics perplexity load-cv load-most load-least -m load.st > log 2>&1 || { cat log; fail "load of experts"; }
"$REGARD" report load.st --html load.html > log 2>&1 || { cat log; fail "report of the load"; }
grep -q 'load-cv' load.html && grep -q 'load-least' load.html || fail "no curve of the load"
"$REGARD" train --type luong $small --valid-sets valid.tsv --valid-freq 2 --valid-metrics perplexity load-cv -m none.st > log 2>&1 && fail "the load of no experts"
grep -q 'load-cv.*no mixture of experts' log || { cat log; fail "the load of no experts: message"; }
"$REGARD" train --type luong --output-vocabulary batch:5 $small -m words.st > log 2>&1 || { cat log; fail "--output-vocabulary"; }
"$REGARD" train --type rnnsearch --copy --init-from copy.st --vocabs copy.st --objective reward --reward rouge-l --samples 3 --likelihood 0.02 $common --dim-emb 24 --dim-rnn 32 \
    --learn-rate 0.0001 --after-batches 3 -m reward.st > log 2>&1 || { cat log; fail "--objective reward"; }
grep -q 'init-from' log && fail "warned though --init-from was given"

refuse() { # refuse PATTERN WORDS...
    pattern=$1
    shift
    "$REGARD" train "$@" -m no.st > log 2>&1 && fail "regard train $*: accepted"
    grep -qE -- "$pattern" log || { fail "regard train $*: no /$pattern/ in"; cat log; }
}
refuse 'top-experts 9 of --experts 8' --type luong --experts 8 --top-experts 9 $small
refuse 'character' --type rnnsearch --copy $common --vocab-kind characters --dim-emb 8 --dim-rnn 8
refuse 'reward' --type rnnsearch --objective reward --reward glue $small
refuse 'train.tsv: line 1: 3 columns, and column 4 is wanted' --type rnnsearch $small --columns 2,4
refuse 'columns? .*0' --type rnnsearch $small --columns 0,2
refuse "train.csv: no column is called 'titel'; there are id, title, text" $plain -t train.csv --columns text,titel
refuse 'one table of pairs, not 2 files' $plain -t train.csv train.csv --columns text,title
refuse 'give one of them' $plain -t train.csv --columns text,title --tsv --format csv
printf 'only one\n' > bad.tsv
refuse 'bad.tsv: line 1: 1 column, and column 2 is wanted' --type rnnsearch ${small/train.tsv/bad.tsv} --columns 1,2
"$REGARD" train --type rnnsearch --objective reward --samples 2 ${small/--quiet/} -m warned2.st > log 2>&1 || { cat log; fail "reward without --init-from"; }
grep -q 'warning: --objective reward' log || { cat log; fail "no warning without --init-from"; }
[ $failures = 0 ]

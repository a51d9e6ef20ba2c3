# `regard shortlist` and --shortlist, from parallel text to answers: files, model files, every kind of weights, ensembles; batch and threads
# change nothing; the share of changed answers is printed; score needs no list; what is refused, and in which words.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# Sentences of a made-up language and their mirror image in capitals, the same on every machine.
awk 'BEGIN { split("ba de fi go ku la me ni po ra su ti", w, " "); x = 7
    for (i = 0; i < 600; i++) { s = t = ""
        for (k = 0; k < 2 + i % 7; k++) { x = (x * 75 + 74) % 65537; word = w[1 + x % 12]; s = s (k ? " " : "") word; t = toupper(word) (k ? " " : "") t }
        print s > "a.src"; print t > "a.tgt" } }'
head -n 100 a.src > in
head -n 100 a.tgt > ref
"$TRAINER" train --type transformer -t a.src a.tgt --vocab-kind words --dim-vocabs 0 --dim-emb 64 --transformer-dim-ffn 128 --transformer-heads 4 \
    --enc-depth 2 --dec-depth 2 --mini-batch-words 400 --lr-warmup 20 --learn-rate 0.003 --after-batches 150 --cpu-threads 1 -m m.st > log 2>&1 || { cat log; exit 1; }

"$REGARD" shortlist -m m.st -t a.src a.tgt -o lex --first 2 --best 3 --into ms.st > said || fail "shortlist"
grep -q "36 translations of 27 tokens, 2 frequent ones of 27" said || fail "the sizes are not said: $(cat said)"
awk 'NF != 3 { exit 1 }' lex || fail "a line of $(awk 'NF != 3' lex | head -1)"
grep -q "^BA ba 0.9" lex || fail "BA does not translate ba"
"$REGARD" shortlist -t a.src a.tgt -o words --quiet --best 1 && grep -q "^KU ku" words || fail "words between blanks"

"$REGARD" translate -m m.st -i in > whole
"$REGARD" translate -m m.st -i in --shortlist lex 2 3 --compare-shortlist > some 2> said || fail "translate --shortlist"
changed=$(diff whole some | grep -c '^<')
grep -q "the shortlist changes $changed of 100 answers" said || fail "$changed changed, and it says $(cat said)"
[ "$changed" -le 5 ] || fail "$changed of 100 answers changed"
all="--n-best 3 --word-scores -i in"
"$REGARD" translate -m m.st $all --shortlist lex 2 3 > want
for options in "--cpu-threads 1 --mini-batch 1" "--cpu-threads 3 --mini-batch 7" "--cpu-threads 2 --mini-batch 64"; do
    "$REGARD" translate -m m.st $all --shortlist lex 2 3 $options > found
    cmp want found || fail "other answers with $options"
done
"$REGARD" translate -m ms.st $all > found && cmp want found || fail "the list in the model file is another one"
"$REGARD" translate -m ms.st -i in --shortlist none > found && cmp whole found || fail "--shortlist none"
"$REGARD" quantize -m ms.st -o m8.st --quiet && "$REGARD" translate -m m8.st $all > want && "$REGARD" translate -m m.st --int8 --shortlist lex 2 3 $all > found &&
    cmp want found || fail "int8"
"$REGARD" translate -m m.st m8.st --shortlist lex -i in > found && [ "$(wc -l < found)" = 100 ] || fail "an ensemble"
"$REGARD" score -m m.st in ref --quiet > want && "$REGARD" score -m ms.st in ref --quiet > found && cmp want found || fail "score is over every token"
"$REGARD" translate -m ms.st -i in --prefix TI TI > found && [ "$(grep -c '^TI TI' found)" = 100 ] || fail "a forced beginning"

# A decoder with a recurrence in place of self-attention learns, decodes the same in any batch, and is quantised; beams carry its states.
"$TRAINER" train --type transformer --decoder ssru -t a.src a.tgt --vocab-kind words --dim-vocabs 0 --dim-emb 64 --transformer-dim-ffn 128 --transformer-heads 4 \
    --enc-depth 2 --dec-depth 1 --mini-batch-words 400 --lr-warmup 20 --learn-rate 0.003 --after-batches 250 --cpu-threads 1 -m r.st > log 2>&1 || fail "ssru: $(tail -1 log)"
"$REGARD" translate -m r.st -i in > found
wrong=$(diff found ref | grep -c '^>')
[ "$wrong" -le 60 ] || fail "ssru: $wrong of 100 lines are wrong"
"$REGARD" translate -m r.st $all --int8 > want && "$REGARD" translate -m r.st $all --int8 --mini-batch 1 --cpu-threads 1 > found && cmp want found || fail "ssru in int8"

refused() { # refused WORDS COMMAND...
    words=$1
    shift
    "$@" > said 2>&1 && fail "not refused: $*"
    grep -q -- "$words" said || fail "refused otherwise: $(tail -1 said)"
}
echo "some other words" > bad
refused "bad, line 1: a shortlist has lines" "$REGARD" translate -m m.st -i in --shortlist bad
echo "some other 0.5" > bad
refused "bad: no line is of tokens" "$REGARD" translate -m m.st -i in --shortlist bad
refused "is not a number of tokens" "$REGARD" translate -m m.st -i in --shortlist lex few
refused "needs one: --shortlist FILE" "$REGARD" translate -m m.st -i in --compare-shortlist
refused "which texts" "$REGARD" shortlist -m m.st -t a.src -o x
refused "where to" "$REGARD" shortlist -m m.st -t a.src a.tgt
refused "a.src has 600 lines, ref has 100" "$REGARD" shortlist -m m.st -t a.src ref -o x
refused "is the file that is read" "$REGARD" shortlist -m m.st -t a.src a.tgt -o a.tgt
[ $failed = 0 ] && echo "$changed of 100 answers change; the rest does not depend on batch or threads"
exit $failed

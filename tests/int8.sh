# Weights of 8 bits, from a training to its answers: `regard quantize`, --int8 and --weights; one answer on every instruction set with fused
# multiply-add, for any number of threads and any batch; float and int8 in one ensemble; what is refused, and in which words.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# Sentences of a made-up language and their mirror image, the same on every machine.
awk 'BEGIN { split("ba de fi go ku la me ni po ra su ti", w, " "); x = 7
    for (i = 0; i < 600; i++) { s = t = ""
        for (k = 0; k < 2 + i % 7; k++) { x = (x * 75 + 74) % 65537; word = w[1 + x % 12]; s = s (k ? " " : "") word; t = word (k ? " " : "") t }
        print s > "a.src"; print t > "a.tgt" } }'
head -n 200 a.src > in
head -n 200 a.tgt > ref
"$TRAINER" train --type transformer -t a.src a.tgt --vocab-kind words --dim-vocabs 0 --dim-emb 64 --transformer-dim-ffn 128 --transformer-heads 4 \
    --enc-depth 2 --dec-depth 2 --mini-batch-words 400 --lr-warmup 20 --learn-rate 0.003 --after-batches 150 --cpu-threads 1 -m m.st > log 2>&1 || { cat log; exit 1; }

"$REGARD" quantize -m m.st -o m8.st > said || fail "quantize"
grep -q "int8, [12][0-9]\.[0-9] %" said || fail "the sizes are not said: $(cat said)"
"$REGARD" quantize -m m8.st -o again.st --quiet && cmp m8.st again.st || fail "quantising what is quantised changes it"
"$REGARD" quantize -m m.st -o mb.st --to bf16 --quiet || fail "quantize --to bf16"

# One answer everywhere, to the last digit of n-best lists and word scores.
all="--n-best 4 --word-scores -i in"
"$REGARD" translate -m m8.st $all > want || fail "translate"
[ "$(wc -l < want)" = 800 ] || fail "$(wc -l < want) answers"
for table in neon wide avx2 avx512; do
    "$REGARD" version | grep -q "kernels.*\b$table\b" || continue
    REGARD_CPU=$table "$REGARD" translate -m m8.st $all > found
    cmp want found || fail "other answers with REGARD_CPU=$table"
done
for options in "--cpu-threads 1 --mini-batch 1" "--cpu-threads 3 --mini-batch 7" "--cpu-threads 2 --mini-batch 64"; do
    "$REGARD" translate -m m8.st $all $options > found
    cmp want found || fail "other answers with $options"
done
"$REGARD" translate -m m.st --int8 $all > found && cmp want found || fail "--int8 is not what quantize wrote"
"$REGARD" translate -m m.st --weights int8 $all > found && cmp want found || fail "--weights int8 is not what quantize wrote"

# Tables without fused multiply-add round the float parts otherwise: the text is the same here, the last digits of scores need not be.
"$REGARD" translate -m m8.st -i in > text
for table in plain baseline; do
    "$REGARD" version | grep -q "kernels.*\b$table\b" || continue
    REGARD_CPU=$table "$REGARD" translate -m m8.st -i in > found
    cmp text found || fail "other text with REGARD_CPU=$table"
done

# It still translates; bf16 and its file are the same; float and int8 in one ensemble; the other commands load it.
"$REGARD" translate -m m.st -i in > float
changed=$(diff float text | grep -c '^<')
[ "$changed" -le 10 ] || fail "int8 changes $changed of 200 answers"
"$REGARD" translate -m m.st --weights bf16 $all > one && "$REGARD" translate -m mb.st $all > two && cmp one two || fail "--weights bf16 is not what quantize wrote"
"$REGARD" translate -m m.st m8.st -i in > both && [ "$(wc -l < both)" = 200 ] || fail "an ensemble of float and int8"
"$REGARD" score -m m8.st in ref --quiet > scores && [ "$(wc -l < scores)" = 200 ] || fail "score"
"$REGARD" predict -m m8.st -i in > predicted && [ -s predicted ] || fail "predict"
"$REGARD" show -m m8.st ba de > shown && [ -s shown ] || fail "show"

refused() { # refused WORDS COMMAND...
    words=$1
    shift
    "$@" > said 2>&1 && fail "not refused: $*"
    grep -q "$words" said || fail "refused otherwise: $(tail -1 said)"
}
refused "average the float32 models" "$REGARD" average m8.st m.st -o x.st
refused "average the float32 model" "$REGARD" average m.st m8.st -o x.st
refused "train from the float32 model" "$REGARD" train --type transformer -t a.src a.tgt --vocab-kind words --dim-vocabs 0 --init-from m8.st -m y.st --after-batches 1
refused "is the file that is read" "$REGARD" quantize -m m.st -o m.st
[ $failed = 0 ] && echo "$changed of 200 answers differ from float32; int8 is one answer everywhere"
exit $failed

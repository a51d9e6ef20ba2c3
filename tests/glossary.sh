# --glossary from the command line: every term is in the output, the rest stays, lines without terms keep their bits; batch, threads and n-best;
# what is refused, and in which words.
# release only: test_glossary searches with terms under sanitizers.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# Sentences of a made-up language, word for word with an ending: what the model learns in seconds.
awk 'BEGIN { split("ba de fi go ku la me ni po ra su ti", w, " "); x = 7
    for (i = 0; i < 600; i++) { s = t = ""
        for (k = 0; k < 2 + i % 5; k++) { do { x = (x * 75 + 74) % 65537; word = w[1 + x % 12] } while (index(s, word)); s = s (k ? " " : "") word; t = t (k ? " " : "") word "norm" }
        print s > "a.src"; print t > "a.tgt" } }'
"$TRAINER" train --type transformer -t a.src a.tgt --vocab-kind words --dim-vocabs 0 --dim-emb 64 --transformer-dim-ffn 128 --transformer-heads 4 \
    --enc-depth 2 --dec-depth 2 --mini-batch-words 400 --lr-warmup 20 --learn-rate 0.003 --after-batches 150 --cpu-threads 1 -m m.st > log 2>&1 || { cat log; exit 1; }
head -n 200 a.src > in
printf 'ba\tBarke\nku la\tzwei Worte\nti\tkeep\nRA\tnever\n' > terms.tsv

"$REGARD" translate -m m.st -i in > plain || fail "translate"
for beam in 1 3; do
    "$REGARD" translate -m m.st -i in -b $beam --glossary terms.tsv > found || fail "--glossary at beam size $beam"
    [ "$(wc -l < found)" = 200 ] || fail "200 lines in, $(wc -l < found) out"
    paste in found | awk -F '\t' '
        function times(text, word,  n) { n = 0; text = " " text " "; while ((i = index(text, " " word " ")) > 0) { n++; text = substr(text, i + length(word) + 1) } return n }
        { split("ba|Barke|ku la|zwei Worte|ti|ti", t, "|"); for (k = 1; k < 6; k += 2) { w = times($1, t[k]); want += w; h = times($2, t[k + 1]); have += h < w ? h : w } }
        END { if (want < 80 || have != want) { print have " of " want " terms"; exit 1 } }' || fail "terms are missing at beam size $beam"
    sed 's/zwei Worte/kunorm lanorm/g; s/Barke/banorm/g; s/\bti\b/tinorm/g' found > back
    changed=$(diff back plain | grep -c '^<')
    [ "$changed" -le 10 ] || fail "the rest of $changed of 200 lines is another one at beam size $beam: $(diff back plain | head -4)"
done
grep -vnE '\b(ba|ku la|ti)\b' in | cut -d: -f1 > free
[ -s free ] || fail "every line has a term"
while read -r n; do [ "$(sed -n "${n}p" found)" = "$(sed -n "${n}p" plain)" ] || fail "line $n has no term and changed"; done < free

all="-b 3 --n-best 3 --word-scores -i in --glossary terms.tsv"
"$REGARD" translate -m m.st $all --cpu-threads 1 --mini-batch 1 > want
for options in "--cpu-threads 3 --mini-batch 7" "--cpu-threads 2 --mini-batch 64"; do
    "$REGARD" translate -m m.st $all $options > other && cmp -s want other || fail "other answers with $options"
done
"$REGARD" translate -m m.st m.st -i in -b 1 --glossary terms.tsv > other || fail "an ensemble"
"$REGARD" translate -m m.st -i in -b 1 --glossary terms.tsv > want && cmp -s want other || fail "an ensemble of two alike differs from one"

refuses() { # words, arguments
    local words=$1
    shift
    "$REGARD" translate -m m.st -i in "$@" > out 2> err && fail "accepted: $*"
    grep -qF -- "$words" err || fail "$*: \"$words\" is not in $(cat err)"
}
refuses "nowhere.tsv" --glossary nowhere.tsv
printf 'a\tb\n\tc\n' > bad.tsv
refuses "bad.tsv, line 2: there is no term in front of the target" --glossary bad.tsv
printf 'a\tb\nc\td\na\te\n' > bad.tsv
refuses "bad.tsv, line 3: the term \"a\" is in line 1 already" --glossary bad.tsv
refuses "terms.tsv" --glossary terms.tsv -o terms.tsv
exit $failed

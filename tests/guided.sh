# --guided-alignment: the guided head finds the links that the same training without it does not, by links of a file and by the aligner; it is
# what --alignment follows; an interrupted training resumes to the same bits; what is refused, and in which words.
# release only: it measures what heads have learned; test_word_links runs the readers of links under sanitizers.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }

"$REGARD" make grammar -n 1500 -o a > /dev/null || exit 1
common="-t a.en a.fr --vocab-kind words --dim-vocabs 0 --dim-emb 32 --mini-batch-words 400 --learn-rate 0.004 --lr-warmup 20 --cpu-threads 1 --quiet"
transformer="$common --type transformer --transformer-dim-ffn 64 --transformer-heads 4 --enc-depth 1 --dec-depth 2"
share() { # of the links of all words that the head which --alignment follows finds
    "$REGARD" heads -m "$1" -d a.en a.fr --dry-run --faithfulness 0 --pairs 200 | awk '/weights$/ { if ($2 > best) best = $2 } END { print int(100 * best) }'
}
"$TRAINER" train $transformer --after-batches 60 -m plain.st || fail "train"
for links in a.links auto; do
    "$TRAINER" train $transformer --after-batches 60 --guided-alignment $links --guided-alignment-weight 1 --guided-alignment-layer 1 --guided-alignment-head 2 -m $links.st || fail "train $links"
    [ "$(share $links.st)" -ge $(($(share plain.st) + 15)) ] || fail "the guided head finds $(share $links.st) %, without guiding $(share plain.st) %"
    "$REGARD" heads -m $links.st -d a.en a.fr --faithfulness 0 --pairs 200 -o chosen.st | grep -q "follows decoder.0.cross.weights, head 2" || fail "another head aligns best"
done
"$REGARD" train $common --type luong --dim-rnn 32 --after-batches 10 --guided-alignment auto -m luong.st || fail "luong"

# One step later the decoder has read the token: alignments are better, and --alignment shows them where they belong.
"$TRAINER" train $transformer --after-batches 60 --guided-alignment a.links --guided-alignment-weight 1 --guided-alignment-layer 1 --guided-alignment-head 2 --guided-alignment-shift -m shift.st || fail "train shift"
[ "$(share shift.st)" -ge $(($(share a.links.st) + 3)) ] || fail "one step later the head finds $(share shift.st) %, at once $(share a.links.st) %"
"$REGARD" heads -m a.links.st -d a.en a.fr --dry-run --shift --faithfulness 0 --pairs 200 | awk '/cross.weights, head 2|  2  decoder.0/ { exit $2 > 0.5 }' || fail "--shift finds what is not there"
"$REGARD" heads -m shift.st -d a.en a.fr --faithfulness 0 --pairs 200 -o chosen.st | grep -q "follows decoder.0.cross.weights, head 2" || fail "another head aligns best, shifted"
agree() { # share of hard links of translations that the words of the vocabulary's translations have: the aligner's links of source and answer
    head -100 a.en > few.en
    "$REGARD" translate -m "$1" -b 1 -i few.en --alignment hard > out 2> err || fail "--alignment: $(cat err)"
    sed 's/ ||| .*//' out > few.fr; sed 's/.* ||| //' out > few.links
    "$REGARD" heads -m "$1" -d few.en few.fr --gold few.links --dry-run --faithfulness 0 | awk '/decoder.0.*weights$/ && $2 == 2 { print int(100 * $1) }'
}
for model in shift.st a.links.st chosen.st; do # what --alignment prints is what the head sees in a forced pass of the same words
    [ "$(agree $model)" -ge 95 ] || fail "$model: --alignment and the head agree on $(agree $model) %"
done

# Stopped in the middle and resumed: the same bits.
"$REGARD" train $transformer --after-batches 30 --save-freq 10 --guided-alignment a.links -m whole.st || fail "whole"
"$REGARD" train $transformer --after-batches 10 --save-freq 10 --guided-alignment a.links -m parts.st || fail "the first part"
"$REGARD" train $transformer --after-batches 30 --save-freq 10 --guided-alignment a.links -m parts.st || fail "the second part"
cmp -s whole.st parts.st || fail "resumed, it is another model"

refuses() { # words, arguments
    local words=$1
    shift
    "$REGARD" train "$@" > out 2> err && fail "accepted: $*"
    grep -qF -- "$words" err || fail "$*: \"$words\" is not in $(cat err)"
}
refuses "had guided alignment" $transformer --after-batches 40 -m parts.st
sed '5s/.*/0-0 77-1/' a.links > bad
refuses "bad, line 5: the link 77-1, but the source has" $transformer --guided-alignment bad -m bad.st
head -9 a.links > bad
refuses "bad has 9 lines of links, the corpus has 1500 pairs of lines" $transformer --guided-alignment bad -m bad.st
refuses "--guided-alignment-head 4: decoder.1.cross.weights has 4, counted from 0" $transformer --guided-alignment auto --guided-alignment-head 4 -m bad.st
refuses "--guided-alignment-layer 3: the transformer has 2 that look at the source" $transformer --guided-alignment auto --guided-alignment-layer 3 -m bad.st
refuses "a seq2seq has no attention over its source" $common --type seq2seq --dim-rnn 16 --guided-alignment auto -m bad.st
refuses "cuts anew each epoch" -t a.en a.fr --type transformer --preset tiny --vocab-kind bpe --dim-vocabs 300 --quiet --sentencepiece-alphas 0.1 --guided-alignment auto -m bad.st
exit $failed

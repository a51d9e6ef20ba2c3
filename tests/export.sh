# Models as files of other programs, and back: the same weights bit for bit, the same answers; 8 bits; refusals by name.
# timeout 300
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
data=$SOURCE_DIR/tests/data/import

# Imported, written, imported again: the same model file.
round() { # round NAME TO [FLAG...]
    name=$1 to=$2
    shift 2
    "$REGARD" import "$data/$name" -q -m "$name.st" 2> err || fail "$name: $(cat err)"
    rm -rf there
    "$REGARD" export -m "$name.st" --to "$to" -o there "$@" 2> report || { fail "$name to $to: $(cat report)"; return; }
    grep -q "^there/model\.[a-z]*: [0-9]* bytes$" report || fail "$name to $to: no report: $(cat report)"
    "$REGARD" import there -q -m back.st 2> err || fail "$name to $to and back: $(cat err)"
    cmp -s "$name.st" back.st || fail "$name to $to and back: another model"
}
round marian_bin marian
round marian_bin marian --npz
round marian marian
round marian marian --npz
round marian_hf huggingface
round gpt2 huggingface
round bert huggingface
round bart huggingface
grep -q '"grapheme_chars"' there/config.json || fail "bart: no characters"

# A shortlist goes along; its most frequent tokens move into the list of </s>, so that not the file but the answers are the same.
"$REGARD" import "$data/marian_int8" -q -m listed.st && "$REGARD" export -m listed.st -q -o listed || fail "a model with a shortlist"
[ -s listed/lex.s2t.bin ] && grep -q 'lex.s2t.bin' listed/config.yml || fail "no lex.s2t.bin"
"$REGARD" import listed -q -m listed2.st || fail "a model with a shortlist, back"
for m in listed listed2; do "$REGARD" translate -m $m.st --quiet --beam-size 1 -i "$data/marian_int8/source" -o $m.out; done
cmp -s listed.out listed2.out || fail "answers with the shortlist that was written"
cut -f3 "$data/marian_int8/expected" | cmp -s - listed2.out || fail "answers with the shortlist that was written are not those expected"

# Models trained here, every variant Marian and Hugging Face know: log p and answers are the same, and files written again have the same bytes.
"$REGARD" make grammar -n 60 -o small || exit 1
small="-t small.en small.fr --dim-emb 64 --transformer-dim-ffn 64 --transformer-heads 4 --enc-depth 1 --dec-depth 2 --mini-batch 16 --after-batches 6 --save-freq 0
    --cpu-threads 1 --vocab-kind bpe --dim-vocabs 96"
marian="--decoder-start zero --transformer-positions sinusoidal-spread"
learn() { # learn MODEL FLAG...
    m=$1
    shift
    # shellcheck disable=SC2086
    "$TRAINER" train $small -m "$m" "$@" > log 2>&1 || fail "training $*: $(tail -3 log)"
}
same() { # same MODEL TO
    m=$1
    rm -rf one two
    "$REGARD" export -m "$m" --to "$2" -o one -q 2> err && "$REGARD" import one -q -m again.st 2>> err && "$REGARD" export -m again.st --to "$2" -o two -q 2>> err ||
        { fail "$m to $2: $(cat err)"; return; }
    for f in one/*; do cmp -s "$f" "two/${f#one/}" || fail "$m to $2: written again, $f has other bytes"; done
    for x in "$m" again.st; do
        "$REGARD" score -m "$x" small.en small.fr > score.$x 2> /dev/null
        "$REGARD" translate -m "$x" --quiet --beam-size 3 -i small.en | sed 's/ ⁇ /<unk>/g' > out.$x # of pieces numbered by a table, another sign
    done
    [ -s "score.$m" ] && cmp -s "score.$m" score.again.st || fail "$m to $2: other log p"
    cmp -s "out.$m" out.again.st || fail "$m to $2: other answers"
}
# shellcheck disable=SC2086
{
    learn ssru.st --joint-vocab $marian --transformer-norm post --decoder ssru
    learn zero.st --joint-vocab false $marian --transformer-norm pre
    learn pre.st --joint-vocab false $marian --transformer-norm pre --decoder-start zero-or-end
    learn pressru.st --joint-vocab false $marian --transformer-norm pre --decoder ssru --tied-embeddings false --transformer-ffn-activation swish
    learn halves.st --joint-vocab --transformer-positions sinusoidal-halves --transformer-norm post --transformer-norm-epsilon 1e-5 --transformer-ffn-activation gelu_tanh
}
for m in ssru.st pre.st pressru.st; do same $m marian; done # pre.st comes back with --decoder-start zero: that is what it answers from
"$REGARD" score -m zero.st small.en small.fr 2> /dev/null | cmp -s - score.pre.st && fail "--decoder-start zero-or-end learns what zero does"
same halves.st huggingface

# 8 bits: log p moves a little, and the integers of what is imported are the same when it is written again.
"$REGARD" export -m ssru.st --int8 --calibrate small.en -o eight -q 2> err || fail "int8: $(cat err)"
"$REGARD" import eight -q -m eight.st 2> err || fail "int8 and back: $(cat err)"
"$REGARD" score -m eight.st small.en small.fr 2> /dev/null | paste - score.ssru.st > both
awk '{ d = $1 - $2; if (d < 0) d = -d; s += d; t -= $2 } END { exit !(NR == 60 && s > 0 && s / t < 0.02) }' both || fail "int8: log p: $(head -3 both)"
"$REGARD" export -m eight.st --int8 --calibrate small.en -o eight2 -q && "$REGARD" import eight2 -q -m eight2.st || fail "int8 again"
"$REGARD" score -m eight2.st small.en small.fr 2> /dev/null | paste - both > three
awk '{ d = $1 - $2; if (d > 1e-3 || d < -1e-3) exit 1 } END { exit NR != 60 }' three || fail "int8 written again: $(head -2 three)"
[ "$(stat -c %s eight/model.bin)" -lt $(($(stat -c %s one/model.safetensors) * 2 / 5)) ] || fail "int8: $(stat -c %s eight/model.bin) bytes"

# The vocabulary alone.
"$REGARD" export -m ssru.st --to sentencepiece -o words.model -q && cmp -s words.model eight/vocab.spm || fail "sentencepiece: a file"
"$REGARD" export -m pre.st --to sentencepiece -o words -q && [ -s words/source.model ] && [ -s words/target.model ] || fail "sentencepiece: two files"
"$REGARD" shortlist -v words.model -t small.en small.fr -o lex.s2t --quiet || fail "a vocabulary that was written is not read"

# Refusals: a reason, exit 1 (2 for wrong usage), nothing written.
refused() { # refused STATUS PATTERN FLAG...
    want=$1 pattern=$2
    shift 2
    "$REGARD" export -o refused "$@" > said 2>&1
    [ $? = "$want" ] || fail "$*: exit code: $(cat said)"
    grep -q -- "$pattern" said || fail "$*: $(cat said)"
    [ ! -e refused ] || fail "$*: something was written"
}
refused 1 "decoder-start: token cannot be written for Marian, which has zero" -m halves.st
refused 1 "transformer-positions: sinusoidal-spread cannot be written for Hugging Face MarianMT" -m ssru.st --to huggingface
refused 2 "--calibrate" -m ssru.st --int8
refused 2 "form of Marian" -m halves.st --to huggingface --int8
refused 2 "which model" --to marian
refused 1 "multiples of 64" -m marian_bin.st --int8 --calibrate small.en
refused 1 "two files" -m pre.st --to sentencepiece -o two.model
"$REGARD" quantize -m ssru.st -o q.st --quiet && refused 1 "its weights are in int8" -m q.st
refused 1 "type: gpt cannot be written for Marian, which has transformer" -m gpt2.st
refused 1 "kind bytes is no SentencePiece model" -m gpt2.st --to sentencepiece
# shellcheck disable=SC2086
learn lower.st --joint-vocab $marian --transformer-norm post --normalization lower && refused 1 "form lower" -m lower.st
# shellcheck disable=SC2086
learn copies.st --joint-vocab --vocab-kind words --dim-vocabs 0 $marian --transformer-norm post --experts 2 && refused 1 "experts: 2 cannot be written" -m copies.st
# shellcheck disable=SC2086
learn words.st --joint-vocab --vocab-kind words --dim-vocabs 0 $marian --transformer-norm post && refused 1 "kind words </s> is token 2" -m words.st

# Two engines are asked by bench/marian-engines, where they are installed; elsewhere it says so.
"$SOURCE_DIR/bench/marian-engines" nowhere > said 2>&1
[ $? = 77 ] && grep -q '^skipped: ' said || fail "bench/marian-engines without packages: $(cat said)"
exit $((failures > 0))

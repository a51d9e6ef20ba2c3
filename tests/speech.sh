#!/bin/bash
# Recordings from generator to answers: folders of classes, tables, names as labels; strings written down; what is refused.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
refuse() { # refuse WORDS COMMAND...: it must fail with these words
    local words=$1
    shift
    "$REGARD" "$@" > out 2>&1 && fail "regard $* did not fail"
    grep -qF -- "$words" out || fail "regard $*: '$(tail -1 out)' has no '$words'"
}

"$REGARD" make speech -n 40 --valid 8 --test 4 --shortest 1 --longest 1 --seconds 0.1 --seed 3 -o one > /dev/null || fail "make speech"
mkdir train && tar -C train -xf one/train.tar
# three ways to say what is spoken: a table, a folder per class, the beginning of the name
awk -F'\t' 'NR == 1 { print "label\tsound"; next } { print $2 "\t" $1 | "sort" }' one/train.tsv > train/table.tsv
tail -n +2 one/train.tsv | while IFS=$'\t' read -r file text _; do
    mkdir -p "classes/$text" names && cp "train/$file" "classes/$text/" && cp "train/$file" "names/${text}_anna_$file"
done
tiny="--type classifier --sound-mels 8 --sound-stack 2 --dim-emb 8 --width 8 --attention-dim 8 --after-epochs 2 --cpu-threads 1"
for way in "train/table.tsv" "classes" "names --columns prefix,sound"; do
    rm -f m.st*
    # shellcheck disable=SC2086
    "$REGARD" train $tiny -t $way -m m.st > log 2>&1 || fail "training from $way: $(tail -1 log)"
    "$REGARD" predict -m m.st train/000001.wav train/000002.wav > answers 2> /dev/null || fail "predict from $way"
    [ "$(grep -c '^train/00000[12].wav	[0-9]	' answers)" = 2 ] || fail "answers from $way: $(cat answers)"
    cksum < answers
done > sums
[ "$(sort -u sums | wc -l)" = 1 ] || fail "the three ways learn different things: $(cat sums)"

# a folder and an archive are asked about as a whole; what is broken is said and does not stop the rest
"$REGARD" predict -m m.st train/000001.wav one/valid.tar > answers 2> /dev/null || fail "predict of an archive"
[ "$(wc -l < answers)" = 10 ] || fail "$(wc -l < answers) lines for 9 recordings"
echo "no sound" > bad.wav
"$REGARD" predict -m m.st bad.wav train/000001.wav > answers 2> notes && fail "a broken file is no failure"
grep -q '^bad.wav	-	error' answers && grep -q '^train/000001.wav	[0-9]' answers || fail "broken: $(cat answers)"
grep -q "bad.wav: .*no WAV file" notes && grep -q "1 of 2 recordings could not be read" notes || fail "notes: $(cat notes)"

# what a model heard is drawn: the spectrogram and the attention over time
"$REGARD" show -m m.st train/000001.wav --png heard.png > shown 2>&1 || fail "show: $(tail -1 shown)"
[ -s heard.png ] || fail "nothing drawn: $(cat shown)"
"$REGARD" show -m m.st train/000001.wav > shown 2>&1 && grep -q ' 0.00 ' shown || fail "no axis: $(cat shown)"

# strings, as characters
"$REGARD" make speech -n 30 --valid 6 --test 6 --shortest 1 --longest 3 --seconds 0.1 -o many > /dev/null || fail "make strings"
listen="--type listen --vocab-kind characters --sound-mels 8 --sound-stack 2 --dim-in 8 --width 8 --dim-emb 8 --dim-rnn 8 --mini-batch 8 --cpu-threads 1"
# shellcheck disable=SC2086
"$REGARD" train $listen -t many/train.tsv --valid-sets many/valid.tsv --test-sets many/test.tsv --after-epochs 2 \
    --sound-augment 'warp:0.1 stretch:0.2 noise:0.1 bands:2 frames:2' -m l.st > log 2>&1 || fail "listen: $(tail -1 log)"
for metric in exact error monotone perplexity; do grep -q "test-$metric" log || fail "no test-$metric: $(tail -3 log)"; done
tar -xf many/test.tar 000001.wav
"$REGARD" predict -m l.st 000001.wav --n-best 2 --beam-size 3 > answers || fail "predict of strings"
[ "$(wc -l < answers)" = 3 ] || fail "two answers of a string: $(cat answers)"
"$REGARD" show -m l.st 000001.wav --png l.png --json l.json > /dev/null || fail "show of strings"
[ -s l.png ] && grep -q '"frames"' l.json || fail "no frames in the record"
# and from numbers: the same system, the same path
awk 'BEGIN { print "sequence\ttext"; for (i = 0; i < 12; i++) print i % 3 " 1; " i % 2 " 0.5\t" (i % 3) (i % 2) }' > numbers.tsv
# shellcheck disable=SC2086
"$REGARD" train $listen --in sequence -t numbers.tsv --after-epochs 1 -m n.st > log 2>&1 || fail "sequences: $(tail -1 log)"
echo "2 1; 1 0.5" | "$REGARD" predict -m n.st > answers || fail "predict of a sequence"
[ "$(wc -l < answers)" = 2 ] || fail "a sequence: $(cat answers)"

# other rates and kinds are read by the same model: 44.1 kHz, 24 bits, two channels
python3 - << 'PY' || fail "python"
import math, struct, wave
w = wave.open('stereo.wav', 'wb'); w.setnchannels(2); w.setsampwidth(3); w.setframerate(44100)
w.writeframes(b''.join(struct.pack('<i', int(4e6 * math.sin(i / 9)))[:3] * 2 for i in range(9000)))
PY
"$REGARD" predict -m m.st stereo.wav > answers 2> notes || fail "stereo: $(cat notes)"

# a generator of recordings: pictures of log-mel numbers, and WAV files of them
"$REGARD" train --type gan --in sound -t train --columns sound --sound-mels 8 --sound-frames 12 --noise 4 --generator-layers f8 \
    --discriminator-layers f8 --mini-batch 8 --after-epochs 1 --cpu-threads 1 -m g.st > log 2>&1 && fail "a table among recordings was read"
rm train/table.tsv
"$REGARD" train --type gan --in sound -t train --sound-mels 8 --sound-frames 12 --noise 4 --generator-layers f8 \
    --discriminator-layers f8 --mini-batch 8 --after-epochs 1 --cpu-threads 1 -m g.st > log 2>&1 || fail "gan: $(tail -1 log)"
"$REGARD" generate -m g.st -n 3 --wav made --wav-rounds 4 --png sheet.png > log 2>&1 || fail "generate: $(tail -1 log)"
[ "$(ls made)" = "$(printf '00000%d.wav\n' 1 2 3)" ] && [ -s sheet.png ] || fail "samples: $(ls made)"
"$REGARD" generate -m g.st -n 2 --wav again --wav-rounds 4 > log 2>&1 && cmp -s made/000002.wav again/000002.wav || fail "the same seed, other samples"
"$REGARD" predict -m m.st made > answers 2>&1 && [ "$(wc -l < answers)" = 4 ] || fail "samples are no recordings: $(cat answers)"
"$REGARD" make ring8 --count 60 --valid 0 --test 0 -o ring > /dev/null
"$REGARD" train --type gan -t ring/train.tsv --noise 2 --generator-layers f4 --discriminator-layers f4 --after-epochs 1 -m r.st > /dev/null 2>&1
refuse "its samples are no recordings" generate -m r.st --wav none

printf 'label\tsound\n1\tbad.wav\n2\tbad.wav\n' > bad.tsv
refuse "bad.tsv: line 2: sound: no WAV file" train $tiny -t bad.tsv -m x.st
refuse "128 bands are too many for windows of 25 ms" train --type classifier -t classes --sound-mels 128 -m x.st
refuse "--sound-augment: 'loud:3'" train $tiny -t classes --sound-augment loud:3 -m x.st
refuse "--in sound: system mlp reads" train --type mlp -t classes --in sound -m x.st
[ $failures = 0 ]

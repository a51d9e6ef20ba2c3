#!/bin/bash
# timeout 300
# attack, shift, rank, generate and evaluate --type parzen from the command line: pictures, texts, numbers, and what is refused.
set -u
fail() { echo "FAILED: $*"; exit 1; }
refused() { # WORDS COMMAND...
    local words=$1; shift
    "$@" > out.txt 2> err.txt && fail "was not refused: $*"
    grep -q -- "$words" err.txt || { cat err.txt; fail "no word of '$words': $*"; }
}

"$REGARD" make mnist-m --count 400 --valid 60 --test 60 -o digits || fail make
images=digits/test-images-idx3-ubyte labels=digits/test-labels-idx1-ubyte
[ -f $images ] || { images=$(ls digits/test-images* | head -1); labels=$(ls digits/test-labels* | head -1); }
train=$(ls digits/train-images* | head -1) trainl=$(ls digits/train-labels* | head -1)
"$REGARD" train --type mlp --layers f32 -t $train $trainl -m m.safetensors --after-epochs 8 --early-stopping 0 --cpu-threads 1 --quiet || fail train

# rising sizes, one and several steps; random changes of the same size do less
"$REGARD" attack -m m.safetensors -t $images $labels --epsilon 0.01,0.1,0.3 --steps 1,5 -o adv --sheet sheet.png > table.tsv 2> notes.txt || { cat notes.txt; fail attack; }
[ "$(wc -l < table.tsv)" = 7 ] || fail "rows of the table"
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    { if ($c["error"] + 1e-9 < $c["clean-error"]) bad = 1; if ($c["epsilon"] > 0.2 && $c["noise-changed"] > $c["error"]) bad = 1; last = $c["error"] }
    END { exit bad || last < 0.5 }' table.tsv || { cat table.tsv; fail "errors of the attack"; }
[ -s sheet.png ] || fail "no sheet"
grep -q "row 1 of the sheet" notes.txt || fail "no answers beside the sheet"
# what was written is read back and still fools
"$REGARD" attack -m m.safetensors adv/0.3-5 --epsilon 1/256 --format folder > back.tsv || fail "read back"
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } FNR == NR { back = $c["clean-error"]; next } END { exit back < 0.5 }' back.tsv || { cat back.tsv; fail "8 bits"; }
[ "$("$REGARD" attack -m m.safetensors -t $images $labels --epsilon 0.1 -n 7 | awk -F'\t' 'NR == 2 { print $3 }')" = 7 ] || fail "-n 7 attacks seven"
# two models in one table and over the same axes
"$REGARD" train --type mlp --layers f16 -t $train $trainl -m other.safetensors --after-epochs 2 --early-stopping 0 --cpu-threads 1 --quiet || fail "train another"
"$REGARD" attack -m m.safetensors --beside other.safetensors -t $images $labels --epsilon 0.05,0.2 --plot errors.json > two.tsv || fail "two models"
[ "$(cut -f1 two.tsv | tr '\n' ' ')" = "model m m other other " ] || { cat two.tsv; fail "which model"; }
"$REGARD" show errors.json > drawn.txt && grep -q '━━ m   ━━ other' drawn.txt || { cat drawn.txt; fail "a curve per model"; }
python3 -c 'import json; r = json.load(open("errors.json"))["curves"][0]["series"]; assert [s["x"] for s in r] == [[0, 0.05, 0.2]] * 2 and all(len(s["y"]) == 3 for s in r)' || fail "from no change on"
"$REGARD" attack -m m.safetensors -t $images $labels --epsilon 0.05,0.2 --steps 1,3 -n 20 --plot errors.png > one.tsv && [ -s errors.png ] || fail "figure of an attack"
refused "a name that ends in" "$REGARD" attack -m m.safetensors -t $images $labels --plot errors.xyz
"$REGARD" attack -m m.safetensors -t $images $labels --norm l2 --epsilon 1 --label predicted --json | grep -q '"error"' || fail json

# one input before and after: pictures with and without maps, words
picture=$(ls adv/0.01-1/*/*.png | head -1)
"$REGARD" train --type cnn --layers c3x8s2,c3x8 -t $train $trainl -m c.safetensors --after-epochs 2 --early-stopping 0 --cpu-threads 1 --quiet || fail "train cnn"
for model in m c; do
    "$REGARD" show -m $model.safetensors "$picture" --attack 1/4 --json rec.json || fail "show --attack of $model"
    grep -q '"kind": *"attack"' rec.json && grep -q 'change: blue -1/4, red +1/4' rec.json || fail "record of an attack on $model"
    "$REGARD" show -m $model.safetensors "$picture" --attack 1/4 --png attack-$model.png && [ -s attack-$model.png ] || fail "figure of an attack on $model"
done
[ "$("$REGARD" show rec.json --list | grep -c '1 x 196')" = 2 ] || { "$REGARD" show rec.json --list; fail "two maps of 14 x 14 cells"; }
"$REGARD" show -m c.safetensors "$picture" --attack 1/4 > drawn.txt && grep -q ' before ' drawn.txt && grep -q ' after ' drawn.txt || fail "both answers"
awk 'BEGIN { for (i = 0; i < 40; i++) print (i % 2 ? "good\ta fine film" : "bad\ta poor play") }' > films.tsv
"$REGARD" train --type words --width 4 -t films.tsv -m w.safetensors --after-epochs 5 --early-stopping 0 --cpu-threads 1 --quiet || fail "train words"
"$REGARD" show -m w.safetensors "a fine film" --attack 2 | grep -q 'length of r' || fail "the change at each word"
refused "no size of a change" "$REGARD" show -m w.safetensors "a fine film" --attack 0

# do training and test digits differ? and digits against themselves on textures of another seed
"$REGARD" shift -m m.safetensors $images $images > same.tsv 2> same.txt || fail shift
grep -q "proxy A-distance 0.0000" same.txt || { cat same.txt; fail "a set differs from itself"; }
for by in margin entropy adversarial; do
    "$REGARD" rank -m m.safetensors $images --by $by -n 5 > rank.tsv || fail "rank $by"
    [ "$(wc -l < rank.tsv)" = 6 ] || fail "rank $by: lines"
done

# numbers and samples of them
"$REGARD" make ring8 --count 300 --valid 40 --test 40 -o ring || fail ring
"$REGARD" train --type gan -t ring/train.tsv -m g.safetensors --noise 4 --generator-layers f8 --discriminator-layers f8 --after-epochs 2 --cpu-threads 1 --quiet || fail gan
"$REGARD" generate -m g.safetensors -n 20 > samples.tsv || fail generate
[ "$(wc -l < samples.tsv)" = 21 ] || fail "samples"
"$REGARD" evaluate --type parzen samples.tsv ring/test.tsv --valid ring/valid.tsv | grep -q "nats" || fail parzen
refused "--png and --output" "$REGARD" generate -m g.safetensors --png x.png

# pictures of a generator
"$REGARD" train --type gan -t $train -m p.safetensors --noise 4 --generator-layers f8 --discriminator-layers f8 --after-batches 3 --cpu-threads 1 --quiet || fail "gan of pictures"
"$REGARD" generate -m p.safetensors -n 9 --png s.png -o s || fail "pictures"
[ -s s.png ] && [ "$(ls s | wc -l)" = 9 ] || fail "files of pictures"
refused "where to" "$REGARD" generate -m p.safetensors

# what makes no sense
refused "rising order; give 0.1,0.3" "$REGARD" attack -m m.safetensors -t $images $labels --epsilon 0.3,0.1
refused "no size of a change" "$REGARD" attack -m m.safetensors -t $images $labels --epsilon 0
refused "no size of a change" "$REGARD" attack -m m.safetensors -t $images $labels --epsilon -1
refused "cannot be probed" "$REGARD" attack -m g.safetensors -t ring/test.tsv
refused "which examples" "$REGARD" attack -m m.safetensors
refused "two sets" "$REGARD" shift -m m.safetensors $images
refused "SAMPLES TEST" "$REGARD" evaluate --type parzen samples.tsv
refused "optimizer-epsilon" "$REGARD" train --type mlp -t $train $trainl --epsilon 1e-8
refused "target-sets" "$REGARD" train --type mlp -t $train $trainl --objective domain --after-epochs 1 -m x.safetensors
refused "systems that answer once" "$REGARD" train --type gan -t ring/train.tsv --objective vat -m x.safetensors
echo ok

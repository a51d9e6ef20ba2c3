# Pictures on the command line: imported networks, frozen features and their cache, boxes, broken files, archives in any order, glimpses drawn, demos' data.
# timeout 300
set -u
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
net=$SOURCE_DIR/tests/data/imagenet

"$REGARD" make t60 -n 60 --valid 20 --test 0 -o made > /dev/null 2>&1 || fail "make"
"$REGARD" make scenes -n 12 --valid 0 --test 0 -o scenes > /dev/null 2>&1 || fail "make scenes"
mkdir -p sorted/a sorted/b && tar xf scenes/train.tar && i=0
for p in 0000*.png; do i=$((i + 1)); if [ $((i % 2)) = 0 ]; then mv "$p" sorted/a/; else mv "$p" sorted/b/; fi; done
one=$(ls sorted/a/*.png | head -1)

# An imported network answers, with the names it was given; features alone are refused with what to do.
printf 'ant\nbee\ncat\ndog\nelk\n' > labels.txt
"$REGARD" import "$net/mobilenet_folded.safetensors" --classes labels.txt --size 64 -q -m net.st || fail "import"
"$REGARD" predict -m net.st sorted/a/*.png > said 2> err || fail "predict: $(cat err)"
[ "$(wc -l < said)" = 7 ] || fail "one line per picture: $(cat said)"
"$REGARD" show -m net.st "$one" --class elk > shown 2> err || fail "show --class: $(cat err)"
grep -q elk shown || fail "the class is not named"
"$REGARD" predict -m net.st --class cow "$one" > said 2>&1 && fail "a class that is not there"
"$REGARD" import "$net/squeezenet_features.safetensors" --size 64 -q -m bare.st || fail "import of features"
"$REGARD" predict -m bare.st "$one" > said 2>&1 && fail "features answer"
grep -q -- "--features" said || fail "no pointer: $(cat said)"

# The original file and the imported model are the same features; the cache is used.
"$REGARD" train --type cnn --features net.st --features-cache kept --size 64 -t sorted --cpu-threads 1 --after-epochs 2 --overwrite -m one.st > log 2>&1 || fail "features: $(tail -2 log)"
"$REGARD" train --type cnn --features "$net/mobilenet_folded.safetensors" --features-cache kept --size 64 -t sorted --cpu-threads 1 --after-epochs 2 --overwrite -m two.st > log 2>&1 || fail "features: $(tail -2 log)"
"$REGARD" predict -m one.st --logits sorted/*/*.png > a && "$REGARD" predict -m two.st --logits sorted/*/*.png > b && cmp -s a b || fail "two ways to the same features differ"
"$REGARD" show -m one.st "$one" > shown 2> err || fail "show of features: $(cat err)"
rm net.st && "$REGARD" predict -m one.st "$one" > /dev/null 2>&1 || fail "the model needs the file of its features"

# Broken files: their reason, their line, status 1; the others are answered, in order.
printf '<html>' > page.jpg && : > empty.png && head -c 300 "$one" > cut.png
"$REGARD" predict -m one.st "$one" page.jpg empty.png cut.png gone.png "$one" > said 2> err
[ $? = 1 ] || fail "status of broken pictures"
[ "$(grep -c "$(printf '\t-\terror')" said)" = 4 ] || fail "lines of broken pictures: $(cat said)"
[ "$(cut -f1 said | tr '\n' ' ')" = "input $one page.jpg empty.png cut.png gone.png $one " ] || fail "their order: $(cut -f1 said)"
grep -q "page.jpg: .*web page" err || fail "no reason: $(cat err)"

# The order of an archive does not matter.
(cd sorted && tar cf ../up.tar a/*.png b/*.png && tar cf ../down.tar $(ls -r b/*.png a/*.png))
"$REGARD" predict -m one.st up.tar | sort > a && "$REGARD" predict -m one.st down.tar | sort > b && cmp -s a b || fail "the order of an archive matters"

# Boxes, glimpses, spatial transformers.
train="--cpu-threads 1 --after-epochs 1 --overwrite -t made/train-images-idx3-ubyte"
"$REGARD" train --type cnn --layers "c3x4s2 c3x4" $train -m cam.st > log 2>&1 || fail "cam: $(tail -2 log)"
"$REGARD" predict -m cam.st made/valid-images-idx3-ubyte --box > said || fail "--box"
"$REGARD" evaluate --type boxes made/valid-boxes.tsv < said > judged || fail "evaluate --type boxes"
grep -q "^pictures 20" judged || fail "boxes: $(cat judged)"
"$REGARD" train --type ram --glimpses 3 --patch 8 --scales 2 $train -m ram.st > log 2>&1 || fail "ram: $(tail -2 log)"
grep -q "mean square of the reward" log || fail "no mean square of the reward"
grep -qE "variance of the policy gradient [0-9.e+-]+, without its baseline [0-9.e+-]+ \(120 draws\)" log || fail "no variance: $(tail -3 log)"
# Gradients of twice the reward have four times the variance. Nothing is learned here, so that the draws are the same.
for weight in 1 2; do
    "$REGARD" train --type ram --glimpses 3 --patch 8 --baseline none --reward-weight $weight --learn-rate 1e-12 $train -m ram0.st > log 2>&1 || fail "ram: $(tail -2 log)"
    grep -q "no baseline" log || fail "--baseline none has one: $(tail -3 log)"
    sed -nE 's/.*policy gradient ([0-9.e+-]+),.*/\1/p' log > variance.$weight
done
awk -v a="$(cat variance.1)" -v b="$(cat variance.2)" 'BEGIN { exit !(a > 0 && b / a > 3.99 && b / a < 4.01) }' || fail "variances $(cat variance.1 variance.2)"
"$REGARD" train --type cnn --front stn --front-layers "p2 f4" --layers "f4" --pool flatten $train -m stn.st > log 2>&1 || fail "stn: $(tail -2 log)"
for m in ram stn; do
    "$REGARD" predict -m $m.st made/valid-images-idx3-ubyte --attention $m.json > /dev/null 2> err || fail "$m: $(cat err)"
    "$REGARD" show $m.json > shown 2> err || fail "show $m: $(cat err)"
done

# Fresh pictures in every epoch: killed and resumed, the same bytes; two threads, the same pictures and so the same loss.
fresh="--type cnn --layers c3x4s2,c3x4 --augment ct60 --mini-batch 8 --after-batches 60 --save-freq 5 -t made/train-images-idx3-ubyte --size 28"
"$REGARD" train $fresh --cpu-threads 2 -m whole.st > log 2>&1 || fail "augment: $(tail -2 log)"
"$REGARD" train $fresh --cpu-threads 2 -m killed.st > log 2>&1 &
pid=$!
for _ in $(seq 400); do [ -f killed.st.checkpoint ] && break; sleep 0.01; done
kill -9 $pid 2> /dev/null
wait $pid 2> /dev/null
"$REGARD" train $fresh --cpu-threads 2 -m killed.st > log 2>&1 || fail "augment, resumed: $(tail -2 log)"
cmp -s whole.st killed.st || fail "--augment: resumed to another model"
"$REGARD" train $fresh --cpu-threads 2 --overwrite -m again.st > log 2>&1 || fail "augment, again: $(tail -2 log)"
cmp -s whole.st again.st || fail "--augment: two runs differ"
for t in 1 2; do
    "$REGARD" train $fresh --after-batches 1 --disp-freq 1 --learn-rate 0.0001 --cpu-threads $t --overwrite -m one.st > log 2>&1 || fail "augment, $t threads: $(tail -2 log)"
    grep -o "Cost [0-9.]*" log | head -1 > cost.$t
done
[ -s cost.1 ] && cmp -s cost.1 cost.2 || fail "--augment: threads see other pictures: $(cat cost.1 cost.2)"

# Questions with the hops that were looked at: a row for each.
"$REGARD" make vqa -n 40 --valid 0 --test 0 --objects 2 -o asked > /dev/null 2>&1 || fail "make vqa"
"$REGARD" train --type san --layers c3x4s2,c3x4s2 --width 6 --hidden 5 --score general --centre true --after-batches 2 --cpu-threads 1 -t asked/train.tsv -m san.st > log 2>&1 || fail "san: $(tail -2 log)"
tar xf asked/train.tar 000001.png
"$REGARD" predict -m san.st 000001.png --questions "what shape is the red object ?" "is it at the top ?" --attention san.json > said 2> err || fail "questions: $(cat err)"
[ "$(wc -l < said)" = 3 ] || fail "one line per question: $(cat said)"
for row in "1, hop 1" "1, hop 2: " "2, hop 1" "2, hop 2: "; do grep -q "\"$row" san.json || fail "no map of $row"; done
[ $failures = 0 ] || exit 1
echo "pictures work"

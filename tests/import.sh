# Models of other programs: small ones in the layout of each format, with what PyTorch makes of them (data/import/make.py); refusals; further training.
# With REGARD_DATA=FOLDER the real files of FOLDER/models give their known answers.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
data=$SOURCE_DIR/tests/data/import

# log p of given lines to 1e-4, greedy answers exactly.
for name in marian_hf bart marian ct2 ct2_int8 ct2_int16 ct2_half; do
    "$REGARD" import "$data/$name" -m "$name.st" 2> report || { fail "$name: $(cat report)"; continue; }
    grep -q -- "-> transformer, " report || fail "$name: no report: $(cat report)"
    "$REGARD" score -m "$name.st" "$data/$name/source" "$data/$name/target" 2> err | paste - "$data/$name/expected" > both
    [ "$(wc -l < both)" = 4 ] || fail "$name: score: $(cat err)"
    awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4) exit 1 }' both || fail "$name: log p differ: $(cut -f1,2 both | tr '\t\n' ' ;')"
    "$REGARD" translate -m "$name.st" --quiet --beam-size 1 -i "$data/$name/source" -o out 2> err || fail "$name: translate: $(cat err)"
    cut -f3 "$data/$name/expected" | cmp -s - out || fail "$name: answers differ: $(head -2 out)"
done
[ $failures = 0 ] || exit 1

# A file alone is found with what lies beside it; the same bytes each time.
"$REGARD" import "$data/ct2/model.bin" -q -m again.st || fail "a file by its name"
cmp -s ct2.st again.st || fail "two imports differ"

# Imported models show, average and learn further.
"$REGARD" show -m bart.st "dog" > shown 2> err || fail "show: $(cat err)"
"$REGARD" average marian.st marian.st -o mean.st 2> err || fail "average: $(cat err)"
"$REGARD" translate -m mean.st --quiet --beam-size 1 -i "$data/marian/source" -o out && cut -f3 "$data/marian/expected" | cmp -s - out || fail "the average of a model with itself"

"$REGARD" train --fine-tune marian_hf.st -t "$data/marian_hf/source" "$data/marian_hf/target" -m tuned.st --after-batches 40 --disp-freq 20 --learn-rate 0.01 \
    --lr-warmup 1 --label-smoothing 0 --cpu-threads 1 --save-freq 0 > log 2>&1 || fail "fine-tuning: $(tail -3 log)"
sum() { "$REGARD" score -m "$1" "$data/marian_hf/source" "$data/marian_hf/target" 2> /dev/null | awk '{ s += $1 } END { print s }'; }
awk -v a="$(sum marian_hf.st)" -v b="$(sum tuned.st)" 'BEGIN { exit !(b > a + 50) }' || fail "fine-tuning does not help: $(sum marian_hf.st) $(sum tuned.st)"

# Refusals: a reason, exit 1, and nothing is written.
refused() { # refused PATTERN ARGUMENT
    "$REGARD" import "$2" -m refused.st > said 2>&1
    [ $? = 1 ] || fail "$2: exit code"
    grep -q -- "$1" said || fail "$2: $(cat said)"
    [ ! -e refused.st ] || fail "$2: something was written"
}
mkdir empty && refused "model.safetensors" empty
printf 'hello, world' > text && refused "can be imported" text
printf '\200\002\212\012l\374\234F\371 j\250P\031.' > old.pth && refused "safetensors" old.pth
head -c 5000 "$data/ct2/model.bin" > cut.bin && refused "cut short" cut.bin
head -c 3000 "$data/marian/model.npz" > cut.npz && refused "zip archive" cut.npz
cp -r "$data/ct2" lost && rm lost/source_vocabulary.txt && refused "vocabulary" lost
cp -r "$data/marian_hf" other && sed -i 's/"swish"/"mish"/' other/config.json && refused "mish" other
cp -r "$data/marian" ssru && python3 -c "
import sys
b = open('ssru/model.npz', 'rb').read()
open('ssru/model.npz', 'wb').write(b.replace(b'autoreg: self-attention', b'autoreg: average-attent'))" 2> /dev/null && refused "damaged\|autoreg" ssru
"$REGARD" import "$data/ct2" > said 2>&1
[ $? = 2 ] || fail "no -m is wrong usage"

# Nothing in a pickle is run.
python3 - 2> /dev/null << 'END' && { refused "posix.system" evil.pth; [ ! -e ran ] || fail "a pickle was run"; }
import pickle, zipfile, os
class Evil:
    def __reduce__(self): return (os.system, ("touch ran",))
with zipfile.ZipFile("evil.pth", "w") as z: z.writestr("archive/data.pkl", pickle.dumps({"a": Evil()}, 2))
END

# The real files.
models=${REGARD_DATA:-}/models
if [ -n "${REGARD_DATA:-}" ] && [ -d "$models" ]; then
    "$REGARD" import "$models/us_bart_g2p" -q -m g2p.st || fail "us_bart_g2p"
    printf 'translation\nsquirrel\nBahdanau\n' | "$REGARD" translate -m g2p.st --quiet --beam-size 1 | tr '\n' ' ' > out
    [ "$(cat out)" = "tɹænzlˈAʃən skwˈɜɹᵊl bɑdˈɑnW " ] || fail "us_bart_g2p: $(cat out)"
    "$REGARD" import "$models/aren_ct2_v2" -q -m aren.st || fail "aren_ct2_v2"
    [ "$(echo 'آ ت ز م و ن' | "$REGARD" translate -m aren.st --quiet)" = "a t z m o n" ] || fail "aren_ct2_v2"
    "$REGARD" import "$models/gat_cora_pth/gat_000000.pth" -q -m gat.st || fail "gat_cora_pth"
    "$REGARD" predict -m gat.st --graph "$REGARD_DATA/cora" > nodes || fail "gat_cora_pth: predict"
    zcat "$REGARD_DATA/cora/labels.txt.gz" > labels
    awk -F '\t' 'FILENAME == "labels" { label[FNR - 1] = $1; next } FILENAME == "nodes" { answer[$1] = $2; next } $1 == "test" { n++; right += answer[$2] == label[$2] }
        END { print right / n }' labels nodes "$REGARD_DATA/cora/split.tsv" > accuracy
    [ "$(cat accuracy)" = 0.822 ] || fail "gat_cora_pth: accuracy $(cat accuracy)"
    echo "real files checked"
fi
exit $((failures > 0))

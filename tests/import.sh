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
for name in marian_hf bart marian marian_bin marian_int8 ct2 ct2_int8 ct2_int16 ct2_half; do
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

# Confined or not, the same; a folder of links to files elsewhere is read although nothing else elsewhere is.
mkdir links
for f in "$data"/marian_hf/*; do ln -s "$f" links/; done
"$REGARD" import links -q -m linked.st 2> err || fail "a folder of links: $(cat err)"
"$REGARD" import links -q --no-confine -m free.st || fail "--no-confine"
cmp -s linked.st marian_hf.st && cmp -s free.st marian_hf.st || fail "imports of a folder of links differ"

# Imported models show, average and learn further.
"$REGARD" show -m bart.st "dog" > shown 2> err || fail "show: $(cat err)"
"$REGARD" average marian.st marian.st -o mean.st 2> err || fail "average: $(cat err)"
"$REGARD" translate -m mean.st --quiet --beam-size 1 -i "$data/marian/source" -o out && cut -f3 "$data/marian/expected" | cmp -s - out || fail "the average of a model with itself"

"$REGARD" train --fine-tune marian_hf.st -t "$data/marian_hf/source" "$data/marian_hf/target" -m tuned.st --after-batches 40 --disp-freq 20 --learn-rate 0.01 \
    --lr-warmup 1 --label-smoothing 0 --cpu-threads 1 --save-freq 0 > log 2>&1 || fail "fine-tuning: $(tail -3 log)"
sum() { "$REGARD" score -m "$1" "$data/marian_hf/source" "$data/marian_hf/target" 2> /dev/null | awk '{ s += $1 } END { print s }'; }
awk -v a="$(sum marian_hf.st)" -v b="$(sum tuned.st)" 'BEGIN { exit !(b > a + 50) }' || fail "fine-tuning does not help: $(sum marian_hf.st) $(sum tuned.st)"

# GPT-2: log p of lines (the logits are compared by test_import_language), texts, attention, and further training on shorter windows.
gpt2=$data/gpt2
"$REGARD" import --from gpt2 "$gpt2" -m gpt2.st 2> report || fail "gpt2: $(cat report)"
"$REGARD" score -m gpt2.st < "$gpt2/texts" 2> err | tail -n +2 | cut -f2 | paste - "$gpt2/expected" > both
awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4 || NF != 2) exit 1 } END { exit NR != 4 }' both || fail "gpt2: log p differ: $(cat both err)"
"$REGARD" generate -m gpt2.st --prompt "the dog" --length 30 --seed 3 > text 2> err && iconv -f utf-8 -t utf-8 text > /dev/null || fail "gpt2: generate: $(cat err)"
"$REGARD" show -m gpt2.st "the dog sees" --list 2> err | grep -q 'block.self' || fail "gpt2: show: $(cat err)"
for _ in 1 2 3 4 5 6 7 8; do printf 'the dog sees the cat\nthe old cat\n'; done > cats
"$REGARD" train --fine-tune gpt2.st -t cats --context 8 --mini-batch 4 --after-batches 40 --learn-rate 0.01 --lr-warmup 1 --cpu-threads 1 -m cats.st > log 2>&1 ||
    fail "gpt2: fine-tuning: $(tail -3 log)"
grep -q 'fresh:' log && fail "gpt2: not all parameters were taken: $(grep fresh: log)"
nats() { "$REGARD" score -m "$1" cats 2>&1 > /dev/null | sed -nE 's/.* ([0-9.]+) nats per token.*/\1/p'; }
awk -v a="$(nats gpt2.st)" -v b="$(nats cats.st)" 'BEGIN { exit !(b < a / 2) }' || fail "gpt2: fine-tuning does not help: $(nats gpt2.st) $(nats cats.st)"
"$REGARD" train --type gpt --init-from gpt2.st -v gpt2.st --dim-emb 16 --transformer-dim-ffn 20 --context 8 --mini-batch 4 --after-batches 3 -t cats -m wide.st > log 2>&1 &&
    fail "--init-from of another width was taken"
grep -q 'no tensor has the name and shape' log || fail "--init-from of another width: $(tail -2 log)"

# BERT: hidden tokens, attention, a classifier that starts from it, refusals below.
bert=$data/bert
"$REGARD" import --from bert "$bert" -m bert.st 2> report || fail "bert: $(cat report)"
echo "see the [MASK] !" | "$REGARD" predict -m bert.st --top 2 > out 2> err && grep -q '^hidden' out || fail "bert: hidden tokens: $(cat err)"
"$REGARD" show -m bert.st "the old dog" --list 2> err | grep -q 'block.self' || fail "bert: show: $(cat err)"
for _ in 1 2 3 4; do printf 'good\tthe old dog sees\nbad\ta house\n'; done > classes.tsv
"$REGARD" train --type classifier --encoder transformer --init-from bert.st -t classes.tsv -m classes.st --after-batches 3 --cpu-threads 1 > log 2>&1 || fail "bert: a classifier from it: $(tail -3 log)"
grep -q 'block.1.ff.norm.bias' log && grep -q '^fresh: output.w output.b$' log || fail "bert: what was taken: $(cat log)"

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
# Marian's .bin: edited byte for byte.
edited() { # edited PATTERN SED-COMMAND
    rm -rf edited
    cp -r "$data/marian_int8" edited
    LC_ALL=C sed -i "$2" edited/model.*.bin
    refused "$1" edited
}
edited "autoreg: aan" 's/autoreg: rnn/autoreg: aan/'
edited "dec-cell: sgru" 's/dec-cell: ssru/dec-cell: sgru/'
edited 'has no array "decoder_l2_rnn_Wf"' 's/decoder_l2_rnn_Wf\x00/decoder_l2_rnn_Wg\x00/'
edited 'array "decoder_l2_rnn_Wf_QuantMultB"' 's/decoder_l2_rnn_Wf_QuantMultA/decoder_l2_rnn_Wf_QuantMultB/'
edited "special:model.yml" 's/special:model.yml/special:model.yaX/'
edited "type packed8avx2" 's/\x01\x41\x00\x00\x00\x00\x00\x00/\x01\x18\x00\x00\x00\x00\x00\x00/'
edited "type 0x4901 is not known" 's/\x01\x41\x00\x00\x00\x00\x00\x00/\x01\x49\x00\x00\x00\x00\x00\x00/'
edited "its shape wants" 's/\x0c\x00\x00\x00\x08\x00\x00\x00/\x0c\x00\x00\x00\x88\x00\x00\x00/'
cp -r "$data/marian_int8" edited2 && head -c 7000 "$data"/marian_int8/model.*.bin > edited2/model.enfr.intgemm.alphas.bin && refused "cut short" edited2
cp -r "$data/marian_int8" edited3 && LC_ALL=C sed -i 's/\x05/\x06/' edited3/lex.*.bin && refused "lex.50.50.enfr.s2t.bin: .*checksum" edited3
cp -r "$data/marian_int8" edited4 && cp edited4/srcvocab.enfr.spm edited4/trgvocab.enfr.spm && refused "trgvocab\|target.embedding\|decoder_Wemb\|lex.50" edited4
cp -r "$data/marian_bin" bomb && head -c 200000000 /dev/zero | gzip -9 > bomb/model.enen.bin.gz && refused "grows from" bomb
cp -r "$gpt2" halved && head -n 5 "$gpt2/merges.txt" > halved/merges.txt && refused "cut short" halved
head -c 33 "$gpt2/merges.txt" > halved/merges.txt && refused "cut short" halved
cp -r "$gpt2" twice && sed -i 's/"the": 257/"the": 256/' twice/vocab.json && refused "id 256 has two" twice
cp -r "$gpt2" large && { printf '\000\000\000\200\002\000\000\000'; tail -c +9 "$gpt2/model.safetensors"; } > large/model.safetensors && refused "10737418240 bytes" large
cp -r "$gpt2" scaled && sed -i 's/"n_ctx"/"scale_attn_by_inverse_layer_idx": true, "n_ctx"/' scaled/config.json && refused "scaled otherwise" scaled
cp -r "$bert" shorter && head -n 9 "$bert/vocab.txt" > shorter/vocab.txt && refused "has 9 lines, the model's table 17 rows" shorter
cp -r "$bert" relative && sed -i 's/"absolute"/"relative_key"/' relative/config.json && refused "relative_key" relative
cp -r "$gpt2" headless && rm headless/config.json && refused "config.json" headless
"$REGARD" import --from bart "$gpt2" -m refused.st > said 2>&1
[ $? = 1 ] && grep -q "no model of bart" said || fail "--from another architecture: $(cat said)"
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

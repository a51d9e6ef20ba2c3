# The Python package on Debian's python3, with nothing but the standard library: it trains, translates as the program
# does, gives attention as lists, says what went wrong, and stops and resumes a training.
# release only
set -u
command -v python3 > /dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$TRAINER" demo translate -o demo --sentences 300 --tests 20 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
cat > use.py <<'PYTHON'
import regard, subprocess, sys
small = dict(type="transformer", train_sets=["demo/train.en", "demo/train.fr"], valid_sets=["demo/test.en", "demo/test.fr"],
             dim_vocabs=120, dim_emb=16, transformer_dim_ffn=32, transformer_heads=2, enc_depth=1, dec_depth=1,
             mini_batch_words=200, valid_freq=10, disp_freq=5, cpu_threads=1)
events = []
done = regard.train(tell=events.append, model="m.safetensors", after_batches=20, **small)
kinds = [event["event"] for event in events]
assert done["path"] and kinds.count("log") == 4 and kinds.count("valid") == 2, kinds
assert all(event["loss"] > 0 for event in events if event["event"] == "log")
assert set(next(e for e in events if e["event"] == "valid")["metrics"]) == {"bleu", "chrf", "perplexity"}

lines = open("demo/test.en").read().splitlines()
with regard.Translator("m.safetensors", threads=1) as t:
    ours = t.translate(lines, beam_size=3)
    program = subprocess.run([sys.argv[1], "translate", "-m", "m.safetensors", "-b", "3", "--cpu-threads", "1", "-i", "demo/test.en"],
                             capture_output=True, text=True, check=True).stdout.splitlines()
    assert ours == program, (ours, program)
    assert t.translate(lines[0], beam_size=3) == ours[0]
    assert t.translate([]) == [] and t.translate("") == ""
    assert t.languages == ("en", "fr"), t.languages
    (source, target), rows = t.attention(lines[0])
    assert len(rows) == len(target) and all(len(row) == len(source) for row in rows)
    assert all(abs(sum(row) - 1) < 1e-3 for row in rows)
    assert len(t.answers([lines[0]], n_best=2)[0]["answers"]) == 2
    try:
        t.translate("a", beam_sise=3)
        sys.exit("a wrong setting was taken")
    except regard.Error as error:
        assert "beam-size" in str(error), error
try:
    t.translate("a")
    sys.exit("a closed translator was used")
except regard.Error:
    pass
for wrong in ("nowhere.safetensors", "demo/train.en"):
    try:
        regard.Translator(wrong)
        sys.exit("opened " + wrong)
    except regard.Error as error:
        assert wrong in str(error), error

seen = []  # stops after the first log line, resumes to the same model
try:
    regard.train(tell=lambda e: e["event"] == "log", model="s.safetensors", after_batches=20, **small)
    sys.exit("not stopped")
except regard.Stopped:
    pass
regard.train(tell=lambda e: seen.append(e) or False, model="s.safetensors", after_batches=20, **small)
assert any(e["event"] == "resumed" for e in seen)
with regard.Translator("s.safetensors") as t:
    assert t.translate(lines, beam_size=3) == ours

class Mine(Exception):
    pass
def fails(event):
    raise Mine
try:
    regard.train(tell=fails, model="f.safetensors", after_batches=20, **small)
    sys.exit("an exception was lost")
except Mine:
    pass
print("regard", regard.version())
PYTHON
PYTHONPATH="$SOURCE_DIR/bindings/python" PYTHONDONTWRITEBYTECODE=1 REGARD_LIBRARY="$BUILD_DIR/libregard.so.0" python3 -S use.py "$REGARD"

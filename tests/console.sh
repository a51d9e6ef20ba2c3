# What a person sees of a training: a sign at once, a bar and the time left, lines of at most 80 columns, a summary whose commands can be
# pasted. SIGHUP saves, SIGTERM ends the encoding of a corpus at once, --overwrite begins a new log.
set -u
command -v python3 > /dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1
mkdir bin 'a b' && ln -s "$REGARD" bin/regard

bin/regard demo translate -o demo --sentences 300 --tests 20 --after-batches 1 --cpu-threads 1 > demo.log 2> log || { cat log; exit 1; }

# on a terminal of 80 columns; what came, when, and how it looked goes to files
cat > terminal.py <<'PYTHON'
import fcntl, os, pty, re, struct, sys, termios, time
out, words = sys.argv[1], sys.argv[2:]
child, master = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.environ["TERM"] = "xterm"
    os.environ["NO_COLOR"] = "1"
    os.execv(words[0], words)
began, first, text = time.time(), None, b""
while True:
    try:
        got = os.read(master, 65536)
    except OSError:
        break
    if not got:
        break
    if first is None:
        first = time.time() - began
    text += got
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
shown = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text.decode())
lines = [part for line in shown.split("\n") for part in line.split("\r") if part]
open(out, "w").write("\n".join(lines) + "\n")
wide = [line for line in lines if len(line) > 80 and not line.startswith("  ")]  # commands to paste stay on one line
if wide:
    print("wider than 80 columns:", *wide[:3], sep="\n")
    code = 1
# two seconds on an idle machine; tests run side by side
if first is None or first > float(os.environ.get("FIRST_SIGN", "5")):
    print("the first sign came after", first, "seconds")
    code = 1
sys.exit(code)
PYTHON
small="--type transformer --vocab-kind words --dim-vocabs 0 --dim-emb 16 --transformer-dim-ffn 24 --transformer-heads 2 --enc-depth 1 --dec-depth 1
       --mini-batch-words 100 --cpu-threads 1 --train-sets demo/train.en demo/train.fr --valid-freq 20 --valid-metrics bleu perplexity --beam-size 1"
see() { python3 terminal.py "$@" $small; }

# ended by epochs: a bar with the time left, although nobody said how many updates that is
see seen bin/regard train -m 'a b/epochs.st' --after-epochs 2 --valid-sets demo/test.en demo/test.fr --average 2 --save-freq 20 > why 2>&1 ||
    fail "a training on a terminal: $(cat why; tail -5 seen)"
grep -q '^learning a joint vocabulary (words) from demo/train.en and demo/train.fr' seen || fail "no word about the vocabulary: $(head -3 seen)"
grep -q '^encoding demo/train.en and demo/train.fr' seen || fail "no word about the corpus"
grep -qE '^epoch 2  \[=+>? *\] +[0-9]+ %  [0-9:]+ left  loss [0-9.]+  [0-9.]+k? words/s' seen || fail "no bar: $(grep '^epoch' seen | tail -2)"
grep -qE '^Done after [0-9]+ updates, 0:00:[0-9]+: all epochs are done' seen || fail "no end: $(tail -5 seen)"
grep -qE '^best bleu: [0-9.]+, in a b/epochs' seen || fail "no best metric: $(tail -5 seen)"
grep -qE '^a b/epochs.st holds the (mean of the saved models|last weights): bleu' seen || fail "--average does not say what it kept: $(tail -8 seen)"

# the commands at the end work when they are pasted
sed -n '/^next:/,$p' seen | grep '^  ' > commands
[ "$(wc -l < commands)" = 2 ] || fail "not two commands: $(cat commands)"
grep -q "^  head -3 demo/test.en | bin/regard translate -m 'a b/epochs" commands || fail "the next command: $(cat commands)"
while read -r command; do
    bash -c "$command" > pasted 2>&1 < /dev/null || fail "pasted: $command: $(cat pasted)"
    [ "$(wc -l < pasted)" -ge 3 ] || fail "pasted: $command: $(cat pasted)"
done < commands

# ended by patience: nobody knows when, so the time that has passed
see seen bin/regard train -m patient.st --early-stopping 1 --valid-sets demo/test.en demo/test.fr --after-batches 0 --learn-rate 1e-9 > why 2>&1 ||
    fail "a training that ends by patience: $(cat why; tail -5 seen)"
grep -qE '^epoch 1  [0-9]+:[0-9]+  update [0-9]+  loss' seen || fail "no progress without a limit: $(grep '^epoch' seen | tail -2)"
grep -q 'validation stopped getting better' seen || fail "no end by patience: $(tail -5 seen)"

# the demo's commands, too
sed -n '/^Try it:/,$p' demo.log | grep '^  echo' > commands
while read -r command; do bash -c "$command" > pasted 2>&1 || fail "pasted from the demo: $command: $(cat pasted)"; done < commands
grep -q "bin/regard translate -m demo/model.safetensors" commands || fail "the demo's commands: $(cat commands)"

# elsewhere lines, none wider than 80 columns
bin/regard train -m lines.st $small --after-batches 60 --disp-freq 10 --valid-sets demo/test.en demo/test.fr > log 2>&1 || fail "a training without a terminal"
grep -q 'Ep. 1 : Up. 10 : Cost ' log || fail "no log lines: $(cat log)"
awk 'length($0) > 80 && !/^  /' log | grep . && fail "lines wider than 80 columns"

# the first loss comes with the first update, once; --disp-freq 0 prints none
bin/regard train -m first.st $small --after-batches 3 > log 2>&1 || fail "three updates"
[ "$(grep -c 'Up. ' log)" = 1 ] && grep -q 'Ep. 1 : Up. 1 : Cost ' log || fail "the first update has no line: $(cat log)"
bin/regard train -m first.st $small --after-batches 5 --disp-freq 1 > log 2>&1 || fail "two more"
[ "$(grep -c 'Up. ' log)" = 2 ] && [ "$(grep -c 'Up. 4 :' log)" = 1 ] || fail "each update once: $(cat log)"
bin/regard train -m first.st $small --after-batches 7 --disp-freq 0 > log 2>&1 || fail "two more in silence"
grep -q 'Up. ' log && fail "--disp-freq 0: $(cat log)"
bin/regard train -m soon.st $small --after-batches 400 > log 2>&1 & soon=$!
for _ in $(seq 100); do [ -s log ] && break; sleep 0.02; done
[ -s log ] || fail "nothing is printed within two seconds"
kill "$soon"; wait "$soon"

# --overwrite begins a new log; resuming appends
grep -c '"begin":"new"' lines.st.jsonl | grep -qx 1 || fail "the log does not say where the run begins"
bin/regard train -m lines.st $small --after-batches 70 --disp-freq 10 > log 2>&1 || fail "resuming"
grep -q '"begin":"resumed"' lines.st.jsonl || fail "the log does not say that the run was resumed"
bin/regard train -m lines.st $small --after-batches 20 --disp-freq 10 --overwrite > log 2>&1 || fail "--overwrite"
[ "$(grep -c begin lines.st.jsonl)" = 1 ] && ! grep -q '"step":70' lines.st.jsonl || fail "--overwrite kept the old log: $(cat lines.st.jsonl)"

# what was changed is said when a run is resumed
bin/regard train -m changed.st $small --after-batches 5 > log 2>&1 || fail "five updates"
bin/regard train -m changed.st $small --after-batches 9 --learn-rate 0.01 --transformer-dropout 0.3 --cpu-threads 2 > log 2>&1 || fail "resuming with other settings"
tr '\n' ' ' < log | tr -s ' ' > one.line
grep -q 'changed since: learning rate 0.001 -> 0.01, workers (threads with a share of the batch each) 1 -> 2: from here on it learns with the new settings' one.line ||
    fail "another learning rate: $(cat log)"
grep -q 'transformer-dropout was 0.1, it is 0.3 now' one.line || fail "another dropout: $(cat log)"

# SIGHUP saves and stops, as SIGTERM does; under nohup it is ignored
for how in '' nohup; do
    rm -f hup.st* log # an old log would say 'Up. 3' before there is a training
    $how bin/regard train -m hup.st $small --after-batches 4000 --disp-freq 1 > log 2>&1 &
    child=$!
    for _ in $(seq 500); do grep -qs 'Up. 3 ' log && break; sleep 0.02; done
    kill -HUP $child
    sleep 0.3
    [ -z "$how" ] || { kill -0 $child 2> /dev/null || fail "SIGHUP ended a training under nohup"; kill -TERM $child; }
    wait $child
    code=$?
    [ $code = 0 ] && [ -f hup.st.checkpoint ] || fail "SIGHUP ($how): exit $code, $(ls hup*)"
done

# SIGTERM while the corpus is encoded, and while a vocabulary is learned: at once, nothing is left
mkdir tmp
printf 'a\nb\nc\n' > words.txt
yes 'a b c a b c a b c a b c a b c a b c' | head -n 3000000 > big.en
stop_early() { # what it is doing then, flags
    what=$1
    shift
    rm -f log
    TMPDIR=$work/tmp bin/regard train -m early.st -t big.en big.en --after-batches 10 "$@" > log 2>&1 &
    child=$!
    for _ in $(seq 500); do grep -qs "$what" log && break; sleep 0.02; done
    sleep 0.5
    began=$(date +%s%N)
    kill -TERM $child
    wait $child
    code=$?
    took=$((($(date +%s%N) - began) / 1000000))
    [ $took -lt 4000 ] || fail "SIGTERM while $what: $took ms"
    [ $code = 0 ] && grep -q 'before the first update' log || fail "SIGTERM while $what: exit $code: $(tail -2 log)"
    [ ! -e early.st ] && [ -z "$(ls tmp)" ] || fail "SIGTERM while $what left $(ls early* tmp)"
}
stop_early 'encoding' --vocabs words.txt
stop_early 'learning a joint vocabulary' --dim-vocabs 100
[ $failures = 0 ]

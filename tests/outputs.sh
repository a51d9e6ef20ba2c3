# release only: it looks at files, not at memory; test_base_file.c is sanitized.
# Outputs of every command that writes a file (P6): an input is never destroyed; files appear whole or not at all; devices, FIFOs and links stay.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

"$TRAINER" demo translate -o demo --sentences 60 --tests 5 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
cp demo/model.safetensors m
cp demo/test.en lines
cp demo/test.fr answers
printf '0\t1\n1\t0\n' > q
printf '{"step":1,"loss":3.5}\n{"step":2,"loss":2.5}\n' > log.jsonl
"$REGARD" gradients --units 4 --steps 5 -o record.json || fail "gradients"

# One line per output: a name, then the command with OUT in the place of the file.
outputs() {
    cat << 'END'
translate   translate -m m --quiet --cpu-threads 1 -i lines -o OUT
attention   translate -m m --quiet --cpu-threads 1 -i line --attention OUT
average     average m m -o OUT
heads       heads -m m --data lines answers -o OUT
show-json   show record.json --json OUT
show-html   show record.json --html OUT
gradients   gradients --units 4 --steps 5 -o OUT
report-html report log.jsonl --html OUT
report-json report log.jsonl --json OUT
attend      attend --queries q --attention OUT
END
    [ -e "$BUILD_DIR/regard-figures.so" ] || return
    for f in png svg pdf; do echo "show-$f show record.json --style curves --$f OUT"; done
}
head -1 lines > line

run() { # run OUT WORDS...
    local out=$1
    shift
    # shellcheck disable=SC2046
    timeout 60 "$REGARD" $(echo "$*" | sed "s|OUT|$out|") > said 2>&1
}

# Nodes of our own: a program that replaces them does no harm.
make_devices() {
    mknod null c 1 3 && mknod full c 1 7 && echo > null && return
    rm -f null full
    return 1
} 2> /dev/null

while read -r name words; do
    run new $words || fail "$name: $(cat said)"
    [ -s new ] || fail "$name: nothing was written"
    cp new want

    mkdir -p folder
    echo "as it was" > folder/target
    ln -sf folder/target link
    run link $words || fail "$name to a link: $(cat said)"
    [ -L link ] || fail "$name replaced a link"
    [ -s folder/target ] && ! grep -qx "as it was" folder/target || fail "$name did not write what the link points to"
    rm -rf folder link

    make_devices || echo "no device nodes here: $name is not tried on them"
    if [ -c null ]; then
        run null $words || fail "$name to a null device: $(cat said)"
        [ -c null ] || fail "$name replaced a null device"
        run full $words && fail "$name to a full device went unnoticed"
        [ -c full ] || fail "$name replaced a full device"
    fi
    rm -f null full

    mkfifo pipe
    cat pipe > got &
    run pipe $words || fail "$name to a FIFO: $(cat said)"
    wait $!
    [ -p pipe ] || fail "$name replaced a FIFO"
    [ "$(wc -c < got)" = "$(wc -c < want)" ] || fail "$name through a FIFO: $(wc -c < got) bytes, not $(wc -c < want)"
    rm -f pipe

    # A write that fails half way leaves what was there.
    echo "as it was" > kept
    (ulimit -f 0; run kept $words) && fail "$name: a limit of 0 bytes went unnoticed"
    grep -qx "as it was" kept || fail "$name destroyed a file it could not write"
    rm -f new kept
    ls | grep -q regard-tmp && fail "$name left a temporary file: $(ls)"
done < <(outputs)

# No output takes the place of what is read, by whatever name.
cp lines lines.before
cp m m.before
ln -s lines alias
ln lines hard
refused() {
    "$REGARD" "$@" > said 2>&1 && fail "accepted: $*"
    grep -q 'is the file that is read' said || fail "$*: $(cat said)"
}
for name in lines ./lines alias hard; do
    refused translate -m m -i lines -o $name
    "$REGARD" translate -m m -o $name < lines > said 2>&1 && fail "standard input was replaced"
done
refused translate -m m -i lines -o m
refused translate -m m -i lines --attention lines
refused average m m -o m
refused heads -m m --data lines answers -o answers
refused show record.json --json record.json
refused show -m m --html m the cat
refused report log.jsonl --html log.jsonl
refused attend --queries q --attention q
refused train -t lines answers -m lines
refused predict -m m --attention m
cmp -s lines lines.before || fail "lines changed"
cmp -s m m.before || fail "the model changed"

# A translation that is killed leaves what was there; /dev/stdout comes after what was printed before.
echo "as it was" > out
mkfifo slow
"$REGARD" translate -m m --quiet -i slow -o out &
child=$!
exec 4> slow
cat lines >&4
sleep 0.3
kill -9 $child
exec 4>&-
wait $child 2> /dev/null
grep -qx "as it was" out || fail "a killed translation changed its output"
(echo first; "$REGARD" translate -m m --quiet -i lines -o /dev/stdout) > both
[ "$(head -1 both)" = first ] && [ "$(wc -l < both)" = $((1 + $(wc -l < lines))) ] || fail "/dev/stdout: $(cat both)"
# The log of a training: no file that it reads, whatever the option.
cp lines kept; cp m model; echo "seed: 3" > settings.yml
for input in lines m settings.yml; do
    cp "$input" before
    "$REGARD" train -t lines answers -c settings.yml --init-from m -m new-model --after-batches 1 --overwrite --log-json "$input" > said 2>&1
    [ $? = 2 ] || fail "train --log-json $input: not refused: $(cat said)"
    grep -q -- "--log-json $input is the file that is read" said || fail "train --log-json $input: $(cat said)"
    cmp -s "$input" before || fail "train --log-json $input destroyed it"
done

[ $failures = 0 ]

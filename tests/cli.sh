# The program from outside: exit codes, help from the tables, suggestions, a closed output, the time to start.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

expect() { # expect CODE PATTERN WORDS...: runs regard, compares exit code and the two outputs together
    code=$1 pattern=$2
    shift 2
    "$REGARD" "$@" > "$work/out" 2>&1 < /dev/null
    got=$?
    if [ $got != "$code" ] || ! grep -qE -- "$pattern" "$work/out"; then
        echo "regard $*: exit $got, expected $code and /$pattern/:"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}

expect 0 '^regard [0-9]+\.[0-9]+\.[0-9]+$' --version
expect 0 '^  version ' --help
expect 2 '^usage: regard' 
expect 2 'no command versoin; did you mean version' versoin
expect 2 'no option --hepl; did you mean --help' version --hepl
expect 2 'takes options only' version word
expect 2 'no-such.yml' version -c no-such.yml
expect 0 '^\.TH REGARD 1' --man
expect 0 '^kernels: [a-z0-9]+ \(of plain' version
for command in $("$REGARD" --help | sed -nE '/^commands:/,/^$/s/^  ([a-z-]+) .*/\1/p'); do
    expect 0 "^usage: regard $command" "$command" --help
    expect 0 "^usage: regard $command" help "$command"
done

case $(REGARD_CPU=plain "$REGARD" version) in
*"kernels: plain (of"*) ;;
*) echo "REGARD_CPU=plain was not followed"; failures=$((failures + 1)) ;;
esac

if "$REGARD" --help > /dev/full 2> "$work/out"; then
    echo "a full disk went unnoticed"
    failures=$((failures + 1))
fi

# Under 10 ms to start (the best of 20: other programs run too); sanitizers are slow by nature.
if [ "$BUILD_TYPE" = Release ]; then
    best=999999999
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        begin=$(date +%s%N)
        "$REGARD" --version > /dev/null
        end=$(date +%s%N)
        [ $((end - begin)) -ge $best ] || best=$((end - begin))
    done
    echo "starts in $((best / 1000)) us, date included"
    [ $best -lt 10000000 ] || { echo "that is more than 10 ms"; failures=$((failures + 1)); }
fi
[ $failures = 0 ]

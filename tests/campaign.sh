# tools/campaign can be interrupted and continued: what passed at a commit is not run again, what failed is.
# release only
set -u
fail() { echo "FAILED: $*"; exit 1; }
command -v git > /dev/null || exit 77

# A project of three tests: tools/build does nothing, ctest writes down what it was asked to run.
mkdir -p tree/tools tree/tests/support tree/build/sanitize/tests tree/build/fuzz/tests bin
cp "$SOURCE_DIR/tools/campaign" tree/tools/
cp "$SOURCE_DIR/tests/support/isolated" tree/tests/support/
: > tree/tests/fuzz_x.c
: > tree/tests/serve.sh
printf '#!/bin/sh\n' | tee tree/tools/build tree/tools/tidy > tree/tools/coverage
printf '#!/bin/sh\necho "fuzz $*" >> "$RAN"\n' | tee tree/build/sanitize/tests/fuzz_x > tree/build/fuzz/tests/fuzz_x
cat > bin/ctest <<'END'
#!/bin/sh
case " $* " in
*" -N "*) printf '  Test #1: test_a\n  Test  #2: test_team\n  Test #3: fuzz_x\n' ;;
*)
    echo "$*" | sed 's/--test-dir build.\([a-z]*\) -R .\([a-z_]*\).*/\1 \2/' >> "$RAN"
    case "$*" in *"$BREAK"*) exit 1 ;; esac
    case "$*" in *"$STOP"*) kill -KILL "$(cat "$RUNNER")" ;; esac ;;
esac
exit 0
END
chmod +x bin/ctest tree/tools/* tree/build/*/tests/*
export PATH=$PWD/bin:$PATH RAN=$PWD/ran RUNNER=$PWD/runner BREAK=nothing STOP=nothing REPEATS=2 HOME=$PWD GIT_CONFIG_NOSYSTEM=1
cd tree || exit 1
printf '/build/\n' > .gitignore
save() { git add -A && git -c user.name=t -c user.email=t@t commit -qm "$1" || fail "git"; }
git init -q . && save one
campaign() { : > "$RAN"; tools/campaign "$@" > ../out 2>&1; }

# Killed in the middle, then run again: nothing runs twice but the part it was killed in.
STOP='sanitize -R ^test_a'
(echo "$BASHPID" > "$RUNNER"; : > "$RAN"; exec tools/campaign > ../out 2>&1)
[ "$(grep -c . "$RAN")" = 3 ] || fail "killed after: $(cat "$RAN")"
STOP=nothing
campaign --list
grep -q '^done   release/test_a$' ../out && grep -q '^to do  sanitize/test_a$' ../out || fail "the list: $(cat ../out)"
FUZZ_SECONDS=7 campaign || fail "it does not continue: $(cat ../out)"
grep -q '^release ' "$RAN" && fail "a finished part ran again: $(cat "$RAN")"
for part in 'sanitize test_a' 'sanitize test_team' 'tsan test_team'; do grep -qx "$part" "$RAN" || fail "$part did not run: $(cat "$RAN")"; done
grep -q 'fuzz -max_total_time=7 ' "$RAN" || fail "the time of a fuzz target: $(cat "$RAN")"
[ "$(grep -c schedule-random "$RAN")" = 2 ] || fail "the quick tests are not repeated: $(cat "$RAN")"
tail -n1 ../out | grep -q ', 0 failed, of ' || fail "the summary: $(tail -n1 ../out)"

# All is done for seven seconds; an hour is another matter, and so is another commit.
FUZZ_SECONDS=7 campaign && [ ! -s "$RAN" ] || fail "something ran again: $(cat "$RAN")"
campaign && [ "$(grep -c max_total_time=3600 "$RAN")" = 1 ] && [ "$(grep -c . "$RAN")" = 2 ] || fail "an hour of fuzzing: $(cat "$RAN")"
echo change > file
save two
BREAK='release -R ^test_team'
campaign 'release/*' && fail "a failed part ends with success"
[ "$(grep -c '^FAILED  release/test_team' ../out)" = 1 ] && [ "$(grep -c '^passed  release/test_a' ../out)" = 1 ] || fail "parts: $(cat ../out)"
BREAK=nothing
campaign 'release/*' && [ "$(cat "$RAN")" = 'release test_team' ] || fail "what failed does not run again, alone: $(cat "$RAN")"

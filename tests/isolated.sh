# Every test works in a temporary directory of its own, which is gone afterwards with everything the test left running.
# release only: it tests how tests run
set -u
fail() { echo "FAILED: $*"; exit 1; }
isolated=$SOURCE_DIR/tests/support/isolated

# This very test is started that way: an empty directory that belongs to nobody else.
[ "$(pwd -P)" = "$(cd "$TMPDIR" && pwd -P)" ] || fail "the working directory $PWD is not TMPDIR ($TMPDIR)"
[ -z "$(ls -A)" ] || fail "the directory is not empty: $(ls -A)"
case $PWD in "$BUILD_DIR"*|"$SOURCE_DIR"*) fail "$PWD lies in the source or build tree" ;; esac

# So is every other test of this build.
ctest --test-dir "$BUILD_DIR" --show-only=json-v1 > tests.json || fail "ctest does not list the tests"
names=$(sed -n 's/^      "name" : "\(.*\)",$/\1/p' tests.json | sort)
[ -n "$names" ] || fail "no test is listed"
for name in $names; do
    grep -A1 -F "\"$isolated\"," tests.json | grep -qF "\"$name\"" || fail "$name does not run in a directory of its own"
done

# Two runs never meet; nothing stays, whether the command succeeds, fails, makes its files read-only or is stopped.
one=$(bash "$isolated" one sh -c 'pwd; echo x > file; mkdir closed; echo y > closed/file; chmod 500 closed')
two=$(bash "$isolated" one sh -c 'ls -A; pwd')
[ "$one" != "$two" ] && [ -n "$two" ] || fail "two runs shared $one"
case $one$two in *"
"*) fail "the second run found files: $two" ;; esac
[ ! -e "$one" ] && [ ! -e "$two" ] || fail "$one or $two is still there"
bash "$isolated" two sh -c 'exit 77'
[ $? = 77 ] || fail "the status is lost"

bash "$isolated" slow sh -c 'pwd > "$0/place"; sleep 1000 & echo $! > "$0/sleeper"; wait' "$PWD" &
runner=$!
for _ in $(seq 100); do [ -s sleeper ] && break; sleep 0.05; done
kill -TERM $runner
wait $runner
[ $? = 143 ] || fail "a stopped test does not say so"
[ ! -e "$(cat place)" ] || fail "$(cat place) is still there after SIGTERM"
runs() { ps -o stat= -p "$1" | grep -qv Z; }
for _ in $(seq 100); do runs "$(cat sleeper)" || break; sleep 0.05; done
! runs "$(cat sleeper)" || fail "what the test started still runs"

# The input of a fuzz target that failed is kept, that of one that passed is not.
mkdir -p kept/tests
BUILD_DIR=$PWD/kept bash "$isolated" bad sh -c 'echo bad > fuzz_x.input; exit 1' > /dev/null
BUILD_DIR=$PWD/kept bash "$isolated" good sh -c 'echo good > fuzz_y.input'
[ "$(cat kept/tests/fuzz_x.input)" = bad ] || fail "the failing input is not kept"
[ ! -e kept/tests/fuzz_y.input ] || fail "the input of a passing run is kept"

# A test that takes too long is ended with all it started; in a campaign it is not.
TEST_SECONDS=1 bash "$isolated" long sh -c 'sleep 1000 & echo $! > "$0/sleeper"; wait' "$PWD" > ended
[ $? = 124 ] && grep -q 'long: ended after 1 s' ended || fail "no limit: $(cat ended)"
for _ in $(seq 100); do runs "$(cat sleeper)" || break; sleep 0.05; done
! runs "$(cat sleeper)" || fail "what the long test started still runs"
CAMPAIGN=1 TEST_SECONDS=1 bash "$isolated" long sh -c 'sleep 2; exit 5'
[ $? = 5 ] || fail "a campaign has a limit"

# Demos: every name of the list runs from nothing; what is not there is refused; a verdict that is not as expected is exit code 1.
# With CAMPAIGN=1 every demo is learned to its end.
# release only: test_tasks learns the same small data under sanitizers.
set -u
regard=$REGARD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
fail() { echo "$1"; failed=1; }

"$regard" demo --list > list || fail "no list"
"$regard" demo > alone || fail "demo without a name"
cmp -s list alone || fail "demo without a name is not the list"
[ -z "$(ls | grep -v 'list\|alone')" ] || fail "a list that writes files: $(ls)"
names=$(sed -nE 's/^  ([a-z0-9-]+) .*/\1/p' list)
case " $names " in *translate*) ;; *) fail "translate is not in the list" ;; esac
for name in $names; do
    [ "$name" = translate ] && continue # make demo runs it
    if [ "${CAMPAIGN:-0}" = 1 ]; then
        "$regard" demo "$name" -o "d-$name" > out 2> err || { cat out err; fail "demo $name is not as expected"; }
    else
        "$regard" demo "$name" -o "d-$name" --quick > out 2> err
        code=$?
        [ $code -le 1 ] || { cat err; fail "demo $name: exit $code"; }
    fi
    grep -q "^demo $name: .* was expected: " out || { cat out err; fail "demo $name has no verdict"; }
done
"$regard" demo nothing -o x 2> err && fail "a demo of nothing"
grep -q "demo --list lists them" err || { cat err; fail "which demos are there?"; }
"$regard" demo gta -o x 2> err
[ $? = 2 ] && grep -q "did you mean gat" err || { cat err; fail "gta"; }
exit $failed

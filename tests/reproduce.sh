# Experiments by name: a small Table 1 whose operations, depths and paths must be what theory says.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; cat "$work/out"; exit 1; }

"$REGARD" reproduce > "$work/out" 2>&1 || fail "the list of experiments failed"
grep -q '^table1 ' "$work/out" || fail "table1 is not listed"
"$REGARD" reproduce table2 > "$work/out" 2>&1
[ $? = 2 ] && grep -q 'did you mean table1' "$work/out" || fail "a wrong name is not met with the right one"
"$REGARD" reproduce table1 --repeat 0 --largest 1024 --widest 128 --output "$work/r.json" > "$work/out" 2>&1 || fail "table1 failed"
grep -q 'as predicted$' "$work/out" || fail "table1 does not say that theory holds"
grep -qE '^  self-attention +n\^2 d +n\^2.00 d\^1.00 +n\^2.00 d\^(0.9|1.0)' "$work/out" || fail "the exponents of self-attention"
grep -qE '^  recurrent +n +15 +31 +63 +127' "$work/out" || fail "the paths of recurrence"
grep -qE '^    dilated +log_k n +3 +4 +4 +5' "$work/out" || fail "the paths of dilated convolution"
"$REGARD" show "$work/r.json" > "$work/out" 2>&1 || fail "the record cannot be shown"

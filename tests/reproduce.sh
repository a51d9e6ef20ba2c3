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
"$REGARD" reproduce table1 --repeat 0 --largest 64 --widest 64 --heads 1,2,8 > "$work/out" 2>&1 || fail "table1 --heads failed"
grep -qE '^ +8 +8 +[0-9.]+ +1\.0' "$work/out" && grep -q 'within a tenth of 1 head: holds' "$work/out" || fail "eight heads cost as much as one"
"$REGARD" reproduce table1 --repeat 0 --largest 64 --widest 64 --heads 3 > "$work/out" 2>&1 && fail "64 columns in three heads"
grep -q 'not a multiple' "$work/out" || fail "64 columns in three heads"
"$REGARD" reproduce scores --longest 32 --widest 64 --repeat 1 -o "$work/scores.tsv" --runs "$work" > "$work/out" 2>&1
[ $? -le 1 ] && grep -qE '^  additive +[0-9.]+' "$work/out" && grep -q 'smaller .*: holds' "$work/out" || fail "reproduce scores"
[ "$(wc -l < "$work/scores.tsv")" = $((1 + 2 * $("$REGARD" scores | grep -cE '^  [a-z_]+ '))) ] || fail "a line per score and size: $(wc -l < "$work/scores.tsv")"
printf 'row\tseed\tpublished\tbleu\tx\nscore-general\t1\t0\t37.5\t1\nende-rnnsearch\t1\t0\t38\t1\nende-rnnsearch\t2\t0\t38.5\t1\n' > "$work/comparison.tsv"
"$REGARD" reproduce scores --longest 16 --widest 64 --repeat 0 --runs "$work" > "$work/out" 2>&1 || fail "reproduce scores with BLEU"
grep -q 'as good     BLEU 37.50 and 38.25: holds' "$work/out" || fail "BLEU beside the scores"
"$REGARD" show "$work/r.json" > "$work/out" 2>&1 || fail "the record cannot be shown"

# `regard distill` on the built-in grammar: the teacher's best answers by chrF, a student with a recurrent decoder, int8 and a shortlist in its
# file, the table; taking up what an interrupted run had done; what is refused.
# release only
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
"$REGARD" make grammar -n 700 --seed 1 -o g > /dev/null || fail "no sentences"
for l in en fr; do head -600 g.$l > t.$l; tail -60 g.$l > v.$l; done
"$TRAINER" train --type transformer -t t.en t.fr --vocab-kind words --dim-vocabs 0 --dim-emb 64 --transformer-dim-ffn 128 --transformer-heads 4 --enc-depth 2 --dec-depth 2 \
    --mini-batch-words 600 --lr-warmup 20 --learn-rate 0.003 --after-batches 120 --cpu-threads 1 -m teacher.st > log 2>&1 || { cat log; exit 1; }
small="dim-emb=32 transformer-dim-ffn=64 transformer-heads=2 enc-depth=2 dec-depth=1 mini-batch-words=600 lr-warmup=20 learn-rate=0.004 after-batches=60 valid-freq=30"
distill() { "$REGARD" distill -m teacher.st -t t.en t.fr --valid-sets v.en v.fr -o student.st --n-best 3 --cpu-threads 1 "$@"; }
distill --set $small > table 2> log || { cat log; fail "distill"; }
[ "$(wc -l < student.st.distilled)" = 600 ] || fail "$(wc -l < student.st.distilled) lines were translated"
[ "$(grep -cE '^(teacher|student).* [0-9.]+x +[0-9.]+$' table)" = 4 ] || fail "not a table of four rows: $(cat table)"

# What is learned is nearer to the references than what the teacher answers first, and every line is one of its three answers.
"$REGARD" translate -m teacher.st -i t.en -b 3 --n-best 3 2> log > answers
awk -F ' \\|\\|\\| ' '{ print $1 "\t" $2 }' answers | sort > all
awk '{ print NR - 1 "\t" $0 }' student.st.distilled | sort | uniq > learned
[ -z "$(comm -13 all learned)" ] || fail "not among the answers: $(comm -13 all learned | head -2)"
"$REGARD" translate -m teacher.st -i t.en -b 3 > first 2> log
chrf() { "$REGARD" evaluate --metrics chrf t.fr < "$1" | sed "s/.*= *//;s/ .*//"; }
awk -v a="$(chrf student.st.distilled)" -v b="$(chrf first)" 'BEGIN { exit !(a > b) }' || fail "chrF $(chrf student.st.distilled), first answers $(chrf first)"

# The student is an int8 model with a list and a recurrence, a fraction of the size; the same command again has nothing left to learn.
"$REGARD" translate -m student.st -i v.en --compare-shortlist > out 2> said && grep -q "the shortlist changes" said || fail "no shortlist in the file: $(cat said)"
[ "$(wc -c < student.st)" -lt $(($(wc -c < teacher.st) / 3)) ] || fail "the student has $(wc -c < student.st) bytes"
cp student.st before
distill --set $small > again 2> log || fail "a second time"
grep -q "taking the teacher's translations" log || fail "it translates again"
cmp student.st before || fail "the second run ends elsewhere"

refused() { # refused WORDS COMMAND...
    words=$1
    shift
    "$@" > said 2>&1 && fail "not refused: $*"
    grep -q -- "$words" said || fail "refused otherwise: $(tail -1 said)"
}
refused "NAME=VALUE" distill --set dim-emb
refused "dim-embb" distill --set dim-embb=3
refused "which teacher" "$REGARD" distill -t t.en t.fr --valid-sets v.en v.fr -o x.st
refused "is judged on" "$REGARD" distill -m teacher.st -t t.en t.fr -o x.st
refused "is the file that is read" "$REGARD" distill -m teacher.st -t t.en t.fr --valid-sets v.en v.fr -o teacher.st
refused "t.en has 600 lines, v.fr has 60" "$REGARD" distill -m teacher.st -t t.en v.fr --valid-sets v.en v.fr -o x.st
[ $failed = 0 ] && cat table
exit $failed

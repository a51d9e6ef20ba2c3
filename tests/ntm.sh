#!/bin/bash
# The Turing machine from the outside: train, predict, show what the heads did, and refusals.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }

small="--bits 3 --max-length 3 --units 16 --memory-rows 12 --memory-width 5 --cpu-threads 1"
for task in "copy" "repeat-copy --max-repeats 2" "recall --min-length 2"; do
    "$REGARD" train --type ntm --task $task $small --sequences 40 --valid-freq 20 --valid-length 5 --valid-count 2 -m m.safetensors --overwrite > log 2>&1 || { cat log; fail "train $task"; }
    grep -q 'bits-3' log && grep -q 'wrong-5' log || fail "$task: no bits at the length it learned, or no wrong bits at a longer one"
    "$REGARD" predict -m m.safetensors --sequences 2 > out 2> err || { cat err; fail "predict $task"; }
    head -n1 out | grep -q '^sequence	step	target	answer	wrong$' || fail "$task: heading of the answers"
    grep -q 'bits wrong' err || fail "$task: no sum of wrong bits"
    grep -q ' of 2 sequences lost' err || fail "$task: no share of lost sequences"
    grep -q 'lost-3' log && grep -q 'lost-5' log || fail "$task: validation does not tell the share of lost sequences"
done
"$REGARD" train --type ntm --task copy $small --controller feed-forward --read-heads 2 --write-heads 2 --sequences 40 --mini-batch 4 --valid-freq 0 -m two.safetensors > log 2>&1 || fail "two heads each"
"$REGARD" predict -m two.safetensors --length 4 --seed 5 --attention heads.json > out 2> /dev/null || fail "predict --attention"
[ "$(wc -l < out)" = 5 ] || fail "length 4 asks for 4 answers"
"$REGARD" predict -m two.safetensors --length 4 --seed 5 > again 2> /dev/null
cmp -s out again || fail "watching the heads changed the answers"
[ "$("$REGARD" show -l heads.json | grep -c '^[0-9]*	\(read\|write\)	.*	9 x 12$')" = 4 ] || fail "not a map of 9 steps and 12 slots for each of four heads"
"$REGARD" show heads.json --name write > /dev/null || fail "show in the terminal"

# The record is of the sequence that was asked for: its targets are those of the table.
"$REGARD" predict -m two.safetensors --length 4 --seed 5 --sequences 6 > table 2> err || fail "predict six"
worst=$(awk -F'\t' 'NR > 1 { n[$1] += $5 } END { for (s = 0; s < 6; s++) if (n[s] > most) { most = n[s]; w = s } print most }' table)
for of in 0 3 5 worst; do
    "$REGARD" predict -m two.safetensors --length 4 --seed 5 --sequences 6 --attention of.json --attention-of $of > again 2> err || { cat err; fail "--attention-of $of"; }
    cmp -s table again || fail "--attention-of $of changed the answers"
    n=$(grep -o '"title": *"[^"]*sequence [0-9]*' of.json | grep -o '[0-9]*$')
    [ $of = worst ] || [ "$n" = $of ] || fail "--attention-of $of recorded sequence '$n'"
    cp of.json "of-$of.json"
done
[ "$(awk -F'\t' -v n="$n" 'NR > 1 && $1 == n { s += $5 } END { print s }' table)" = "$worst" ] || fail "sequence $n is not the worst, which has $worst wrong bits"
cmp -s of-0.json of-5.json && fail "sequences 0 and 5 have the same record"

# The coding is stored: what is asked of a model is what it learned.
"$REGARD" train --type ntm --task copy $small --coding paper --zero-vectors 0 --sequences 20 --valid-freq 0 -m paper.safetensors > log 2>&1 || fail "--coding paper"
for m in paper two; do # steps of the record's input with a 1 in the last column: none, or the four of the answer
    "$REGARD" predict -m $m.safetensors --length 4 --attention $m.json > /dev/null 2>&1 || fail "predict with $m.safetensors"
    "$REGARD" show $m.json --name input --numbers | grep -o '[0-9] → 5' | sort | tr -d '\n' > $m.marks
done
[ ! -s paper.marks ] && [ "$(cat two.marks)" = '5 → 56 → 57 → 58 → 5' ] || fail "marks '$(cat paper.marks)' and '$(cat two.marks)'"
grep -aq 'coding: \\"paper\\"' paper.safetensors && grep -aq 'coding: \\"answer-mark\\"' two.safetensors || fail "the file does not tell the coding"

if [ -e "$BUILD_DIR/regard-figures.so" ]; then
    "$REGARD" show heads.json --svg a.svg --png a.png || fail "figures"
    grep -q '</svg>' a.svg || fail "a.svg is not whole"
    "$REGARD" show heads.json --style matrix --name input --svg b.svg || fail "a matrix of the input"
    "$REGARD" show heads.json --style memory --name input --svg c.svg 2> err && fail "a figure of a memory without slots"
    grep -q 'not of a memory' err || fail "it does not say why"
fi
"$REGARD" train --type lstm-copy --task copy --layers 1 --units 8 --bits 3 --max-length 3 --sequences 10 --valid-freq 0 -m lstm.safetensors > log 2>&1 || fail "the baseline"
"$REGARD" predict -m lstm.safetensors --attention l.json > out 2> /dev/null || fail "predict by the baseline"
"$REGARD" show -l l.json | grep -q '	output	' || fail "the record of the baseline has no output"

refuse() { # words of the message, then the command
    local words=$1; shift
    "$REGARD" "$@" > out 2> err && fail "accepted: $*"
    grep -q -- "$words" err || { cat err; fail "no '$words': $*"; }
}
refuse 'copy' train --type ntm --task sort
refuse 'recall needs two items' train --type ntm --task recall -m no.safetensors
refuse 'heads' train --type ntm --read-heads 0 -m no.safetensors
refuse 'lstm' train --type ntm --controller gru
refuse 'max-length is 20; the least is --min-length, 30' train --type ntm --min-length 30 -m no.safetensors
refuse 'sequences' predict -m two.safetensors --sequences 0
refuse 'no option --graph' predict -m two.safetensors --graph .
refuse 'worst, or the number of a sequence, 0 .. 2' predict -m two.safetensors --sequences 3 --attention a.json --attention-of 3
refuse 'worst, or the number' predict -m two.safetensors --attention a.json --attention-of best
refuse 'at most 10000' predict -m two.safetensors --length 10001
refuse 'at most 10000' train --type ntm --max-length 10001 -m no.safetensors
refuse 'learned --task copy --coding answer-mark, this run asks for --task copy --coding paper' train --type ntm --coding paper $small --controller feed-forward --read-heads 2 --write-heads 2 --sequences 80 --mini-batch 4 -m two.safetensors
refuse 'no.safetensors' predict -m no.safetensors
refuse 'of another model' train --type ntm --task copy $small --units 17 --sequences 60 -m two.safetensors # a checkpoint of another machine
exit $failed

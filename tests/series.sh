#!/bin/bash
# Language models of numbers from the outside: trained, resumed, asked for forecasts and scored; refusals that name what is wrong.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }

# a row per line; a stopped run goes on with the same bytes; better than saying as now
awk 'BEGIN { u = 0; for (t = 0; t < 1300; t++) { x = (t * 7919 + 13) % 1009 / 1009 - 0.5; u = 0.8 * u + x; printf "%.3f\n", 20 + 6 * sin(6.2831853 * t / 24) + u } }' > all.num
head -1000 all.num > train.num; tail -300 all.num > test.num
numbers="--type lm --numbers -t train.num --valid-share 0.1 --test-sets test.num --layers 1 --dim-emb 8 --dim-rnn 24 --mini-batch 5 --chunk 24 --bptt 30 --learn-rate 0.01 --valid-freq 0 --valid-epochs 10 --save-freq 7 --cpu-threads 1"
"$REGARD" train $numbers --after-epochs 30 -m num.st > log 2>&1 || { cat log; fail "training on numbers"; }
awk '/^test-mse/ { m = $2 } /^test-as-now/ { exit !(m < 0.5 * $2) }' log || { cat log; fail "numbers: no better than saying as now"; }
"$REGARD" train $numbers --after-batches 40 --after-epochs 0 -m part.st > log 2>&1 && "$REGARD" train $numbers --after-epochs 30 -m part.st > log 2>&1 || { cat log; fail "numbers: resuming"; }
cmp -s num.st part.st || fail "numbers: a resumed run differs"
"$REGARD" score -m num.st < test.num > scored 2> log && tail -1 log | grep -q '^300 lines, mse ' || { cat log; fail "score of numbers"; }
said=$(tail -1 log | sed 's/.*mse \([0-9.e-]*\),.*/\1/'); "$REGARD" train $numbers --after-epochs 30 --overwrite -m again.st 2>&1 | grep -q "^test-mse $said" || fail "score and test of numbers differ: $said"
head -50 test.num | "$REGARD" predict -m num.st > next && [ "$(wc -l < next)" = 51 ] && [ "$(head -1 next)" = next ] || fail "predict of numbers"
"$REGARD" generate -m num.st --prompt "$(head -48 test.num | tr '\n' ' ')" --length 5 > five && [ "$(wc -l < five)" = 6 ] || fail "generate of numbers"
head -48 test.num | "$REGARD" predict -m num.st | tail -1 | cmp -s - <(sed -n 2p five | cut -f3) || fail "the first forecast is not what predict expects"
"$REGARD" generate -m num.st --prompt "1 2 x" > log 2>&1 && fail "a prompt that is no number"
grep -q "prompt 1, row 3: 'x' is not a number" log || { cat log; fail "a prompt that is no number: message"; }
"$REGARD" generate -m num.st --prompt "1 2" -n 3 > log 2>&1 && fail "three samples of a forecast"
"$REGARD" train --type gpt --numbers -t train.num -m no.st > log 2>&1 && fail "gpt of numbers"
grep -q -- '--numbers: gpt reads words' log || { cat log; fail "gpt of numbers: message"; }
{ cat train.num; echo "1 2"; } > bad.num
"$REGARD" train --type lm --numbers -t bad.num -m no.st > log 2>&1 && fail "a row of two numbers"
grep -q 'bad.num: line 1001: more than 1 numbers' log || { cat log; fail "a row of two numbers: message"; }

exit $failed

#!/bin/bash
# Copy is learned whatever the seed: one seed of 5,000 sequences in a quick run; the campaign takes ten seeds of 5,000
# and of 50,000, and three of each with AVX2. A seed has settled when it loses fewer than 1 in 100 new sequences of
# length 20, a third of which hold a vector of zeros; after 50,000 no more than 1 in 200 is lost at any length.
# release only
# timeout 14400
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }

learn() { # seeds, sequences, sequences judged
    "$REGARD" reproduce ntm --seeds "$1" --sequences "$2" --judged "$3" --baseline-sequences 0 > log 2>&1 ||
        fail "$*: exit status $?"
    grep -E 'settled|over|lost' log
    grep -q "^ntm: $1 of $1 seeds settled$" log || fail "$*: not every seed settled"
}

if [ -z "${CAMPAIGN:-}" ]; then
    learn 1 5000 200
    grep -q ' of [0-9]* with zeros' log || fail "no sequences with vectors of zeros were judged"
    exit $failed
fi
learn 10 5000 1000
learn 10 50000 1000
awk '/% lost, at most/ && !/ 00 / && $(NF - 1) > 0.5 { bad = 1 } END { exit bad }' log ||
    fail "a seed lost more than 1 of 200 sequences"
if "$REGARD" version | grep -q 'of .*avx2'; then
    export REGARD_CPU=avx2
    learn 3 5000 1000
    learn 3 50000 1000
fi
exit $failed

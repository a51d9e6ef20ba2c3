#!/bin/bash
# regard show --gates of every recurrent translator: gates of encoder and decoder, a column for each word; none of others.
set -u
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
"$REGARD" make grammar -n 60 --seed 3 -o g > /dev/null 2>&1 || fail "make"
small="-t g.en g.fr --dim-emb 8 --after-batches 2 --mini-batch 8 --cpu-threads 1 --overwrite --valid-freq 0 -m m.st"
sees() { # sees TYPE OPTIONS: NAMES of maps
    local type=$1 options=$2 name
    shift 2
    "$REGARD" train --type "$type" $small $options > log 2>&1 || { fail "$type: $(tail -2 log)"; return; }
    "$REGARD" show -m m.st --gates --beam-size 1 "the cat sleeps" --json g.json > out 2>&1 || { fail "$type: show: $(tail -2 out)"; return; }
    for name in "$@"; do grep -q "\"$name\"" g.json || fail "$type has no map $name: $(grep -o '"name": *"[a-z.]*"' g.json | sort -u | tr '\n' ' ')"; done
}
sees rnnsearch "--dim-rnn 8" encoder.update encoder.back.update encoder.reset decoder.update decoder.candidate
sees luong "--dim-rnn 8 --enc-depth 2" encoder.forget encoder.cell decoder.forget decoder.output
sees seq2seq "--dim-rnn 8 --enc-depth 2" encoder.forget decoder.input decoder.cell
sees gnmt "--dim-rnn 8 --enc-depth 3 --dec-depth 3" encoder.forget encoder.back.forget decoder.forget
sees deep-att "--dim-rnn 8 --layers 3,2" encoder.forget encoder.back.forget decoder.forget
"$REGARD" train --type transformer $small --transformer-heads 2 --enc-depth 1 --dec-depth 1 > log 2>&1 || fail "transformer: $(tail -2 log)"
"$REGARD" show -m m.st --gates "the cat sleeps" > out 2>&1 && fail "a Transformer has gates"
grep -q "no gates" out || fail "gates of a Transformer: $(cat out)"
[ $failures = 0 ] || exit 1
echo "gates are shown"

# `regard heads --profile`: one line per head of self-attention, and its numbers are those of the record of the same line.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cd "$work" || exit 1

"$TRAINER" demo translate -o demo --sentences 60 --tests 6 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
"$REGARD" train --type transformer --dim-emb 16 --transformer-dim-ffn 16 --transformer-heads 2 --enc-depth 2 --dec-depth 1 -t demo/train.en demo/train.fr \
    --vocab-kind words --dim-vocabs 0 --after-batches 3 --valid-freq 0 --cpu-threads 1 -m model.st > log 2>&1 || { cat log; exit 1; }
head -1 demo/test.en > one.en
"$REGARD" heads --profile -m model.st --data one.en > out 2> err || fail "$(cat err)"
grep -q '^6 heads of [1-7] kinds: ' out && [ "$(grep -c 'encoder.self' out)" = 4 ] || fail "heads: $(cat out)"
"$REGARD" show -m model.st --json record.json "$(cat one.en)" > log 2>&1 || fail "no record: $(cat log)"
python3 - << 'END' || fail "other numbers than in the record: $(cat out)"
import json, math
record = json.load(open("record.json"))
rows = [line.split() for line in open("out") if "encoder.self" in line]
maps = [m for m in record["maps"] if m["name"] == "encoder.self"]
assert len(maps) == len(rows) == 4
for m in maps:
    w, n = m["weights"], len(m["weights"])
    distance = sum(w[i][j] * abs(i - j) for i in range(n) for j in range(n)) / n
    entropy = -sum(x * math.log2(x) for row in w for x in row if x > 0) / n
    following = sum(w[i][i + 1] for i in range(n - 1)) / (n - 1)
    line = next(r for r in rows if r[8] == str(m["head"]) and r[-1] == str(m["layer"]))
    for got, want in zip(line[:4], (distance, entropy, None, following)):
        assert want is None or abs(float(got) - want) < 0.0151, (m["head"], line, want)
END
"$REGARD" train --type rnnsearch --dim-emb 8 --dim-rnn 8 -t demo/train.en demo/train.fr --vocab-kind words --dim-vocabs 0 --after-batches 1 --valid-freq 0 \
    --cpu-threads 1 -m other.st > log 2>&1 || { cat log; exit 1; }
"$REGARD" heads --profile -m other.st --data one.en > out 2> err
[ $? = 2 ] && grep -q 'no self-attention' err || fail "a model without self-attention: $(cat out err)"
# a model that has not learned the grammar: nothing can be counted, which is no success
"$REGARD" reproduce order -m demo/model.safetensors --sentences 5 > out 2> err
[ $? = 1 ] && grep -q 'of 5 new sentences are translated as the grammar does' out || fail "order: $(cat out err)"
"$REGARD" reproduce order > out 2> err
[ $? = 2 ] || fail "order without a model"

# --tensorboard writes event files that TensorBoard's format describes: an independent decoder reads every record, checks both
# sums, and finds the numbers of the JSON log. A resumed run begins a file that takes back what came later.
# release only
set -u
command -v python3 > /dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$TRAINER" demo translate -o demo --sentences 300 --tests 20 --after-batches 1 --cpu-threads 1 > log 2>&1 || { cat log; exit 1; }
train() {
    "$REGARD" train --train-sets demo/train.en demo/train.fr --valid-sets demo/test.en demo/test.fr --dim-vocabs 120 --dim-emb 16 \
        --transformer-dim-ffn 16 --transformer-heads 2 --enc-depth 1 --dec-depth 1 --mini-batch-words 200 --valid-freq 10 --disp-freq 5 \
        --save-freq 5 --cpu-threads 1 -m m.safetensors --tensorboard runs/a "$@" > log 2>&1 || { cat log; exit 1; }
}
mkdir runs
train --after-batches 20
train --after-batches 30
cat > read.py <<'PYTHON'
import glob, json, math, struct, sys

table = []                                   # CRC-32C, from its definition: division by the polynomial 0x1EDC6F41, bits reflected
for n in range(256):
    value = int("{:08b}".format(n)[::-1], 2) << 24
    for _ in range(8):
        value = (value << 1) ^ (0x1EDC6F41 if value & 0x80000000 else 0)
        value &= 0xFFFFFFFF
    table.append(int("{:032b}".format(value)[::-1], 2))
def masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
check = b"123456789"
crc = 0xFFFFFFFF
for byte in check:
    crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
assert crc ^ 0xFFFFFFFF == 0xE3069283        # the published check value

def fields(data):
    at, out = 0, {}
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]; at += 1
            value |= (byte & 127) << shift; shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 2:
            n = varint(); value = data[at:at + n]; at += n
        else:
            n = {1: 8, 5: 4}[kind]; value = data[at:at + n]; at += n
        out[key >> 3] = value
    return out

files = sorted(glob.glob("runs/a/events.out.tfevents.*"))
assert len(files) == 2, files
seen, starts = {}, []
for path in files:
    data, at, first = open(path, "rb").read(), 0, True
    while at < len(data):
        (n,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at:at + 8])
        body = data[at + 12:at + 12 + n]
        assert struct.unpack_from("<I", data, at + 12 + n)[0] == masked(body)
        at += 16 + n
        event = fields(body)
        assert 1.6e9 < struct.unpack("<d", event[1])[0] < 1e11
        if first:
            assert event[3] == b"brain.Event:2"
        first = False
        if 7 in event:
            assert fields(event[7])[1] == 1
            starts.append(event[2])
        if 5 in event:
            value = fields(fields(event[5])[1])
            seen[value[1].decode(), event[2]] = struct.unpack("<f", value[2])[0]
    assert at == len(data)
assert starts == [0, 20], starts
count = 0
for line in map(json.loads, open("m.safetensors.jsonl")):
    pairs = {}
    if "loss" in line:
        pairs = {"train/loss": line["loss"], "train/learning_rate": line["lr"], "train/gradient_norm": line["grad_norm"]}
    for name, value in line.get("valid", {}).items():
        pairs["valid/" + name] = value
    for tag, value in pairs.items():
        assert math.isclose(seen[tag, line["step"]], value, rel_tol=1e-6, abs_tol=1e-30), (tag, line["step"])
        count += 1
assert count >= 6 * 3 + 3 * 3, count
print(count, "numbers found again")
PYTHON
python3 -S read.py || exit 1
python3 - <<'PYTHON' # TensorBoard's own reader, where it is installed
try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    raise SystemExit
a = EventAccumulator("runs/a"); a.Reload()
assert "train/loss" in a.Tags()["scalars"]
PYTHON

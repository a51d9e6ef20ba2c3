#!/usr/bin/python3
"""Writes small models in the layout of Marian's .bin with an SSRU decoder, as Firefox's translators have it, and what they answer.

    marian_bin   float32, one vocabulary for both sides, files packed by gzip
    marian_int8  intgemm8 with activation scales, two vocabularies, a binary shortlist

Each folder holds `source`, `target`, and `expected`: the log-probability of each target line, and the greedy answer (of marian_int8: among the tokens of its
shortlist). The forward pass and the cutting of lines are written here in plain Python, in double. Vocabularies are those of marian_hf. Needs Python alone.
"""
import gzip, math, os, random, struct

random.seed(6)
D, FF, H, LAYERS = 8, 12, 2, 2
SOURCE = ["the old dog sees the cat", "a house", "the cat sees a old house", "dog dog dog"]
FRENCH = ["le vieux chien voit le chat", "une maison", "le chat voit une vieille maison", "chien"]


# ------------------------------------------------------------------------------------------------------------------- vocabulary
def varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        shift += 7
        at += 1
        if b[at - 1] < 128:
            return n, at


def fields(b):
    at = 0
    while at < len(b):
        key, at = varint(b, at)
        if key & 7 == 2:
            n, at = varint(b, at)
            yield key >> 3, b[at : at + n]
            at += n
        elif key & 7 == 5:
            yield key >> 3, struct.unpack("<f", b[at : at + 4])[0]
            at += 4
        elif key & 7 == 1:
            at += 8
        else:
            n, at = varint(b, at)
            yield key >> 3, n


def pieces_of(path):  # of a SentencePiece model: (text, score) in order of ids
    out = []
    for key, value in fields(open(path, "rb").read()):
        if key == 1:
            f = dict(fields(value))
            out.append((f[1].decode(), f.get(2, 0.0)))
    return out


def cut(pieces, line):  # the likeliest cut of a unigram model; every character of these lines has a piece
    text = "\u2581" + line.replace(" ", "\u2581")
    number = {p: (i, s) for i, (p, s) in enumerate(pieces) if i > 1}
    best = [(0.0, None, None)] + [(-1e9, None, None)] * len(text)
    for end in range(1, len(text) + 1):
        for begin in range(end):
            if text[begin:end] in number and best[begin][0] > -1e9:
                i, s = number[text[begin:end]]
                best[end] = max(best[end], (best[begin][0] + s, begin, i), key=lambda b: b[0])
    ids, at = [], len(text)
    while at:
        ids.insert(0, best[at][2])
        at = best[at][1]
    return ids


def join(pieces, ids):
    return "".join(pieces[i][0] for i in ids if i != 0).replace("\u2581", " ").strip()


# -------------------------------------------------------------------------------------------------------------------- reference
def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def matrix(rows, cols, size=0.5):
    return [[f32(random.gauss(0, size)) for _ in range(cols)] for _ in range(rows)]


def times(x, w, b=None):  # rows of x, w (in, out)
    out = [[sum(a * c for a, c in zip(row, col)) for col in zip(*w)] for row in x]
    return [[y + c for y, c in zip(row, b[0])] for row in out] if b else out


def norm(x, gain, bias):
    out = []
    for row in x:
        m = sum(row) / len(row)
        s = math.sqrt(sum((v - m) ** 2 for v in row) / len(row) + 1e-6)
        out.append([(v - m) / s * g + b for v, g, b in zip(row, gain[0], bias[0])])
    return out


def add(x, y):
    return [[a + b for a, b in zip(p, q)] for p, q in zip(x, y)]


def attend(w, at, q, kv):
    Q, K, V = (times(x, w[at + "_W" + c], w[at + "_b" + c]) for x, c in ((q, "q"), (kv, "k"), (kv, "v")))
    mixed = [[] for _ in Q]
    for h in range(H):
        s = slice(h * D // H, (h + 1) * D // H)
        for i, row in enumerate(Q):
            e = [sum(a * b for a, b in zip(row[s], k[s])) / math.sqrt(D // H) for k in K]
            z = [math.exp(v - max(e)) for v in e]
            mixed[i] += [sum(p * v[s][j] for p, v in zip(z, V)) / sum(z) for j in range(D // H)]
    return times(mixed, w[at + "_Wo"], w[at + "_bo"])


def places(n):
    half = D // 2
    angle = lambda p, i: p * math.exp(-(i % half) * math.log(10000) / (half - 1))
    return [[(math.sin if i < half else math.cos)(angle(p, i)) for i in range(D)] for p in range(n)]


def after(w, at, x, y):
    return norm(add(x, y), w[at + "_ln_scale"], w[at + "_ln_bias"])


def ffn(w, at, x):
    inner = [[max(0, v) for v in row] for row in times(x, w[at + "_ffn_W1"], w[at + "_ffn_b1"])]
    return after(w, at + "_ffn_ffn", x, times(inner, w[at + "_ffn_W2"], w[at + "_ffn_b2"]))


def embed(w, table, ids):
    rows = [[0.0] * D if i is None else [v * math.sqrt(D) for v in w[table][i]] for i in ids]
    return add(rows, places(len(ids)))


def ssru(w, at, x):
    f = times(x, w[at + "_Wf"], w[at + "_bf"])
    y, c, out = times(x, w[at + "_W"]), [0.0] * D, []
    for i in range(len(x)):
        g = [1 / (1 + math.exp(-v)) for v in f[i]]
        c = [a * b + (1 - a) * v for a, b, v in zip(g, c, y[i])]
        out.append([max(0, v) for v in c])
    return after(w, at + "_ffn", x, out)


def forward(w, joint, source, previous):
    x = embed(w, "Wemb" if joint else "encoder_Wemb", source)
    for i in range(1, LAYERS + 1):
        at = "encoder_l%d" % i
        x = ffn(w, at, after(w, at + "_self_Wo", x, attend(w, at + "_self", x, x)))
    y = embed(w, "Wemb" if joint else "decoder_Wemb", previous)
    for i in range(1, LAYERS + 1):
        at = "decoder_l%d" % i
        y = ssru(w, at + "_rnn", y)
        y = ffn(w, at, after(w, at + "_context_Wo", y, attend(w, at + "_context", y, x)))
    return times(y, list(zip(*w["Wemb" if joint else "decoder_Wemb"])), w["decoder_ff_logit_out_b"])


# ----------------------------------------------------------------------------------------------------------------------- weights
def model(vs, vt, joint):
    w = {"Wemb": matrix(vs, D)} if joint else {"encoder_Wemb": matrix(vs, D), "decoder_Wemb": matrix(vt, D)}
    w["decoder_ff_logit_out_b"] = matrix(1, vt)
    w["decoder_ff_logit_out_b"][0][1] = -20.0  # <unk> is not answered

    def a_norm(at):
        w[at + "_ln_scale"], w[at + "_ln_bias"] = [[f32(1 + v) for v in matrix(1, D, 0.2)[0]]], matrix(1, D, 0.2)

    def heads(at):
        for c in "qkvo":
            w[at + "_W" + c], w[at + "_b" + c] = matrix(D, D), matrix(1, D, 0.2)
        a_norm(at + "_Wo")

    for stack in ("encoder", "decoder"):
        for i in range(1, LAYERS + 1):
            at = "%s_l%d" % (stack, i)
            if stack == "encoder":
                heads(at + "_self")
            else:
                w[at + "_rnn_W"], w[at + "_rnn_Wf"], w[at + "_rnn_bf"] = matrix(D, D), matrix(D, D), matrix(1, D, 0.2)
                a_norm(at + "_rnn_ffn")
                heads(at + "_context")
            w[at + "_ffn_W1"], w[at + "_ffn_b1"] = matrix(D, FF), matrix(1, FF, 0.2)
            w[at + "_ffn_W2"], w[at + "_ffn_b2"] = matrix(FF, D), matrix(1, D, 0.2)
            a_norm(at + "_ffn_ffn")
    return w


def quantised(w):  # the weights as they are stored: whole numbers and a multiplier; w becomes what they stand for
    stored = {}
    for name, m in list(w.items()):
        if len(m) == 1:
            continue
        by = f32(127 / max(abs(v) for row in m for v in row))
        q = [[max(-127, min(127, round(v * by))) for v in row] for row in m]
        stored[name] = (q, by)
        w[name] = [[f32(v * f32(1 / by)) for v in row] for row in q]
    return stored


# ------------------------------------------------------------------------------------------------------------------------ writing
def marian_bin(w, stored, settings):
    items = []
    for name, m in w.items():
        shape = (len(m), len(m[0]))
        if name in stored:
            q, by = stored[name]
            lines = q if "Wemb" in name else list(zip(*q))
            raw = b"".join(struct.pack("b", v) for row in lines for v in row) + struct.pack("<f", by)
            raw += b"\0" * (-len(raw) % 256)
            items.append((name, 0x4101, shape, raw))
            items.append(((name if "Wemb" not in name else "none") + "_QuantMultA", 0x0404, (1, 1), struct.pack("<f", 20)))
        else:
            items.append((name, 0x0404, shape, b"".join(struct.pack("<f", v) for row in m for v in row)))
    items = [x for i, x in enumerate(items) if x[0] not in [y[0] for y in items[:i]]]
    text = settings.encode() + b"\0"
    items.append(("special:model.yml", 0x0101, (len(text),), text))
    out = struct.pack("<QQ", 1, len(items))
    out += b"".join(struct.pack("<QQQQ", len(n) + 1, t, len(s), len(r)) for n, t, s, r in items)
    out += b"".join(n.encode() + b"\0" for n, _, _, _ in items)
    out += b"".join(struct.pack("<i", d) for _, _, s, _ in items for d in s)
    pad = ((len(out) + 8) // 256 + 1) * 256 - len(out) - 8
    return out + struct.pack("<Q", pad) + b"\0" * pad + b"".join(r for _, _, _, r in items)


def lexicon(lists, first):
    offsets = [sum(len(x) for x in lists[:i]) for i in range(len(lists) + 1)]
    rest = struct.pack("<QQQQ", first, max(map(len, lists)), len(offsets), offsets[-1]) + b"".join(struct.pack("<Q", o) for o in offsets)
    rest += b"".join(struct.pack("<I", i) for x in lists for i in x)
    seed, mask = 0, 2**64 - 1
    for i in range(len(rest) // 8):
        seed ^= (struct.unpack("<Q", rest[8 * i : 8 * i + 8])[0] + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & mask
    return struct.pack("<QQ", 0xF11A48D5013417F5, seed) + rest


def finish(folder, w, joint, a, b, target, listed):
    with open(folder + "/source", "w") as s, open(folder + "/target", "w") as t, open(folder + "/expected", "w") as e:
        for src, tgt in zip(SOURCE, target):
            ids, out, total = cut(a, src) + [0], cut(b, tgt) + [0], 0
            for row, word in zip(forward(w, joint, ids, [None] + out[:-1]), out):
                total += row[word] - max(row) - math.log(sum(math.exp(v - max(row)) for v in row))
            allowed, greedy = listed(ids), []
            while len(greedy) < 2 * len(ids) + 10 and 0 not in greedy:
                row = forward(w, joint, ids, [None] + greedy)[-1]
                greedy.append(max(allowed, key=lambda i: row[i]))
            s.write(src + "\n")
            t.write(tgt + "\n")
            e.write("%.6f\t%s\t%s\n" % (total, "whole" if 0 in greedy else "cut", join(b, greedy)))


def settings(vs, vt, joint):
    return ("dec-cell: ssru\ndec-depth: %d\ndim-emb: %d\ndim-vocabs:\n  - %d\n  - %d\nenc-depth: %d\nguided-alignment: none\nlayer-normalization: false\n"
            "tied-embeddings: %s\ntied-embeddings-all: %s\ntransformer-decoder-autoreg: rnn\ntransformer-dim-ffn: %d\ntransformer-ffn-activation: relu\n"
            "transformer-heads: %d\ntransformer-postprocess: dan\ntransformer-postprocess-emb: d\ntransformer-preprocess: \"\"\ntype: transformer\n"
            "version: v1.9\n" % (LAYERS, D, vs, vt, LAYERS, str(not joint).lower(), str(joint).lower(), FF, H))


def packed(path, raw):
    with open(path, "wb") as out:
        out.write(gzip.compress(raw, mtime=0))


def main():
    english, french = "marian_hf/source.spm", "marian_hf/target.spm"
    a, b = pieces_of(english), pieces_of(french)
    for folder in ("marian_bin", "marian_int8"):
        os.makedirs(folder, exist_ok=True)
    w = model(len(a), len(a), True)
    packed("marian_bin/model.enen.bin.gz", marian_bin(w, {}, settings(len(a), len(a), True)))
    packed("marian_bin/vocab.enen.spm.gz", open(english, "rb").read())
    finish("marian_bin", w, True, a, a, SOURCE[1:] + SOURCE[:1], lambda ids: range(len(a)))

    w = model(len(a), len(b), False)
    stored = quantised(w)
    open("marian_int8/model.enfr.intgemm.alphas.bin", "wb").write(marian_bin(w, stored, settings(len(a), len(b), False)))
    open("marian_int8/srcvocab.enfr.spm", "wb").write(open(english, "rb").read())
    open("marian_int8/trgvocab.enfr.spm", "wb").write(open(french, "rb").read())
    lists, first = [sorted(random.sample(range(len(b)), 3)) for _ in a], 5
    open("marian_int8/lex.50.50.enfr.s2t.bin", "wb").write(lexicon(lists, first))
    number = {p: i for i, (p, _) in enumerate(b)}

    def listed(ids):  # the first, those of each source token, and the same token where it is there
        same = [number[a[i][0]] for i in ids if a[i][0] in number and number[a[i][0]] != 1]
        return sorted(set(range(first)) | {t for i in ids for t in lists[i]} | set(same) | {0, 1})

    finish("marian_int8", w, False, a, b, FRENCH, listed)


main()

#!/usr/bin/python3
"""Writes small models in the layouts of other programs, and what PyTorch makes of them.

Each folder holds a model with random weights as its program would store it (marian_hf, bart, marian, ct2, ct2_int8, ct2_half), its vocabulary,
`source`, `target`, and `expected`: the log-probability of each target line, and the greedy answer. The forward pass is written here in PyTorch,
in double, from the programs' definitions. Needs Debian's python3-torch and python3-sentencepiece.
"""
import io, json, math, os, struct, zipfile
import sentencepiece, torch

torch.manual_seed(7)
D, FF, H, LAYERS = 8, 12, 2, 2
SOURCE = ["the old dog sees the cat", "a house", "the cat sees a old house", "dog dog dog"]
TARGET = ["le vieux chien voit le chat", "une maison", "le chat voit une vieille maison", "chien"]


# ---------------------------------------------------------------------------------------------------------------- reference
def norm(x, w, eps):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w[0], w[1], eps)


def linear(x, w):  # (out, in), as PyTorch stores them
    return x @ w[0].T + w[1]


def attention(p, q, kv, causal):
    n, m = q.shape[0], kv.shape[0]
    Q, K, V = (linear(x, p[name]).view(-1, H, D // H).transpose(0, 1) for x, name in ((q, "q"), (kv, "k"), (kv, "v")))
    e = Q @ K.transpose(1, 2) / math.sqrt(D // H)
    if causal:
        e = e.masked_fill(torch.ones(n, m, dtype=torch.bool).triu(1), -math.inf)
    return linear((e.softmax(-1) @ V).transpose(0, 1).reshape(n, D), p["o"])


def sub(x, p, name, pre, eps, f):
    if pre:
        return x + f(norm(x, p[name + "_norm"], eps))
    return norm(x + f(x), p[name + "_norm"], eps)


def sinusoids(n, kind, first):
    half = D // 2
    i = torch.arange(half, dtype=torch.float64)
    w = 10000.0 ** (-2 * i / D) if kind == "halves" else 10000.0 ** (-i / (half - 1))
    a = torch.arange(first, first + n, dtype=torch.float64)[:, None] * w[None]
    return torch.cat([a.sin(), a.cos()], 1)


def activation(name):
    return {"swish": torch.nn.functional.silu, "relu": torch.relu, "gelu": torch.nn.functional.gelu}[name]


def embed(m, side, ids):
    x = torch.stack([torch.zeros(D, dtype=torch.float64) if i is None else m[side + "_table"][i] for i in ids])
    if m["scale"]:
        x = x * math.sqrt(D)
    x = x + (m[side + "_places"][: len(ids)] if m["positions"] == "learned" else sinusoids(len(ids), m["positions"], m["first"]))
    return norm(x, m[side + "_norm"], m["eps"]) if m.get("norm_embedding") else x


def forward(m, source, previous):
    pre, eps, f = m["pre"], m["eps"], activation(m["activation"])
    x = embed(m, "source", source)
    for p in m["encoder"]:
        x = sub(x, p, "self", pre, eps, lambda y: attention(p["self"], y, y, False))
        x = sub(x, p, "ff", pre, eps, lambda y: linear(f(linear(y, p["fc1"])), p["fc2"]))
    if pre:
        x = norm(x, m["encoder_end"], eps)
    y = embed(m, "target", previous)
    for p in m["decoder"]:
        y = sub(y, p, "self", pre, eps, lambda z: attention(p["self"], z, z, True))
        y = sub(y, p, "cross", pre, eps, lambda z: attention(p["cross"], z, x, False))
        y = sub(y, p, "ff", pre, eps, lambda z: linear(f(linear(z, p["fc1"])), p["fc2"]))
    if pre:
        y = norm(y, m["decoder_end"], eps)
    return torch.log_softmax(y @ m["output"].T + m["output_bias"], -1)


# -------------------------------------------------------------------------------------------------------------------- weights
def values(*shape):
    return (torch.randn(*shape, dtype=torch.float64) * 0.5).float().double()


def matrix(out, inside):
    return (values(out, inside), values(out) * 0.4)


def a_norm():
    return ((1 + 0.2 * torch.randn(D, dtype=torch.float64)).float().double(), values(D) * 0.4)


def heads():
    return {k: matrix(D, D) for k in "qkvo"}


def block(cross):
    p = {"self": heads(), "self_norm": a_norm(), "fc1": matrix(FF, D), "fc2": matrix(D, FF), "ff_norm": a_norm()}
    if cross:
        p.update(cross=heads(), cross_norm=a_norm())
    return p


def model(vs, vt, shared, **more):
    m = dict(scale=True, first=0, eps=1e-5, pre=False, activation="swish", positions="halves")
    m.update(more)
    m["source_table"] = values(vs, D)
    m["target_table"] = m["source_table"] if shared else values(vt, D)
    m["output"] = m["target_table"] if m.get("tied", True) else values(vt, D)
    m["output_bias"] = values(vt)
    m["encoder"] = [block(False) for _ in range(LAYERS)]
    m["decoder"] = [block(True) for _ in range(LAYERS)]
    for k in ("encoder_end", "decoder_end", "source_norm", "target_norm"):
        m[k] = a_norm()
    m["source_places"], m["target_places"] = values(40, D), values(40, D)
    return m


# --------------------------------------------------------------------------------------------------------------------- writing
def f32(t):
    return t.float().contiguous().numpy().tobytes()


def safetensors(path, arrays, half=()):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name in sorted(arrays):
        t = arrays[name]
        raw = t.half().numpy().tobytes() if name in half else f32(t)
        header[name] = {"dtype": "F16" if name in half else "F32", "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def hf_arrays(m, places):
    a = {"model.shared.weight": m["source_table"], "final_logits_bias": m["output_bias"][None]}

    def put(name, w):
        a[name + ".weight"], a[name + ".bias"] = w

    for stack in ("encoder", "decoder"):
        for i, p in enumerate(m[stack]):
            at = "model.%s.layers.%d." % (stack, i)
            for ours, theirs in (("self", "self_attn"), ("cross", "encoder_attn")):
                if ours not in p:
                    continue
                for k, name in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj")):
                    put(at + theirs + "." + name, p[ours][k])
                put(at + theirs + "_layer_norm", p[ours + "_norm"])
            put(at + "fc1", p["fc1"])
            put(at + "fc2", p["fc2"])
            put(at + "final_layer_norm", p["ff_norm"])
    if places:
        for stack, side in (("encoder", "source"), ("decoder", "target")):
            a["model.%s.embed_positions.weight" % stack] = torch.cat([torch.zeros(2, D, dtype=torch.float64), m[side + "_places"]])
            put("model.%s.layernorm_embedding" % stack, m[side + "_norm"])
    return a


def npz(path, m, settings):
    a = {"Wemb": m["source_table"], "decoder_ff_logit_out_b": m["output_bias"][None]}
    for stack in ("encoder", "decoder"):
        for i, p in enumerate(m[stack]):
            at = "%s_l%d_" % (stack, i + 1)
            for ours, theirs in (("self", "self"), ("cross", "context")):
                if ours not in p:
                    continue
                for k in "qkvo":
                    a[at + theirs + "_W" + k], a[at + theirs + "_b" + k] = p[ours][k][0].T, p[ours][k][1][None]
                a[at + theirs + "_Wo_ln_scale"], a[at + theirs + "_Wo_ln_bias"] = p[ours + "_norm"][0][None], p[ours + "_norm"][1][None]
            for n, k in ((1, "fc1"), (2, "fc2")):
                a[at + "ffn_W%d" % n], a[at + "ffn_b%d" % n] = p[k][0].T, p[k][1][None]
            a[at + "ffn_ffn_ln_scale"], a[at + "ffn_ffn_ln_bias"] = p["ff_norm"][0][None], p["ff_norm"][1][None]
    out = zipfile.ZipFile(path, "w")

    def member(name, descr, shape, raw):
        header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, ", ".join(map(str, shape)) + ("," if len(shape) == 1 else ""))
        header += " " * (-(len(header) + 11) % 64) + "\n"
        out.writestr(zipfile.ZipInfo(name + ".npy"), b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + raw)

    for name in a:
        member(name, "<f4", a[name].shape, f32(a[name]))
    text = settings.encode() + b"\0"
    member("special:model.yml", "|i1", [len(text)], text)
    out.close()


def ct2(path, m, version, kind):
    a, scalars, parts_of = {}, {}, {}
    for stack, side in (("encoder", "source"), ("decoder", "target")):
        a[stack + "/embeddings%s/weight" % ("_0" if stack == "encoder" and version > 2 else "")] = m[side + "_table"]
        a[stack + "/layer_norm/gamma"], a[stack + "/layer_norm/beta"] = m[stack + "_end"]
        if version > 2:
            scalars[stack + "/num_heads"] = H
        for i, p in enumerate(m[stack]):
            at = "%s/layer_%d/" % (stack, i)

            def put(name, parts):
                a[at + name + "/weight"] = torch.cat([w for w, _ in parts])
                a[at + name + "/bias"] = torch.cat([b for _, b in parts])
                parts_of[at + name + "/weight"], parts_of[at + name + "/bias"] = [w for w, _ in parts], [b for _, b in parts]

            s = p["self"]
            put("self_attention/linear_0", [s["q"], s["k"], s["v"]])
            put("self_attention/linear_1", [s["o"]])
            a[at + "self_attention/layer_norm/gamma"], a[at + "self_attention/layer_norm/beta"] = p["self_norm"]
            if "cross" in p:
                c = p["cross"]
                put("attention/linear_0", [c["q"]])
                put("attention/linear_1", [c["k"], c["v"]])
                put("attention/linear_2", [c["o"]])
                a[at + "attention/layer_norm/gamma"], a[at + "attention/layer_norm/beta"] = p["cross_norm"]
            put("ffn/linear_0", [p["fc1"]])
            put("ffn/linear_1", [p["fc2"]])
            a[at + "ffn/layer_norm/gamma"], a[at + "ffn/layer_norm/beta"] = p["ff_norm"]
    a["decoder/projection/weight"], a["decoder/projection/bias"] = m["output"], m["output_bias"]
    for name, t in a.items():
        parts_of.setdefault(name, [t])
    items = []

    def stored(name, t):  # the model is what was stored
        at = 0
        for part in parts_of[name]:
            part.copy_(t[at : at + part.shape[0]])
            at += part.shape[0]

    for name, t in a.items():
        if kind in ("int8", "int16") and name.endswith("/weight"):
            limit, width = (127, 1) if kind == "int8" else (1023, 2)
            scale = limit / t.abs().max(1).values if kind == "int8" else (limit / t.abs().max())[None]
            scale = scale.float().double()
            q = (t * (scale[:, None] if kind == "int8" else scale)).round()
            stored(name, q / (scale[:, None] if kind == "int8" else scale))
            items.append((name, t.shape, 1 if kind == "int8" else 2, (q.to(torch.int8) if kind == "int8" else q.to(torch.int16)).numpy().tobytes(), width))
            items.append((name + "_scale", scale.shape, 0, f32(scale), 4))
        elif kind == "half":
            stored(name, t.half().double())
            items.append((name, t.shape, 4, t.half().numpy().tobytes(), 2))
        else:
            items.append((name, t.shape, 0, f32(t), 4))
    for name, v in scalars.items():
        items.append((name, (), 2, struct.pack("<h", v), 2))

    def text(s):
        return struct.pack("<H", len(s) + 1) + s.encode() + b"\0"

    out = struct.pack("<I", version) + text("TransformerSpec") + struct.pack("<II", 5, len(items))
    for name, shape, dtype, raw, width in items:
        out += text(name) + struct.pack("<B", len(shape)) + b"".join(struct.pack("<I", d) for d in shape)
        out += struct.pack("<BI", dtype, len(raw)) if version >= 4 else struct.pack("<BI", width, len(raw) // width)
        out += raw
    if version >= 3:
        out += struct.pack("<I", 0)
    open(path, "wb").write(out)


# ----------------------------------------------------------------------------------------------------------------------- cases
def spm(lines, size, path):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines * 20), model_writer=model, vocab_size=size, bos_id=-1, eos_id=0, unk_id=1,
                                             hard_vocab_limit=False, normalization_rule_name="identity", minloglevel=2)
    open(path, "wb").write(model.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def finish(folder, m, encode, target_ids, pieces, start, eos, join, begin=None):
    with open(folder + "/source", "w") as s, open(folder + "/target", "w") as t, open(folder + "/expected", "w") as e:
        for src, tgt in zip(SOURCE, TARGET):
            first = [] if begin is None else [begin]
            ids, out = encode(src), first + target_ids(tgt) + [eos]
            lp = forward(m, ids, [start] + out[:-1])
            total = sum(lp[i, w].item() for i, w in enumerate(out))
            greedy = list(first)
            while len(greedy) < 2 * len(ids) + 10 + len(first):
                step = forward(m, ids, [start] + greedy)[-1]
                if start is not None and start != eos:
                    step[start] = -math.inf
                greedy.append(int(step.argmax()))
                if greedy[-1] == eos:
                    break
            done = greedy[-1] == eos
            s.write(src + "\n")
            t.write(tgt + "\n")
            e.write("%.6f\t%s\t%s\n" % (total, "whole" if done else "cut", join([pieces[i] for i in greedy if i != eos and i != begin])))


def unmark(parts):
    return "".join(parts).replace("\u2581", " ").strip()


def hugging(name, m, arrays, config, half=()):
    os.makedirs(name, exist_ok=True)
    safetensors(name + "/model.safetensors", arrays, half)
    json.dump(config, open(name + "/config.json", "w"), indent=1)


def main():
    base = {"d_model": D, "encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_attention_heads": H, "decoder_attention_heads": H, "encoder_ffn_dim": FF,
            "decoder_ffn_dim": FF, "dropout": 0.1}
    # MarianMT of Hugging Face
    os.makedirs("marian_hf", exist_ok=True)
    a, b = spm(SOURCE, 30, "marian_hf/source.spm"), spm(TARGET, 34, "marian_hf/target.spm")
    pieces = ["</s>", "<unk>"] + sorted({p.id_to_piece(i) for p in (a, b) for i in range(2, p.get_piece_size())}) + ["<pad>"]
    number = {p: i for i, p in enumerate(pieces)}
    m = model(len(pieces), len(pieces), True)
    hugging("marian_hf", m, hf_arrays(m, False), dict(base, model_type="marian", activation_function="swish", scale_embedding=True, normalize_before=False,
                                                       static_position_embeddings=True, decoder_start_token_id=len(pieces) - 1, eos_token_id=0,
                                                       pad_token_id=len(pieces) - 1, vocab_size=len(pieces)))
    json.dump(number, open("marian_hf/vocab.json", "w"))
    ids = lambda p: lambda text: [number.get(x, 1) for x in p.encode(text, out_type=str)]
    finish("marian_hf", m, lambda t: ids(a)(t) + [0], ids(b), pieces, len(pieces) - 1, 0, unmark)

    # the same vocabulary in Marian's own archive
    os.makedirs("marian", exist_ok=True)
    for side in ("source", "target"):
        open("marian/%s.spm" % side, "wb").write(open("marian_hf/%s.spm" % side, "rb").read())
    open("marian/opus.vocab.yml", "w").write("".join("%s: %d\n" % (json.dumps(p, ensure_ascii=False), i) for i, p in enumerate(pieces[:-1])))
    m = model(len(pieces) - 1, len(pieces) - 1, True, positions="spread", eps=1e-6, activation="relu")
    npz("marian/model.npz", m, "dec-depth: %d\ndim-emb: %d\nenc-depth: %d\ntied-embeddings-all: true\ntransformer-decoder-autoreg: self-attention\n"
        "transformer-ffn-activation: relu\ntransformer-heads: %d\ntransformer-postprocess: dan\ntransformer-preprocess: \"\"\ntype: transformer\n" % (LAYERS, D, LAYERS, H))
    finish("marian", m, lambda t: ids(a)(t) + [0], ids(b), pieces, None, 0, unmark)

    # BART over characters, half of its tables in F16
    letters = sorted(set("".join(SOURCE + TARGET)) - {" "})
    signs = ["<pad>", "<s>", "</s>", "<unk>"]
    chars = {c: i + 4 for i, c in enumerate(letters)}
    m = model(len(letters) + 4, len(letters) + 4, True, positions="learned", scale=False, norm_embedding=True, activation="gelu")
    half = ("model.encoder.embed_positions.weight", "model.decoder.layers.0.fc1.weight")
    m["source_places"] = m["source_places"].half().double()
    m["decoder"][0]["fc1"] = (m["decoder"][0]["fc1"][0].half().double(), m["decoder"][0]["fc1"][1])
    hugging("bart", m, hf_arrays(m, True), dict(base, model_type="bart", activation_function="gelu", scale_embedding=False, bos_token_id=1, eos_token_id=2,
                                                pad_token_id=0, decoder_start_token_id=1, grapheme_chars="____" + "".join(letters),
                                                phoneme_chars="____" + "".join(letters)), half)
    spell = lambda text: [chars.get(c, 3) for c in text]
    finish("bart", m, lambda t: [1] + spell(t) + [2], spell, signs + letters, 1, 2, "".join, begin=1)

    # CTranslate2
    words = [["<blank>", "<s>", "</s>"] + sorted(set(" ".join(x).split())) for x in (SOURCE, TARGET)]
    for name, version, kind in (("ct2", 3, "float"), ("ct2_int8", 6, "int8"), ("ct2_int16", 5, "int16"), ("ct2_half", 4, "half")):
        os.makedirs(name, exist_ok=True)
        m = model(len(words[0]) + 1, len(words[1]) + 1, False, positions="spread", first=1, pre=True, activation="relu", tied=False)
        ct2(name + "/model.bin", m, version, kind)
        for side, w in zip(("source", "target"), words):
            open("%s/%s_vocabulary.txt" % (name, side), "w").write("".join(x + "\n" for x in w))
        finish(name, m, lambda t: [words[0].index(x) for x in t.split()], lambda t: [words[1].index(x) for x in t.split()], words[1] + ["<unk>"], 1, 2, " ".join)


main()

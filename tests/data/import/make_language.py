#!/usr/bin/python3
"""Writes a small GPT-2 and a small BERT in Hugging Face's layout, and what PyTorch makes of them.

The folder gpt2 holds config.json, model.safetensors, vocab.json and merges.txt of a model with random weights; `texts`, lines to read; `ids`, the tokens of
each line behind <|endoftext|>; `logits`, a row of numbers for every token that follows; `expected`, log p of each line closed by <|endoftext|>. The forward
pass is written here in PyTorch, in double, from the definition of GPT-2.

The folder bert holds config.json, model.safetensors and vocab.txt; `texts`; `ids`, the tokens of each line between [CLS] and [SEP], with those two; `logits`
of the masked-language head, a row for every token. Needs Debian's python3-torch.
"""
import json, math, os, struct
import torch

torch.manual_seed(11)
D, H, LAYERS, PLACES = 12, 3, 2, 24
TEXTS = ["the old dog sees the cat", "a caf\u00e9", "dogs  see the", "\u732b!"]
MERGES = ["t h", "th e", "\u0120 the", "d o", "do g", "\u0120 s", "\u0120s e", "\u0120se e", "c a", "ca t"]


# ------------------------------------------------------------------------------------------------------------ byte-level BPE
def byte_letters():
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    rest = [b for b in range(256) if b not in keep]
    return {**{b: chr(b) for b in keep}, **{b: chr(256 + i) for i, b in enumerate(rest)}}


LETTER = byte_letters()
PIECES = [LETTER[b] for b in sorted(LETTER, key=lambda b: ord(LETTER[b]))] + ["".join(m.split(" ")) for m in MERGES] + ["<|endoftext|>"]
NUMBER = {p: i for i, p in enumerate(PIECES)}
END = len(PIECES) - 1


def words(text):
    """GPT-2's cut: blanks belong to the word behind them, all but the last of a run stand alone; letters and other signs apart."""
    import re
    return re.findall(r" ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+", text)


def encode(text):
    out = []
    for word in words(text):
        w = [LETTER[b] for b in word.encode()]
        while True:
            ranks = [(MERGES.index(a + " " + b), i) for i, (a, b) in enumerate(zip(w, w[1:])) if a + " " + b in MERGES]
            if not ranks:
                break
            a, b = MERGES[min(ranks)[0]].split(" ")
            i = 0
            while i + 1 < len(w):
                if w[i] == a and w[i + 1] == b:
                    w[i:i + 2] = [a + b]
                i += 1
        out += [NUMBER[p] for p in w]
    return out


# ------------------------------------------------------------------------------------------------------------------- GPT-2
def values(*shape, scale=0.3):
    return (torch.randn(*shape, dtype=torch.float64) * scale).float().double()


def weights():
    w = {"wte.weight": values(len(PIECES), D), "wpe.weight": values(PLACES, D)}
    for i in range(LAYERS):
        for name, shape in (("attn.c_attn", (D, 3 * D)), ("attn.c_proj", (D, D)), ("mlp.c_fc", (D, 4 * D)), ("mlp.c_proj", (4 * D, D))):
            w["h.%d.%s.weight" % (i, name)], w["h.%d.%s.bias" % (i, name)] = values(*shape), values(shape[1])
        for name in ("ln_1", "ln_2"):
            w["h.%d.%s.weight" % (i, name)], w["h.%d.%s.bias" % (i, name)] = (1 + values(D)).float().double(), values(D)
    w["ln_f.weight"], w["ln_f.bias"] = (1 + values(D)).float().double(), values(D)
    return w


def norm(w, name, x):
    return torch.nn.functional.layer_norm(x, (D,), w[name + ".weight"], w[name + ".bias"], 1e-5)


def conv1d(w, name, x):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def gelu_new(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def forward(w, ids):
    n = len(ids)
    x = w["wte.weight"][ids] + w["wpe.weight"][:n]
    for i in range(LAYERS):
        at = "h.%d." % i
        q, k, v = (y.view(n, H, D // H).transpose(0, 1) for y in conv1d(w, at + "attn.c_attn", norm(w, at + "ln_1", x)).split(D, -1))
        e = (q @ k.transpose(1, 2) / math.sqrt(D // H)).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf)
        x = x + conv1d(w, at + "attn.c_proj", (e.softmax(-1) @ v).transpose(0, 1).reshape(n, D))
        x = x + conv1d(w, at + "mlp.c_proj", gelu_new(conv1d(w, at + "mlp.c_fc", norm(w, at + "ln_2", x))))
    return norm(w, "ln_f", x) @ w["wte.weight"].T


# -------------------------------------------------------------------------------------------------------------------- BERT
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "old", "dog", "cat", "see", "##s", "##es", "a", "house", "!", "do", "##g"]
LINES = ["The old dog sees the cat!", "a house", "see the [MASK]", "dogs"]
CUT = ["the old dog see ##s the cat !", "a house", "see the [MASK]", "dog ##s"]


def bert_weights():
    w, V = {}, len(WORDS)
    e = "bert.embeddings."
    w[e + "word_embeddings.weight"], w[e + "position_embeddings.weight"], w[e + "token_type_embeddings.weight"] = values(V, D), values(PLACES, D), values(2, D)

    def dense(name, out, inside):
        w[name + ".weight"], w[name + ".bias"] = values(out, inside), values(out)

    def layer_norm(name):
        w[name + ".weight"], w[name + ".bias"] = (1 + values(D)).float().double(), values(D)

    layer_norm(e + "LayerNorm")
    for i in range(LAYERS):
        at = "bert.encoder.layer.%d." % i
        for name in ("query", "key", "value"):
            dense(at + "attention.self." + name, D, D)
        dense(at + "attention.output.dense", D, D)
        layer_norm(at + "attention.output.LayerNorm")
        dense(at + "intermediate.dense", 2 * D, D)
        dense(at + "output.dense", D, 2 * D)
        layer_norm(at + "output.LayerNorm")
    dense("bert.pooler.dense", D, D)
    dense("cls.predictions.transform.dense", D, D)
    layer_norm("cls.predictions.transform.LayerNorm")
    w["cls.predictions.bias"] = values(V)
    dense("cls.seq_relationship", 2, D)
    return w


def bert_forward(w, ids):
    n, e = len(ids), "bert.embeddings."
    linear = lambda name, x: x @ w[name + ".weight"].T + w[name + ".bias"]
    layer_norm = lambda name, x: torch.nn.functional.layer_norm(x, (D,), w[name + ".weight"], w[name + ".bias"], 1e-12)
    x = layer_norm(e + "LayerNorm", w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][:n] + w[e + "token_type_embeddings.weight"][0])
    for i in range(LAYERS):
        at = "bert.encoder.layer.%d." % i
        q, k, v = (linear(at + "attention.self." + y, x).view(n, H, D // H).transpose(0, 1) for y in ("query", "key", "value"))
        a = ((q @ k.transpose(1, 2)) / math.sqrt(D // H)).softmax(-1) @ v
        x = layer_norm(at + "attention.output.LayerNorm", x + linear(at + "attention.output.dense", a.transpose(0, 1).reshape(n, D)))
        x = layer_norm(at + "output.LayerNorm", x + linear(at + "output.dense", torch.nn.functional.gelu(linear(at + "intermediate.dense", x))))
    y = layer_norm("cls.predictions.transform.LayerNorm", torch.nn.functional.gelu(linear("cls.predictions.transform.dense", x)))
    return y @ w[e + "word_embeddings.weight"].T + w["cls.predictions.bias"]


def write_bert():
    os.makedirs("bert", exist_ok=True)
    w = bert_weights()
    safetensors("bert/model.safetensors", dict(w, **{"cls.predictions.decoder.weight": w["bert.embeddings.word_embeddings.weight"]}))
    json.dump({"model_type": "bert", "hidden_size": D, "num_attention_heads": H, "num_hidden_layers": LAYERS, "intermediate_size": 2 * D, "hidden_act": "gelu",
               "max_position_embeddings": PLACES, "type_vocab_size": 2, "vocab_size": len(WORDS), "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1,
               "attention_probs_dropout_prob": 0.1, "position_embedding_type": "absolute"}, open("bert/config.json", "w"))
    open("bert/vocab.txt", "w").write("\n".join(WORDS) + "\n")
    open("bert/texts", "w").write("\n".join(LINES) + "\n")
    with open("bert/ids", "w") as ids, open("bert/logits", "w") as logits:
        for line in CUT:
            tokens = [WORDS.index(x) for x in ["[CLS]"] + line.split() + ["[SEP]"]]
            ids.write(" ".join(map(str, tokens)) + "\n")
            for row in bert_forward(w, tokens):
                logits.write(" ".join("%.6f" % x for x in row.tolist()) + "\n")


# ----------------------------------------------------------------------------------------------------------------- writing
def safetensors(path, arrays):
    header, data = {}, b""
    for name, t in arrays.items():
        raw = t.float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def main():
    os.makedirs("gpt2", exist_ok=True)
    w = weights()
    arrays = {"transformer." + k: v for k, v in w.items()}
    arrays["transformer.h.0.attn.bias"] = torch.ones(1, 1, 4, 4).tril()  # the mask that older versions store
    arrays["lm_head.weight"] = w["wte.weight"]
    safetensors("gpt2/model.safetensors", arrays)
    json.dump({"model_type": "gpt2", "n_embd": D, "n_head": H, "n_layer": LAYERS, "n_positions": PLACES, "n_ctx": PLACES, "n_inner": None,
               "vocab_size": len(PIECES), "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "bos_token_id": END, "eos_token_id": END,
               "resid_pdrop": 0.0, "attn_pdrop": 0.0, "embd_pdrop": 0.0}, open("gpt2/config.json", "w"))
    json.dump(NUMBER, open("gpt2/vocab.json", "w"))
    open("gpt2/merges.txt", "w").write("#version: 0.2\n" + "\n".join(MERGES) + "\n")
    open("gpt2/texts", "w").write("\n".join(TEXTS) + "\n")
    with open("gpt2/ids", "w") as ids, open("gpt2/logits", "w") as logits, open("gpt2/expected", "w") as expected:
        for text in TEXTS:
            tokens = encode(text)
            y = forward(w, [END] + tokens)
            p = torch.log_softmax(y, -1)
            expected.write("%.6f\n" % sum(p[i, t].item() for i, t in enumerate(tokens + [END])))
            ids.write(" ".join(map(str, tokens)) + "\n")
            for row in y:
                logits.write(" ".join("%.6f" % x for x in row.tolist()) + "\n")


main()
write_bert()

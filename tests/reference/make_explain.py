#!/usr/bin/env python3
"""Writes explain_transformer.txt and explain_lstm.txt of tests/test_explain.c with PyTorch (Debian: python3-torch): saliency,
input x gradient, integrated gradients, value zeroing, occlusion and their contrasts, each from its definition.

usage: make_explain.py        writes both beside itself, the same bytes every time

Every number of a parameter follows from its name and place, here and in the test.
"""
import math
import os
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_default_dtype(torch.float64)
STEPS = 8                                     # of integrated gradients


SCALE = 0.5                                   # of parameters


def param(name, rows, cols):
    seed = sum(0.1 * ord(c) for c in name)
    return torch.tensor([SCALE * math.sin(seed + 0.7 * k) for k in range(rows * cols)]).float().double().reshape(rows, cols)


def dense(name, x, rows, cols):
    return x @ param(name + ".w", rows, cols) + param(name + ".b", 1, cols)


# ------------------------------------------------------------------------------------------------------- a Transformer

D, HEADS, FF, V, LAYERS = 8, 2, 12, 13, 2


def norm(name, x):
    return F.layer_norm(x, (D,), param(name + ".gain", 1, D)[0], param(name + ".bias", 1, D)[0], 1e-6)


def places(n):
    out = torch.zeros(n, D)
    for p in range(n):
        for i in range(0, D, 2):
            angle = p * 10000.0 ** (-i / D)
            out[p, i], out[p, i + 1] = math.sin(angle), math.cos(angle)
    return out


def attend(q, k, v, causal=False):
    out = []
    for h in range(HEADS):
        at = slice(h * D // HEADS, (h + 1) * D // HEADS)
        e = q[:, at] @ k[:, at].T / math.sqrt(D // HEADS)
        if causal:
            e = e.masked_fill(torch.ones_like(e).triu(1).bool(), -math.inf)
        out.append(F.softmax(e, -1) @ v[:, at])
    return torch.cat(out, 1)


def self_attention(name, x, keep=None, causal=False):
    q, k, v = (norm(name + ".self.norm", x) @ param(name + ".self.wqkv", D, 3 * D)
               + param(name + ".self.bqkv", 1, 3 * D)).split(D, 1)
    v = v if keep is None else v * keep[:, None]
    return x + attend(q, k, v, causal) @ param(name + ".self.wo", D, D) + param(name + ".self.bo", 1, D)


def cross_attention(name, y, x, keep):
    q = norm(name + ".cross.norm", y) @ param(name + ".cross.wq", D, D) + param(name + ".cross.bq", 1, D)
    k, v = (x @ param(name + ".cross.wkv", D, 2 * D) + param(name + ".cross.bkv", 1, 2 * D)).split(D, 1)
    return y + attend(q, k, v * keep[:, None]) @ param(name + ".cross.wo", D, D) + param(name + ".cross.bo", 1, D)


def feed_forward(name, x):
    inner = F.relu(dense(name + ".ff.inner", norm(name + ".ff.norm", x), D, FF))
    return x + dense(name + ".ff.outer", inner, FF, D)


TARGET, PREVIOUS = [3, 7, 5, 2], [1, 3, 7, 5]


def transformer(x, keep=None):
    """log p of every word at every place of the target, from embedded source rows; keep: factor on each row's values."""
    keep = torch.ones(len(x)) if keep is None else keep
    x = x + places(len(x))
    for i in range(LAYERS):
        x = feed_forward(f"encoder.{i}", self_attention(f"encoder.{i}", x, keep))
    x = norm("encoder.end", x)
    table = param("target.embedding", V, D)
    y = table[PREVIOUS] * math.sqrt(D) + places(len(PREVIOUS))
    for i in range(LAYERS):
        y = self_attention(f"decoder.{i}", y, causal=True)
        y = feed_forward(f"decoder.{i}", cross_attention(f"decoder.{i}", y, x, keep))
    return F.log_softmax(norm("decoder.end", y) @ table.T + param("output.bias", 1, V), -1)


# ----------------------------------------------------------------------------------------------------------- an LSTM

E, U, C, HIDDEN = 4, 3, 3, 5


def reorder(x):
    i, f, o, n = x.split(U, dim=-1)
    return torch.cat([i, f, n, o], -1)


def run(name, rows):
    cell = torch.nn.LSTMCell(E, U)
    for p in cell.parameters():
        p.requires_grad_(False)
    cell.weight_ih.data = reorder(param(name + ".w", E, 4 * U)).T.contiguous()
    cell.weight_hh.data = reorder(param(name + ".u", U, 4 * U)).T.contiguous()
    cell.bias_ih.data, cell.bias_hh.data = reorder(param(name + ".b", 1, 4 * U))[0], torch.zeros(4 * U)
    h = c = torch.zeros(1, U)
    out = []
    for x in rows:
        h, c = cell(x[None], (h, c))
        out.append(h[0])
    return torch.stack(out)


def lstm(x, keep=None):
    """log p of every class: states of both directions, pooled by attention (Lin et al. 2017)."""
    keep = torch.ones(len(x)) if keep is None else keep
    h = torch.cat([run("encoder.0.ahead", x), run("encoder.0.back", x.flip(0)).flip(0)], 1)
    e = torch.tanh(h @ param("pool.vector.w", 2 * U, HIDDEN)) @ param("pool.vector.v", HIDDEN, 1)
    pooled = (F.softmax(e[:, 0], 0) * keep) @ h
    return F.log_softmax(dense("output", pooled[None], 2 * U, C), -1)


# ------------------------------------------------------------------------------------------------------- definitions


def maps(score, x):
    """All maps of score(rows, keep) -> (outputs,), in the order of explain.h."""
    n, outputs = len(x), len(score(x))

    def gradients(rows):
        rows = rows.detach().requires_grad_(True)
        s = score(rows)
        return torch.stack([torch.autograd.grad(s[o], rows, retain_graph=True)[0] for o in range(outputs)])

    g = gradients(x)
    path = sum(gradients((k + 0.5) / STEPS * x) for k in range(STEPS)) / STEPS
    base = score(x)
    without = torch.stack([score(torch.cat([x[:j], x[j + 1:]])) for j in range(n)], 1)
    zeroed = torch.stack([score(x, (torch.arange(n) != j).double()) for j in range(n)], 1)
    return {"gradient": g.norm(dim=2), "input-gradient": (g * x).sum(2), "integrated": (path * x).sum(2),
            "zeroing": base[:, None] - zeroed, "occlusion": base[:, None] - without,
            "none": (base - score(x, torch.zeros(n)))[:, None]}


def write(name, matrices):
    with open(os.path.join(HERE, name + ".txt"), "w") as f:
        for key, m in matrices.items():
            f.write(f"{key} {m.shape[0]} {m.shape[1]}\n")
            for row in m.detach():
                f.write(" ".join(f"{v:.9g}" for v in row.tolist()) + "\n")


def main():
    global SCALE
    at, other = torch.arange(len(TARGET)), 4
    x = param("source.embedding", V, D)[[4, 9, 6, 10, 2]] * math.sqrt(D)
    words = maps(lambda rows, keep=None: transformer(rows, keep)[at, TARGET], x)
    contrast = maps(lambda rows, keep=None: transformer(rows, keep)[at, TARGET] - transformer(rows, keep)[:, other], x)
    write("explain_transformer", {**words, **{k + "-against": v for k, v in contrast.items()}})
    SCALE = 2
    x = param("embedding", V, E)[[4, 9, 6, 10, 5, 7]]
    best = int(lstm(x).argmax())
    words = maps(lambda rows, keep=None: lstm(rows, keep)[:, best], x)
    contrast = maps(lambda rows, keep=None: lstm(rows, keep)[:, best] - lstm(rows, keep)[:, (best + 1) % C], x)
    write("explain_lstm", {**words, **{k + "-against": v for k, v in contrast.items()}})


main()

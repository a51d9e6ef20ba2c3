"""Peer of case_multi30k.c: the same batches, padded, with a mask over source words; pads of the target carry no loss."""
import gzip
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from systems import Transformer


def word_id(word):
    h = 2166136261
    for byte in word:
        h = ((h ^ byte) * 16777619) & 0xFFFFFFFF
    return 4 + h % 9996


def read(path):
    known = {}
    with gzip.open(path) as f:
        return [[known.setdefault(w, word_id(w)) for w in line.rstrip(b"\r\n").split(b" ") if w] + [2] for line in f]


def batches(p):
    source, target = (read(os.path.join(p["folder"], name)) for name in ("train.en.gz", "train.de.gz"))
    order = sorted(range(len(source)), key=lambda i: (len(target[i]), len(source[i]), i))
    all_, words = [[]], 0
    for i in order:
        if all_[-1] and words + len(target[i]) > p["most"]:
            all_.append([])
            words = 0
        all_[-1].append(i)
        words += len(target[i])
    kept = [b for n, b in enumerate(all_) if n % p["every"] == p["every"] // 2]
    return [([source[i] for i in b], [target[i] for i in b]) for b in kept]


def padded(rows):
    width = max(map(len, rows))
    return torch.tensor([r + [0] * (width - len(r)) for r in rows])


def tensors(source, target):
    s, t = padded(source), padded(target)
    previous = torch.cat([torch.ones(len(t), 1, dtype=torch.long), t[:, :-1]], 1)
    hidden = torch.zeros(s.shape).masked_fill_(s == 0, -math.inf)[:, None, None, :]
    return s, previous, t, hidden


class Tiny(Transformer):
    """Norms first, one table for source, target and output."""

    def __init__(self, p):
        super().__init__(p)
        self.source = self.target
        self.encoder_end, self.decoder_end = nn.LayerNorm(p["d"]), nn.LayerNorm(p["d"])

    def layer(self, l, x, mask, source=None, hidden=None):
        x = x + l.drop(l.self(l.norm_self(x), mask=mask))
        if source is not None:
            x = x + l.drop(l.cross(l.norm_cross(x), source, hidden))
        return x + l.drop(l.network(l.norm_ff(x)))

    def forward(self, source, previous, hidden):
        x, y, n = self.embed(self.source, source), self.embed(self.target, previous), previous.shape[1]
        for l in self.encoder:
            x = self.layer(l, x, hidden)
        x = self.encoder_end(x)
        for l in self.decoder:
            y = self.layer(l, y, self.future[:n, :n], x, hidden)
        return self.logits(self.decoder_end(y))


def setup(p):
    torch.manual_seed(1)
    m = Tiny(p)
    adam = torch.optim.Adam(m.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    data = batches(p)
    ready = [tensors(*b) for b in data]
    result = []

    def run():
        for source, previous, target, hidden in ready:
            adam.zero_grad(set_to_none=True)
            logits = m(source, previous, hidden)
            loss = F.cross_entropy(logits.view(-1, logits.shape[2]), target.view(-1), label_smoothing=0.1, ignore_index=0)
            loss.backward()
            adam.step()
            result[:] = [float(loss)]

    def check():
        words = sum(len(t) for b in data for t in b[1])
        return words + round(sum(w.numel() for w in m.parameters()) / 1e5) * 1e6 if result[0] < 100 else -1

    return run, check

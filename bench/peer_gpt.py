"""Peer of case_gpt.c: pre-norm blocks, GELU, learned places, the output tied to the embedding; one product for query, key and value."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from systems import Attention


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.norm2, self.self = nn.LayerNorm(d), nn.LayerNorm(d), Attention(d, heads, False)
        self.inner, self.outer = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, mask):
        x = x + self.self(self.norm1(x), mask=mask)
        return x + self.outer(F.gelu(self.inner(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, p):
        super().__init__()
        d, T = p["d"], p["context"]
        self.words, self.places, self.end = nn.Embedding(p["V"], d), nn.Parameter(0.02 * torch.randn(T, d)), nn.LayerNorm(d)
        nn.init.normal_(self.words.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(d, p["heads"]) for _ in range(p["layers"]))
        self.mask = torch.zeros(T, T).masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))

    def forward(self, x):
        y = self.words(x) + self.places
        for b in self.blocks:
            y = b(y, self.mask)
        return F.linear(self.end(y), self.words.weight)


def setup(p):
    torch.manual_seed(1)
    m = Gpt(p)
    adam = torch.optim.Adam(m.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    x, y = (torch.randint(0, p["V"], (p["windows"], p["context"])) for _ in range(2))
    result = []

    def run():
        adam.zero_grad(set_to_none=True)
        loss = F.cross_entropy(m(x).view(-1, p["V"]), y.reshape(-1))
        loss.backward()
        adam.step()
        result[:] = [float(loss)]

    return run, lambda: round(sum(w.numel() for w in m.parameters()) / 1e5) if result[0] < 100 else -1

"""The translators of system.c in PyTorch, written for speed: one product for query, key and value, no copies that can be views."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Heads over rows of a whole batch; cross-attention projects keys and values of the source in one product."""

    def __init__(self, d, heads, cross):
        super().__init__()
        self.heads, self.width, self.cross = heads, d // heads, cross
        if cross:
            self.query, self.memory = nn.Linear(d, d), nn.Linear(d, 2 * d)
        else:
            self.all = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def part(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.width).transpose(1, 2)

    def forward(self, x, source=None, mask=None):
        q, k, v = (self.query(x), *self.memory(source).chunk(2, 2)) if self.cross else self.all(x).chunk(3, 2)
        weights = torch.matmul(self.part(q) * self.width ** -0.5, self.part(k).transpose(2, 3))
        if mask is not None:
            weights = weights + mask
        seen = torch.matmul(F.softmax(weights, 3), self.part(v))
        return self.out(seen.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, p, decodes):
        super().__init__()
        d = p["d"]
        self.self, self.norm_self = Attention(d, p["heads"], False), nn.LayerNorm(d)
        self.cross, self.norm_cross = (Attention(d, p["heads"], True), nn.LayerNorm(d)) if decodes else (None, None)
        self.inner, self.outer, self.norm_ff = nn.Linear(d, p["ff"]), nn.Linear(p["ff"], d), nn.LayerNorm(d)
        self.drop = nn.Dropout(p["dropout"]) if p["dropout"] else nn.Identity()

    def network(self, x):
        return self.outer(torch.relu_(self.inner(x)))

    def forward(self, x, source=None, mask=None):
        x = self.norm_self(x + self.drop(self.self(x, mask=mask)))
        if self.cross:
            x = self.norm_cross(x + self.drop(self.cross(x, source)))
        return self.norm_ff(x + self.drop(self.network(x)))


class Transformer(nn.Module):
    def __init__(self, p):
        super().__init__()
        d, V = p["d"], p["V"]
        self.d = d
        self.source, self.target = nn.Embedding(V, d), nn.Embedding(V, d)
        self.encoder = nn.ModuleList(Layer(p, False) for _ in range(p["layers"]))
        self.decoder = nn.ModuleList(Layer(p, True) for _ in range(p["layers"]))
        self.bias = nn.Parameter(torch.zeros(V))
        self.drop = nn.Dropout(p["dropout"]) if p["dropout"] else nn.Identity()
        angle = torch.arange(64.0).unsqueeze(1) / 10000 ** (torch.arange(0.0, d, 2) / d)
        self.register_buffer("place", torch.cat([angle.sin(), angle.cos()], 1))
        self.register_buffer("future", torch.full((64, 64), -math.inf).triu(1))
        for w in self.parameters():
            if w.dim() > 1:
                nn.init.xavier_uniform_(w)

    def embed(self, table, ids, at=0):
        return self.drop(table(ids) * math.sqrt(self.d) + self.place[at:at + ids.shape[1]])

    def encode(self, ids):
        x = self.embed(self.source, ids)
        for layer in self.encoder:
            x = layer(x)
        return x

    def logits(self, y):
        return F.linear(y, self.target.weight, self.bias)

    def forward(self, source, previous):
        x, y, n = self.encode(source), self.embed(self.target, previous), previous.shape[1]
        for layer in self.decoder:
            y = layer(y, x, self.future[:n, :n])
        return self.logits(y)


class RnnSearch(nn.Module):
    """Time first, which is what nn.GRU likes; the output layer reads all steps at once."""

    def __init__(self, p):
        super().__init__()
        d, u, V = p["d"], p["u"], p["V"]
        self.source, self.target = nn.Embedding(V, d), nn.Embedding(V, d)
        self.encoder = nn.GRU(d, u, bidirectional=True)
        self.initial, self.key, self.query, self.score = nn.Linear(u, u), nn.Linear(2 * u, u, bias=False), nn.Linear(u, u), nn.Linear(u, 1, bias=False)
        self.cell = nn.GRUCell(d + 2 * u, u)
        self.deep, self.output = nn.Linear(3 * u + d, 2 * d), nn.Linear(d, V)

    def forward(self, source, previous):
        states, ends = self.encoder(self.source(source.t()))
        keys, values = self.key(states), states.transpose(0, 1)
        words, h = self.target(previous.t()), torch.tanh(self.initial(ends[1]))
        hs, contexts = [], []
        for word in words:
            weights = F.softmax(self.score(torch.tanh(keys + self.query(h))).squeeze(2), 0)
            context = torch.bmm(weights.t().unsqueeze(1), values).squeeze(1)
            h = self.cell(torch.cat([word, context], 1), h)
            hs.append(h)
            contexts.append(context)
        deep = self.deep(torch.cat([torch.stack(hs), torch.stack(contexts), words], 2))
        return self.output(deep.view(*deep.shape[:2], -1, 2).max(3)[0])

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


class ConvS2S(nn.Module):
    """Channels first, which is what nn.Conv1d likes; attention reads the same rows transposed."""

    def __init__(self, p):
        super().__init__()
        d, V, k = p["d"], p["V"], p["k"]
        self.k = k
        self.source, self.target = nn.Embedding(V, d), nn.Embedding(V, d)
        self.source_place, self.target_place = nn.Embedding(p["places"], d), nn.Embedding(p["places"], d)
        self.reader = nn.ModuleList(nn.Conv1d(d, 2 * d, k, padding=k // 2) for _ in range(p["layers"]))
        self.writer = nn.ModuleList(nn.Conv1d(d, 2 * d, k) for _ in range(p["layers"]))
        self.query = nn.ModuleList(nn.Linear(d, d) for _ in range(p["layers"]))
        self.output = nn.Linear(d, V)
        for table in (self.source, self.target, self.source_place, self.target_place):
            nn.init.normal_(table.weight, 0, 0.1)
        for conv in [*self.reader, *self.writer]:
            nn.init.normal_(conv.weight, 0, math.sqrt(4 / (k * d)))
            nn.init.zeros_(conv.bias)

    def embed(self, table, place, ids):
        return table(ids) + place.weight[:ids.shape[1]]

    def forward(self, source, previous):
        half, e = math.sqrt(0.5), self.embed(self.source, self.source_place, source)
        x = e.transpose(1, 2)
        for conv in self.reader:
            x = (F.glu(conv(x), 1) + x) * half
        z = x.transpose(1, 2)
        if z.requires_grad:
            z.register_hook(lambda g: g / len(self.writer))
        values, root = z + e, math.sqrt(source.shape[1])
        g = self.embed(self.target, self.target_place, previous)
        y = g
        for conv, query in zip(self.writer, self.query):
            h = F.glu(conv(F.pad(y.transpose(1, 2), (self.k - 1, 0))), 1).transpose(1, 2)
            weights = F.softmax(torch.bmm(query(h) + g, z.transpose(1, 2)), 2)
            y = ((h + torch.bmm(weights, values) * root) * half + y) * half
        return self.output(y)


class Gnmt(nn.Module):
    """Time first. Only the bottom layer of the decoder goes step by step; nn.LSTM runs the others over all steps."""

    def __init__(self, p):
        super().__init__()
        d, u, V, n = p["d"], p["u"], p["V"], p["layers"]
        self.source, self.target = nn.Embedding(V, d), nn.Embedding(V, d)
        self.first = nn.LSTM(d, u, bidirectional=True)
        self.reader = nn.ModuleList(nn.LSTM(2 * u if i == 0 else u, u) for i in range(n - 1))
        self.key, self.query, self.score = nn.Linear(u, u, bias=False), nn.Linear(u, u), nn.Linear(u, 1, bias=False)
        self.bottom = nn.LSTMCell(d + u, u)
        self.writer = nn.ModuleList(nn.LSTM(2 * u, u) for _ in range(n - 1))
        self.output = nn.Linear(u, V)

    def forward(self, source, previous):
        x, (h, c) = self.first(self.source(source.t()))
        starts = [(h[1:2], c[1:2])]
        for i, lstm in enumerate(self.reader):
            y, end = lstm(x)
            starts.append(end)
            x = y + x if i >= 1 else y
        keys, values, words = self.key(x), x.transpose(0, 1), self.target(previous.t())
        h, c = starts[0][0][0], starts[0][1][0]
        hs, contexts = [], []
        for word in words:
            weights = F.softmax(self.score(torch.tanh(keys + self.query(h))).squeeze(2), 0)
            context = torch.bmm(weights.t().unsqueeze(1), values).squeeze(1)
            h, c = self.bottom(torch.cat([word, context], 1), (h, c))
            hs.append(h)
            contexts.append(context)
        y, contexts = torch.stack(hs), torch.stack(contexts)
        for i, lstm in enumerate(self.writer):
            above, _ = lstm(torch.cat([y, contexts], 2), starts[i + 1])
            y = above + y if i >= 1 else above
        return self.output(y)

"""Peer of case_lm.c: nn.LSTM, time first, and attention over the last outputs as one masked product (every row sees the five before it)."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        u, V = p["u"], p["V"]
        self.look, half = p["look"], u // 2
        self.words, self.rnn = nn.Embedding(V, p["d"]), nn.LSTM(p["d"], u, 2)
        if self.look:
            self.key, self.query, self.score = nn.Linear(half, half, bias=False), nn.Linear(half, half, bias=False), nn.Linear(half, 1, bias=False)
            self.read, self.own = nn.Linear(half, half, bias=False), nn.Linear(half, half, bias=False)
            t = torch.arange(p["steps"])
            far = t[:, None] - t[None]
            self.mask = torch.zeros(p["steps"], p["steps"]).masked_fill((far < 1) | (far > self.look), -1e9)
        self.out = nn.Linear(half if self.look else u, V)

    def forward(self, x):
        h = self.rnn(self.words(x))[0]
        if self.look:
            k, v = h.transpose(0, 1).chunk(2, 2)
            # additive scores of the last five outputs alone: unfold keeps the work that is masked away small
            pad = lambda y: F.pad(y, (0, 0, self.look, 0)).unfold(1, self.look, 1)[:, :-1].transpose(2, 3)
            e = self.score(torch.tanh(pad(self.key(k)) + self.query(k)[:, :, None])).squeeze(3)
            seen = torch.arange(k.shape[1])[:, None] + torch.arange(self.look)[None] >= self.look
            a = F.softmax(e.masked_fill(~seen, -1e9), 2)
            r = torch.matmul(a[:, :, None], pad(v)).squeeze(2)
            h = torch.tanh(self.read(r) + self.own(v)).transpose(0, 1)
        return self.out(h)


class Lstmn(nn.Module):
    """Step by step: the states so far are one tensor each, of which a step reads the beginning."""

    def __init__(self, p):
        super().__init__()
        d, u, V = p["d"], p["u"], p["V"]
        self.words, self.out = nn.Embedding(V, d), nn.Linear(u, V)
        self.into, self.back = nn.Linear(d, 4 * u), nn.Linear(u, 4 * u, bias=False)
        self.key, self.query = nn.Linear(u, u, bias=False), nn.Linear(d + u, u, bias=False)
        self.score = nn.Linear(u, 1, bias=False)

    def forward(self, x):
        e = self.words(x)
        gates, h = self.into(e), e.new_zeros(e.shape[1], self.out.in_features)
        c = h
        hs, cs, keys = [], [], []
        for word, gate in zip(e, gates):
            if hs:
                a = F.softmax(self.score(torch.tanh(torch.stack(keys) + self.query(torch.cat([word, h], 1)))), 0)
                h, c = (a * torch.stack(hs)).sum(0), (a * torch.stack(cs)).sum(0)
            i, f, o, n = (gate + self.back(h)).chunk(4, 1)
            cell = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(n)
            hs.append(torch.sigmoid(o) * torch.tanh(cell))
            cs.append(cell)
            keys.append(self.key(hs[-1]))
        return self.out(torch.stack(hs))


def setup(p):
    torch.manual_seed(1)
    m = Lstmn(p) if "lstmn" in p else Model(p)
    sgd = torch.optim.SGD(m.parameters(), lr=1e-3)
    x, y = (torch.randint(4, p["V"], (p["steps"], p["streams"])) for _ in range(2))
    result = []

    def run():
        sgd.zero_grad(set_to_none=True)
        loss = F.cross_entropy(m(x).view(-1, p["V"]), y.reshape(-1))
        loss.backward()
        sgd.step()
        result[:] = [float(loss)]

    return run, lambda: round(sum(w.numel() for w in m.parameters()) / 1e5) if result[0] < 100 else -1

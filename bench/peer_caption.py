"""Peer of case_caption.c: show, attend and tell with soft attention. Captions are sorted by length, so that every step has only those that go
on; keys of the cells are computed once; the vocabulary's product is one for all words."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from run_peer import fill


class Decoder(nn.Module):
    def __init__(self, p):
        super().__init__()
        d, c, V = p["d"], p["cell"], p["V"]
        self.words = nn.Embedding(V, d)
        self.key, self.query, self.score = nn.Linear(c, d, bias=False), nn.Linear(d, d, bias=False), nn.Linear(d, 1, bias=False)
        self.cell = nn.LSTMCell(d + c, d)
        self.first_h, self.first_c, self.gate = nn.Linear(c, d), nn.Linear(c, d), nn.Linear(d, 1)
        self.from_state, self.from_context = nn.Linear(d, d), nn.Linear(c, d, bias=False)
        self.out = nn.Linear(d, V)

    def forward(self, cells, previous, targets, active):
        keys, mean, words = self.key(cells), cells.mean(1), self.words(previous)
        h, c = torch.tanh(self.first_h(mean)), torch.tanh(self.first_c(mean))
        rows = []
        for t, n in enumerate(active):
            h, c, x = h[:n], c[:n], words[:n, t]
            a = F.softmax(self.score(torch.tanh(keys[:n] + self.query(h)[:, None])).squeeze(2), 1)
            z = torch.sigmoid(self.gate(h)) * torch.bmm(a[:, None], cells[:n]).squeeze(1)
            h, c = self.cell(torch.cat([x, z], 1), (h, c))
            rows.append(x + self.from_state(h) + self.from_context(z))
        return F.cross_entropy(self.out(torch.cat(rows)), targets)


def setup(p):
    torch.manual_seed(1)
    m = Decoder(p)
    adam = torch.optim.Adam(m.parameters(), lr=1e-4)
    n = p["pictures"]
    lengths = sorted((8 + i * 7 % 9 for i in range(n)), reverse=True)
    cells = fill((n, p["cells"], p["cell"]), 1) + 0.5
    previous = torch.randint(4, p["V"], (n, lengths[0]))
    active = [sum(l > t for l in lengths) for t in range(lengths[0])]
    targets = torch.randint(4, p["V"], (sum(active),))
    result = []

    def run():
        adam.zero_grad(set_to_none=True)
        loss = m(cells, previous, targets, active)
        loss.backward()
        adam.step()
        result[:] = [float(loss)]

    # nn.LSTMCell has a second bias, which is of no use
    return run, lambda: round((sum(w.numel() for w in m.parameters()) - 4 * p["d"]) / 1e5) if result[0] < 100 else -1

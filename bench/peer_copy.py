"""Peer of case_copy.c: rnnsearch with a pointer; the distribution over V words and those of the source by scatter_add."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from systems import RnnSearch


class Copying(RnnSearch):
    """Time first like its parent. y is what is answered from."""

    def __init__(self, p):
        super().__init__(p)
        d, u = p["d"], p["u"]
        self.pointer, self.gate = nn.Linear(2 * u, d, bias=False), nn.Linear(d + 2 * u, 1)

    def forward(self, source, copies, previous, extra):
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
        y = deep.view(*deep.shape[:2], -1, 2).max(3)[0].transpose(0, 1)
        a = F.softmax(torch.bmm(y, self.pointer(values).transpose(1, 2)), 2)
        s = torch.sigmoid(self.gate(torch.cat([y, torch.bmm(a, values)], 2)))
        p = F.pad(F.softmax(self.output(y), 2) * s, (0, extra))
        return p.scatter_add(2, copies.unsqueeze(1).expand(-1, y.shape[1], -1), a * (1 - s))


def setup(p):
    torch.manual_seed(1)
    m, V, n = Copying(p), p["V"], p["extra"]
    adam = torch.optim.Adam(m.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    words = torch.randint(4, V, (p["batch"], p["source"]))
    unknown = torch.arange(p["source"]) % 5 == 0
    source, copies = words.masked_fill(unknown, 0), torch.where(unknown, V + torch.arange(p["source"]) // 5, words)
    target = torch.randint(4, V, (p["batch"], p["target"]))
    target[:, 1::2] = copies[:, :p["target"] // 2]
    previous = torch.cat([torch.ones(p["batch"], 1, dtype=torch.long), target[:, :-1]], 1)
    previous = previous.masked_fill(previous >= V, 0)
    result = []

    def run():
        adam.zero_grad(set_to_none=True)
        q = m(source, copies, previous, n).gather(2, target.unsqueeze(2))
        loss = -(q + 1e-30).log().mean()
        loss.backward()
        adam.step()
        result[:] = [float(loss)]

    def check():
        numbers = sum(w.numel() for w in m.parameters())
        return round(numbers / 1e5) if result[0] < 100 else -1

    return run, check

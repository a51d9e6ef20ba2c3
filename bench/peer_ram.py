"""Peer of case_ram.c: the recurrent attention model. The sensor is one grid_sample without a gradient; everything else is modules."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from run_peer import fill

DEVIATION = 0.15


class Ram(nn.Module):
    def __init__(self, p):
        super().__init__()
        H, W, k = p["hidden"], p["width"], p["patch"]
        self.glimpses, self.patch = p["glimpses"], k
        self.glimpse, self.place = nn.Linear(k * k, H), nn.Linear(2, H)
        self.see, self.where = nn.Linear(H, W), nn.Linear(H, W, bias=False)
        self.input, self.state = nn.Linear(W, W), nn.Linear(W, W, bias=False)
        self.location, self.baseline, self.action = nn.Linear(W, 2), nn.Linear(W, 1), nn.Linear(W, 10)
        at = (torch.arange(k) - (k - 1) / 2) / ((p["side"] - 1) / 2)
        self.offsets = torch.stack(torch.meshgrid(at, at, indexing="ij")[::-1], -1)[None]  # x, y

    def forward(self, x, y):
        l = 2 * torch.rand(len(x), 2) - 1
        h, means, draws, bases = None, [], [], []
        for i in range(self.glimpses):
            with torch.no_grad():
                seen = F.grid_sample(x, l[:, None, None] + self.offsets, align_corners=True).flatten(1)
            g = F.relu(self.see(F.relu(self.glimpse(seen))) + self.where(F.relu(self.place(l))))
            h = F.relu(self.input(g) + self.state(h)) if h is not None else F.relu(self.input(g))
            if i + 1 < self.glimpses:
                d = h.detach()
                mean = torch.tanh(self.location(d))
                draw = mean.detach() + DEVIATION * torch.randn_like(mean)
                means.append(mean), draws.append(draw), bases.append(self.baseline(d))
                l = draw.clamp(-1, 1)
        logits = self.action(h)
        R = (logits.argmax(1) == y).float()[None]
        mean, draw, base = torch.stack(means), torch.stack(draws), torch.stack(bases).squeeze(2)
        score = ((R - base.detach()) * ((mean - draw) ** 2).sum(2)).sum() / (2 * DEVIATION ** 2)
        return (F.cross_entropy(logits, y, reduction="sum") + score + ((base - R) ** 2).sum()) / len(x)


def setup(p):
    torch.manual_seed(1)
    m = Ram(p)
    adam = torch.optim.Adam(m.parameters(), lr=1e-4)
    x = fill((p["pictures"], 1, p["side"], p["side"]), 1) + 0.5
    y = torch.arange(p["pictures"]) % 10
    result = []

    def run():
        adam.zero_grad(set_to_none=True)
        loss = m(x, y)
        loss.backward()
        adam.step()
        result[:] = [float(loss)]

    return run, lambda: round(sum(w.numel() for w in m.parameters()) / 1e5) if result[0] < 1e9 else -1

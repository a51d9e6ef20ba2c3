"""Peer of case_gan.c: binary cross-entropy of logits; samples are made without a graph for the discriminator's step,
and the discriminator's weights ask for no gradient in the generator's."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def setup(p):
    torch.manual_seed(1)
    n, pixels = p["pictures"], p["pixels"]
    maker = nn.Sequential(nn.Linear(100, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU(),
                          nn.Linear(1200, pixels), nn.Sigmoid())
    judge = nn.Sequential(nn.Linear(pixels, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))
    optimisers = [torch.optim.Adam(m.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9) for m in (judge, maker)]
    x, ones, zeros = torch.rand(n, pixels), torch.ones(n, 1), torch.zeros(n, 1)
    result = []

    def update(optimiser, loss):
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        result[:] = [float(loss)]

    def run():
        with torch.no_grad():
            fake = maker(torch.rand(n, 100) * 2 - 1)
        for w in judge.parameters():
            w.requires_grad_(True)
        told = F.binary_cross_entropy_with_logits(judge(x), ones)
        update(optimisers[0], told + F.binary_cross_entropy_with_logits(judge(fake), zeros))
        for w in judge.parameters():
            w.requires_grad_(False)
        update(optimisers[1], F.binary_cross_entropy_with_logits(judge(maker(torch.rand(n, 100) * 2 - 1)), ones))

    count = sum(w.numel() for m in (maker, judge) for w in m.parameters())
    return run, lambda: round(count / 1e5) if result[0] < 100 else -1

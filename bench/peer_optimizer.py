"""Peer of case_optimizer.c: with two workers the sum of gradients, clip_grad_norm_ and Adam; with one, Adam alone."""
import torch


def shapes(p):
    D, F = p["D"], p["F"]
    yield from [(p["V"], D)] * 2
    for _ in range(p["layers"]):
        for projections in (4, 8):
            yield from [(D, D)] * projections + [(D, F), (1, F), (F, D)]


def setup(p):
    params = [torch.nn.Parameter(torch.randn(s) * 0.1) for s in shapes(p)]
    mine = [torch.randn_like(w) * 1e-3 for w in params]
    other = [torch.randn_like(w) * 1e-3 for w in params]
    adam = torch.optim.Adam(params, 1e-4, betas=(0.9, 0.98), eps=1e-9)
    for w, g in zip(params, mine):
        w.grad = g

    def run():
        if p["workers"] == 2:
            for w, g in zip(params, other):
                w.grad.add_(g)
            torch.nn.utils.clip_grad_norm_(params, 1.0)
        adam.step()

    return run, (lambda: None)

"""Peer of case_additive.c: broadcast sum, tanh, product with v; all pairs by width are stored."""
import torch
from run_peer import fill, mean_abs


def setup(p):
    x, y, values, dout = (fill((64, 30, 512), seed) for seed in (1, 2, 3, 5))
    v = fill((512,), 4)
    kept = {}

    def forward():
        e = torch.tanh(x.unsqueeze(2) + y.unsqueeze(1)) @ v
        return torch.bmm(torch.softmax(e, -1), values)

    def infer():
        with torch.inference_mode():
            kept["out"] = forward()

    def train():
        x.grad = y.grad = values.grad = v.grad = None
        forward().backward(dout)

    if not p["train"]:
        return infer, (lambda: mean_abs(kept["out"]))
    for t in (x, y, values, v):
        t.requires_grad_(True)
    return train, (lambda: (mean_abs(x.grad) + mean_abs(y.grad) + mean_abs(values.grad)) / 3)

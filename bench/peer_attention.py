"""Peer of case_attention.c: the cheapest eager form, scale and mask folded into the product, weights materialised."""
import torch
import torch.nn.functional as F
from run_peer import fill, mean_abs


def heads(x, p):
    """(B n, H 64) as bench_fill() numbers it -> (B H, n, 64)"""
    return x.view(p["B"], p["n"], p["H"], 64).transpose(1, 2).reshape(p["B"] * p["H"], p["n"], 64).contiguous()


def setup(p):
    if p["n"] > 2048:
        raise ModuleNotFoundError
    n = p["n"]
    q, k, v, dout = (heads(fill((p["B"] * n, p["H"] * 64), seed), p) for seed in (1, 2, 3, 4))
    mask = torch.full((n, n), float("-inf")).triu(1).unsqueeze(0) if p["causal"] else None
    kept = {}

    def forward():
        if mask is None:
            s = torch.bmm(q * 0.125, k.transpose(1, 2))
        else:
            s = torch.baddbmm(mask, q, k.transpose(1, 2), beta=1, alpha=0.125)
        return torch.bmm(F.softmax(s, -1), v)

    def infer():
        with torch.inference_mode():
            kept["out"] = forward()

    def train():
        q.grad = k.grad = v.grad = None
        forward().backward(dout)

    if not p["train"]:
        return infer, (lambda: mean_abs(kept["out"]))
    for x in (q, k, v):
        x.requires_grad_(True)
    return train, (lambda: (mean_abs(q.grad) + mean_abs(k.grad) + mean_abs(v.grad)) / 3)

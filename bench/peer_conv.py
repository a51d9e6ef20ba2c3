"""Peer of case_conv.c: conv2d, max_pool2d and linear layers on (N, C, H, W) in channels_last, which is our order of numbers."""
import torch
import torch.nn.functional as F
from run_peer import fill, mean_abs


def weights(rows, cols, seed):
    return fill((rows, cols), seed) * 0.2


def kernel(taps, D, E, seed):
    """(taps taps D, E), as ours, -> (E, D, taps, taps)"""
    return weights(taps * taps * D, E, seed).reshape(taps, taps, D, E).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)


def setup(p):
    N, side, D, taps, E = (p[k] for k in ("pictures", "side", "D", "taps", "E"))
    x = fill((N, side, side, D), 1).permute(0, 3, 1, 2)
    if taps:
        w, b = [kernel(taps, D, E, 3)], [fill((E,), 4)]
        dout = fill((N, side, side, E), 2).permute(0, 3, 1, 2)
    else:
        w = [kernel(5, D, 32, 3), kernel(5, 32, 48, 5)] + [weights(i, o, s) for i, o, s in ((768, 100, 7), (100, 100, 9), (100, 10, 11))]
        b = [fill((n,), 4 + 2 * i) for i, n in enumerate((32, 48, 100, 100, 10))]
        target = torch.arange(N) % 10
    kept = {}

    def layer():
        return F.relu(F.conv2d(x, w[0], b[0], padding=taps // 2))

    def network():
        h = x
        for i in range(2):
            h = F.max_pool2d(F.relu(F.conv2d(h, w[i], b[i])), 2)
        h = h.permute(0, 2, 3, 1).reshape(N, -1)
        for i in (2, 3):
            h = F.relu(torch.addmm(b[i], h, w[i]))
        return F.cross_entropy(torch.addmm(b[4], h, w[4]), target, reduction="sum")

    def infer():
        with torch.inference_mode():
            kept["out"] = layer()

    def train():
        for v in [x] + w + b:
            v.grad = None
        if taps:
            layer().backward(dout)
        else:
            network().backward()

    if not p["train"]:
        return infer, (lambda: mean_abs(kept["out"]))
    x.requires_grad_(p["to_input"])
    for v in w + b:
        v.requires_grad_(True)
    return train, (lambda: mean_abs(w[0].grad) + (mean_abs(x.grad) if p["to_input"] else 0))

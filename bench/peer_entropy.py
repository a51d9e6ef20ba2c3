"""Peer of case_entropy.c: F.cross_entropy with label smoothing over a linear layer."""
import torch
import torch.nn.functional as F
from run_peer import fill, mean_abs


def setup(p):
    N, D, V = p["N"], p["D"], p["V"]
    x, w = fill((N, D), 1).requires_grad_(), fill((V, D), 2).requires_grad_()
    b = torch.zeros(V, requires_grad=True)
    target = torch.arange(N) * 7919 % V
    result = []

    def run():
        x.grad = w.grad = b.grad = None
        loss = F.cross_entropy(F.linear(x, w, b), target, label_smoothing=0.1, reduction="sum")
        loss.backward()
        result[:] = [float(loss) / N, x.grad]

    return run, lambda: result[0] + mean_abs(result[1])

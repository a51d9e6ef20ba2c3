"""Peer of case_lstm.c: nn.LSTM and nn.GRU, time first, which is their fast layout."""
import torch
import torch.nn as nn
from run_peer import fill, mean_abs

BATCH, STEPS = 64, 40
ORDER = {"LSTM": [0, 1, 3, 2], "GRU": [1, 0, 2]}  # our gates (i f o n, z r n) in PyTorch's order (i f g o, r z n)


def weights(kind, u, seed):
    w = 0.1 * fill((u, len(ORDER[kind]) * u), seed)
    return torch.cat([w[:, k * u:(k + 1) * u] for k in ORDER[kind]], 1).t().contiguous()


def setup(p):
    kind, u = p["kind"], p["u"]
    m = getattr(nn, kind)(u, u)
    with torch.no_grad():
        m.weight_ih_l0.copy_(weights(kind, u, 2))
        m.weight_hh_l0.copy_(weights(kind, u, 3))
        m.bias_ih_l0.zero_()
        m.bias_hh_l0.zero_()
    times = lambda seed: fill((BATCH, STEPS, u), seed).transpose(0, 1).contiguous()
    x, dy = times(1).requires_grad_(p["backward"]), times(4)
    result = []

    def both():
        m.zero_grad(set_to_none=True)
        x.grad = None
        m(x)[0].backward(dy)
        result[:] = [x.grad]

    def forward():
        with torch.inference_mode():
            result[:] = [m(x)[0]]

    return (both if p["backward"] else forward), (lambda: mean_abs(result[0]))

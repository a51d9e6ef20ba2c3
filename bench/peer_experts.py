"""Peer of case_experts.c: a loop over experts, each on the rows that chose it."""
import torch
import torch.nn.functional as F
from run_peer import fill, mean_abs


def setup(p):
    rows, d, hidden, experts, top = (p[k] for k in ("rows", "d", "hidden", "experts", "top"))
    gate = (0.1 * fill((d, experts), 2)).requires_grad_()
    inner = [(0.05 * fill((d, hidden), 10 + 2 * i)).requires_grad_() for i in range(experts)]
    outer = [(0.05 * fill((hidden, d), 11 + 2 * i)).requires_grad_() for i in range(experts)]
    b1 = [torch.zeros(hidden, requires_grad=True) for _ in range(experts)]
    b2 = [torch.zeros(d, requires_grad=True) for _ in range(experts)]
    leaves = [gate] + inner + outer + b1 + b2
    x, dy = fill((rows, d), 1).requires_grad_(p["backward"]), fill((rows, d), 4)
    result = []

    def mix():
        value, chosen = torch.topk(x @ gate, top, dim=1)
        weight = F.softmax(value, 1)
        y = torch.zeros(rows, d)
        for i in range(experts):
            row, slot = torch.where(chosen == i)
            if row.numel():
                made = torch.addmm(b2[i], F.relu(torch.addmm(b1[i], x.index_select(0, row), inner[i])), outer[i])
                y = y.index_add(0, row, made * weight[row, slot, None])
        return y

    def both():
        for v in leaves + [x]:
            v.grad = None
        mix().backward(dy)
        result[:] = [x.grad]

    def forward():
        with torch.inference_mode():
            result[:] = [mix()]

    return (both if p["backward"] else forward), (lambda: mean_abs(result[0]))

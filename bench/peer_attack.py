"""Peer of case_attack.c: autograd.grad of the pictures alone, ten times; weights ask for no gradient."""
import torch
import torch.nn.functional as F
from peer_adversarial import biases, pictures, weights


def setup(p):
    D, n, epsilon = p["channels"], p["pictures"], 0.1
    shapes = [(25 * D, 32), (800, 48), (7 * 7 * 48, 100), (100, 100), (100, 10)]
    w, b = [x.detach() for x in weights(shapes)], [x.detach() for x in biases(shapes)]
    for i, (d, e) in enumerate(((D, 32), (32, 48))):
        w[i] = w[i].reshape(5, 5, d, e).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    x, y = pictures(n, D, 1).permute(0, 3, 1, 2), torch.arange(n) % 10

    def net(h):
        for i in range(2):
            h = F.max_pool2d(F.relu(F.conv2d(h, w[i], b[i], padding=2)), 2)
        h = h.permute(0, 2, 3, 1).reshape(n, -1)
        for i in (2, 3):
            h = F.relu(torch.addmm(b[i], h, w[i]))
        return torch.addmm(b[4], h, w[4])

    result = []

    def run():
        with torch.no_grad():
            result[:] = [F.cross_entropy(net(x), y)]
        r = (torch.rand_like(x) * 2 - 1) * epsilon
        for _ in range(p["steps"]):
            at = (x + r).clamp(0, 1).requires_grad_()
            g, = torch.autograd.grad(F.cross_entropy(net(at), y), at)
            r = (r + 2.5 * epsilon / p["steps"] * g.sign()).clamp(-epsilon, epsilon)
        return r

    return run, lambda: float(result[0])

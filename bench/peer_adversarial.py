"""Peer of case_adversarial.c: the same three training steps in PyTorch. The graph of the clean pass is kept for the gradient of FGSM; weights ask
for no gradient inside inner passes (autograd.grad of the input); both domains go through the convolutions together."""
import torch
import torch.nn.functional as F
from run_peer import fill


def weights(shapes):
    return [(0.1 * fill(s, 10 + i)).requires_grad_() for i, s in enumerate(shapes)]


def biases(shapes):
    return [torch.zeros(s[1], requires_grad=True) for s in shapes]


def pictures(n, channels, seed):
    return fill((n, 28, 28, channels), seed) + 0.5


def kl(p, logits):
    """Mean over rows of KL[p || softmax(logits)], p a constant."""
    return F.kl_div(F.log_softmax(logits, 1), p, reduction="batchmean")


def fgsm(p):
    shapes = [(784, 1200), (1200, 1200), (1200, 10)]
    w, b = weights(shapes), biases(shapes)
    x, y = pictures(p["labelled"], 1, 1).reshape(-1, 784).requires_grad_(), torch.arange(p["labelled"]) % 10

    def net(h):
        for i in range(2):
            h = F.relu(torch.addmm(b[i], h, w[i]))
        return torch.addmm(b[2], h, w[2])

    def loss():
        clean = F.cross_entropy(net(x), y)
        g, = torch.autograd.grad(clean, x, retain_graph=True)
        return 0.5 * clean + 0.5 * F.cross_entropy(net((x.detach() + 0.25 * g.sign()).clamp(0, 1)), y)

    return w + b, loss, loss


def vat(p):
    shapes = [(784, 1200), (1200, 1200), (1200, 10)]
    w, b = weights(shapes), biases(shapes)
    gain, shift = ([torch.full((1200,), v, requires_grad=True) for _ in range(2)] for v in (1.0, 0.0))
    x, y = pictures(p["labelled"], 1, 1).reshape(-1, 784), torch.arange(p["labelled"]) % 10
    u = pictures(p["beside"], 1, 2).reshape(-1, 784)

    def net(h):
        for i in range(2):
            h = F.relu(F.batch_norm(h @ w[i], None, None, gain[i], shift[i], training=True))
        return torch.addmm(b[2], h, w[2])

    def smooth(x, logits):
        q = F.softmax(logits.detach(), 1)
        d = torch.randn_like(x)
        d = (0.01 * d / d.norm(dim=1, keepdim=True)).requires_grad_()
        g, = torch.autograd.grad(kl(q, net(x + d)), d)
        return kl(q, net(x + 2 * g / g.norm(dim=1, keepdim=True)))

    def loss():
        logits = net(x)
        with torch.no_grad():
            beside = net(u)
        n, m = len(x), len(u)
        return F.cross_entropy(logits, y) + (n * smooth(x, logits) + m * smooth(u, beside)) / (n + m)

    return w + b[2:] + gain + shift, loss, (lambda: F.cross_entropy(net(x), y))


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -g


def dann(p):
    flat = 7 * 7 * 48
    shapes = [(75, 32), (800, 48), (flat, 100), (100, 100), (100, 10), (flat, 100), (100, 2)]
    w, b = weights(shapes), biases(shapes)
    with torch.no_grad():
        for i, (D, E) in enumerate(((3, 32), (32, 48))):
            w[i] = w[i].reshape(5, 5, D, E).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    for i in range(2):
        w[i].requires_grad_()
    n = p["labelled"]
    x = torch.cat([pictures(n, 3, 1), pictures(p["beside"], 3, 2)]).permute(0, 3, 1, 2)
    y, d = torch.arange(n) % 10, torch.cat([torch.zeros(n), torch.ones(p["beside"])]).long()

    def dense(h, i):
        return torch.addmm(b[i], h, w[i])

    def loss():
        h = x
        for i in range(2):
            h = F.max_pool2d(F.relu(F.conv2d(h, w[i], b[i], padding=2)), 2)
        h = h.permute(0, 2, 3, 1).reshape(len(x), -1)
        task = dense(F.relu(dense(F.relu(dense(h[:n], 2)), 3)), 4)
        domain = dense(F.relu(dense(Reverse.apply(h), 5)), 6)
        return F.cross_entropy(task, y) + F.cross_entropy(domain, d)

    return w + b, loss, loss


def setup(p):
    learned, loss, checked = {"fgsm": fgsm, "vat": vat, "dann": dann}[p["kind"]](p)
    first = float(checked())
    optimiser = torch.optim.Adam(learned, lr=1e-4)

    def run():
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        optimiser.step()

    return run, (lambda: first)

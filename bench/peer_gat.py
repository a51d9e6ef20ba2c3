"""Peer of case_gat.c: edge lists with index_select and index_add. Features are gathered rows of W times their values, a mask a head, summed: faster than embedding_bag,
sparse and dense products (14 ms forward and backward of Cora's features on one thread against 48, 27 and 76)."""
import numpy
import torch
import torch.nn.functional as F
from run_peer import fill, mean_abs

HEADS, WIDE, DROP = 8, 8, 0.6


def mixed(i, seed):
    h = (numpy.asarray(i, dtype=numpy.uint64) + (seed * 0x9E3779B9 & 0xFFFFFFFF)) * 0x85EBCA6B & 0xFFFFFFFF
    h = ((h ^ (h >> numpy.uint64(15))) * 0xC2B2AE35) & 0xFFFFFFFF
    return h ^ (h >> numpy.uint64(13))


def distinct(rows, span):
    """Move every repetition in a row on to the next free place, as the case does."""
    for row, most in zip(rows, span):
        had = set()
        for k, j in enumerate(row):
            while j in had:
                j = (j + 1) % most
            had.add(j)
            row[k] = j
    return rows


def edges(nodes, count):
    cites, k = [], 0
    r = (mixed(numpy.arange(count + 1), 1) / 4294967296.0).tolist()
    for i in range(1, nodes):
        n = min(count * (i + 1) // nodes - k, min(i, 64))
        cites.append([int(i * r[k + m] * r[k + m]) for m in range(n)])
        k += n
    distinct(cites, range(1, nodes))
    new = numpy.repeat(numpy.arange(1, nodes), [len(c) for c in cites])
    return new, numpy.concatenate([numpy.array(c, dtype=numpy.int64) for c in cites])


def setup(p):
    n, classes = p["nodes"], p["classes"]
    new, old = edges(n, p["edges"])
    loop = numpy.arange(n)
    source = torch.from_numpy(numpy.concatenate([loop, old, new]))  # node `target` looks at node `source`
    target = torch.from_numpy(numpy.concatenate([loop, new, old]))
    words = (mixed(numpy.arange(n * p["words"]), 2) % p["features"]).reshape(n, -1).astype(numpy.int64).tolist()
    words = torch.tensor(distinct(words, [p["features"]] * n))
    values = torch.full((words.numel(), HEADS), 1 / p["words"])
    labels = torch.from_numpy((mixed(numpy.arange(n), 3) % classes).astype(numpy.int64))[: p["labelled"]]
    shapes = [(p["features"], 64), (1, 64), (1, 64), (1, 64), (1, 8), (1, 8), (64, classes), (1, classes), (1, classes), (1, classes), (1, 1), (1, 1)]
    w1, b1, q1, k1, bq1, bk1, w2, b2, q2, k2, bq2, bk2 = params = [fill(s, i + 1).requires_grad_(True) for i, s in enumerate(shapes)]

    def product(train):
        if not train:
            return F.embedding_bag(words, w1, mode="sum", per_sample_weights=values[:, 0].reshape(words.shape))
        a = F.dropout(values, DROP).view(*words.shape, HEADS, 1)
        return (F.embedding(words, w1).view(*words.shape, HEADS, WIDE) * a).sum(1).view(n, -1)

    def attend(h, heads, q, k, bq, bk, train):
        h = h.view(n, heads, -1)
        u, z = (h * q.view(heads, -1)).sum(2) + bq, (h * k.view(heads, -1)).sum(2) + bk
        e = F.leaky_relu(u.index_select(0, target) + z.index_select(0, source), 0.2)
        most = torch.full((n, heads), -float("inf")).scatter_reduce(0, target.unsqueeze(1).expand(-1, heads), e.detach(), "amax")
        e = (e - most.index_select(0, target)).exp()
        a = e / torch.zeros(n, heads).index_add(0, target, e).index_select(0, target)
        v = F.dropout(h, DROP, train).index_select(0, source) * F.dropout(a, DROP, train).unsqueeze(2)
        return torch.zeros_like(h).index_add(0, target, v).view(n, -1)

    def forward(train):
        x = F.elu(attend(product(train), HEADS, q1, k1, bq1, bk1, train) + b1)
        return attend(F.dropout(x, DROP, train) @ w2, 1, q2, k2, bq2, bk2, train) + b2

    def loss(train):
        return F.cross_entropy(forward(train)[: p["labelled"]], labels, reduction="mean" if train else "sum")

    def evaluate():
        with torch.inference_mode():
            forward(False)

    adam = torch.optim.Adam(params, lr=0.005, weight_decay=0.0005)

    def learn():
        adam.zero_grad(set_to_none=True)
        loss(True).backward()
        adam.step()

    if not p["train"]:
        agreed = mean_abs(forward(False))
        return evaluate, (lambda: agreed)
    agreed = mean_abs(torch.autograd.grad(loss(False), w1)[0])
    return learn, (lambda: agreed)

#!/usr/bin/env python3
"""Writes the reference vectors of tests/test_reference.c with PyTorch (Debian: python3-torch).

usage: make_reference.py        writes <case>.txt beside itself, the same bytes every time

A file is a list of matrices: a line "name rows cols", then a line of numbers for each row. Weights are in our layout and gate order
(regard/recurrent.h, regard/conv.h); y is the result, dy the gradient fed into it, d<name> the gradients that came back.
"""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
GROUPS = [4, 1, 3]  # rows of each group


def write(case, **tensors):
    with open(os.path.join(HERE, case + ".txt"), "w") as f:
        for name, x in tensors.items():
            x = x.detach().reshape(-1, x.shape[-1]) if x.dim() else x.detach().reshape(1, 1)
            f.write(f"{name} {x.shape[0]} {x.shape[1]}\n")
            for row in x.tolist():
                f.write(" ".join("%.9g" % v for v in row) + "\n")


def leaf(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).float().double().requires_grad_()


def rows_of_groups(x, f):
    """f on each group by itself: no padding, like ours."""
    return torch.cat([f(part) for part in torch.split(x, GROUPS)])


def linear():
    x, w, b = leaf(7, 5), leaf(5, 9), leaf(1, 9)
    dy = leaf(7, 9)
    for name, f in {"identity": lambda v: v, "tanh": torch.tanh, "relu": F.relu, "gelu": F.gelu, "sigmoid": torch.sigmoid, "elu": F.elu,
                    "softplus": F.softplus, "leaky_relu": lambda v: F.leaky_relu(v, 0.2)}.items():
        for v in (x, w, b):
            v.grad = None
        y = f(x @ w + b)
        y.backward(dy)
        write("linear_" + name, x=x, w=w, b=b, y=y, dy=dy, dx=x.grad, dw=w.grad, db=b.grad)


def layer_norm():
    x, r, g, b, dy = leaf(5, 17), leaf(5, 17), leaf(1, 17), leaf(1, 17), leaf(5, 17)
    y = F.layer_norm(x + r, (17,), g[0], b[0], 1e-5)
    y.backward(dy)
    write("add_norm", x=x, r=r, g=g, b=b, y=y, dy=dy, dx=x.grad, dr=r.grad, dg=g.grad, db=b.grad)


def batch_norm():
    x, g, b, dy = leaf(9, 7), leaf(1, 7), leaf(1, 7), leaf(9, 7)
    m = nn.BatchNorm1d(7, eps=1e-5, momentum=0.1)
    m.weight.data, m.bias.data = g[0].detach().clone(), b[0].detach().clone()
    y = m(x)
    y.backward(dy)
    m.eval()
    write("batch_norm", x=x, g=g, b=b, y=y, dy=dy, dx=x.grad, dg=m.weight.grad[None], db=m.bias.grad[None], mean=m.running_mean[None],
          variance=m.running_var[None], later=m(x))


def softmax():
    x, dy = leaf(5, 9, scale=3), leaf(5, 9)
    y = F.softmax(x, 1)
    y.backward(dy)
    write("softmax", x=x, y=y, dy=dy, dx=x.grad)
    x.grad = None
    y = F.log_softmax(x, 1)
    y.backward(dy)
    write("log_softmax", x=x, y=y, dy=dy, dx=x.grad)


def losses():
    x = leaf(6, 11, scale=2)
    target = torch.tensor([3, 0, -1, 10, 3, 7])
    for name, eps in (("cross_entropy", 0.0), ("cross_entropy_smoothed", 0.1)):
        x.grad = None
        y = F.cross_entropy(x, target, ignore_index=-1, reduction="sum", label_smoothing=eps)
        y.backward()
        write(name, x=x, target=target.double()[None], y=y, dx=x.grad)
    x.grad = None
    p = torch.rand(6, 11).float().double()
    y = F.binary_cross_entropy_with_logits(x, p, reduction="sum")
    y.backward()
    write("binary_cross_entropy", x=x, target=p, y=y, dx=x.grad)
    x.grad = None
    y = F.mse_loss(x, p, reduction="sum")
    y.backward()
    write("squared_error", x=x, target=p, y=y, dx=x.grad)


def embedding():
    table, dy = leaf(7, 5), leaf(6, 5)
    index = torch.tensor([3, 0, 3, 6, 1, 3])
    y = F.embedding(index, table)
    y.backward(dy)
    write("embedding", table=table, index=index.double()[None], y=y, dy=dy, dtable=table.grad)


# PyTorch's gate order -> ours
ORDER = {"rnn": [0], "lstm": [0, 1, 3, 2], "gru": [1, 0, 2]}


def ours(kind, w, u):
    """(G u, in) in PyTorch's order -> (in, G u) in ours"""
    return torch.cat([w[k * u:(k + 1) * u] for k in ORDER[kind]]).t()


def recurrent():
    D, U = 5, 7
    for kind, module in (("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU)):
        for way in ("ahead", "back"):
            m = module(D, U)
            x, dy = leaf(sum(GROUPS), D), leaf(sum(GROUPS), U)
            turn = (lambda v: v.flip(0)) if way == "back" else (lambda v: v)
            y = rows_of_groups(x, lambda part: turn(m(turn(part)[:, None])[0][:, 0]))
            y.backward(dy)
            t = dict(x=x, w=ours(kind, m.weight_ih_l0, U), u=ours(kind, m.weight_hh_l0, U), y=y, dy=dy, dx=x.grad,
                     dw=ours(kind, m.weight_ih_l0.grad, U), du=ours(kind, m.weight_hh_l0.grad, U))
            bi, bh = ours(kind, m.bias_ih_l0[:, None], U), ours(kind, m.bias_hh_l0[:, None], U)
            dbi, dbh = ours(kind, m.bias_ih_l0.grad[:, None], U), ours(kind, m.bias_hh_l0.grad[:, None], U)
            if kind == "gru":  # the inner bias is its own; those of the other gates add up
                t["b"] = torch.cat([bi[:, :2 * U] + bh[:, :2 * U], bi[:, 2 * U:]], 1)
                t["b_new"], t["db_new"] = bh[:, 2 * U:], dbh[:, 2 * U:]
            else:
                t["b"] = bi + bh
            t["db"] = dbi
            write(f"{kind}_{way}", **t)


def conv():
    for name, taps, dilation, causal in (("conv1d", 3, 1, False), ("conv1d_causal", 3, 2, True)):
        x, w, b, dy = leaf(sum(GROUPS), 5), leaf(3, 5, taps), leaf(1, 3), leaf(sum(GROUPS), 3)
        reach = (taps - 1) * dilation
        pad = (reach, 0) if causal else (reach // 2, reach - reach // 2)
        y = rows_of_groups(x, lambda part: F.conv1d(F.pad(part.t()[None], pad), w, b[0], dilation=dilation)[0].t())
        y.backward(dy)
        flat = lambda v: v.permute(2, 1, 0).reshape(taps * 5, 3)
        write(name, x=x, w=flat(w), b=b, y=y, dy=dy, dx=x.grad, dw=flat(w.grad), db=b.grad)

    G, H, W, D, E = 2, 5, 4, 3, 2
    x, w, b = leaf(G, D, H, W), leaf(E, D, 3, 3), leaf(1, E)
    rows = lambda v: v.permute(0, 2, 3, 1).reshape(-1, v.shape[1])
    flat = lambda v: v.permute(2, 3, 1, 0).reshape(9 * D, E)
    y = F.conv2d(x, w, b[0], stride=2, padding=1)
    dy = leaf(*y.shape)
    y.backward(dy)
    write("conv2d", x=rows(x), w=flat(w), b=b, y=rows(y), dy=rows(dy), dx=rows(x.grad), dw=flat(w.grad), db=b.grad)
    for name, f in (("max_pool2d", lambda v: F.max_pool2d(v, 2, 2, padding=1)),
                    ("average_pool2d", lambda v: F.avg_pool2d(v, 2, 2, padding=1, count_include_pad=False))):
        x.grad = None
        y = f(x)
        dy = leaf(*y.shape)
        y.backward(dy)
        write(name, x=rows(x), y=rows(y), dy=rows(dy), dx=rows(x.grad))


def first_layer():
    """Five taps a side over one channel, relu inside."""
    x, w, b = leaf(2, 1, 5, 4), leaf(3, 1, 5, 5), leaf(1, 3)
    rows = lambda v: v.permute(0, 2, 3, 1).reshape(-1, v.shape[1])
    flat = lambda v: v.permute(2, 3, 1, 0).reshape(25, 3)
    y = F.relu(F.conv2d(x, w, b[0], padding=2))
    dy = leaf(*y.shape)
    y.backward(dy)
    write("conv2d_relu", x=rows(x), w=flat(w), b=b, y=rows(y), dy=rows(dy), dx=rows(x.grad), dw=flat(w.grad), db=b.grad)


def sample():
    """Places in pixels; grid_sample takes them in -1 .. 1 from the middle of the first pixel to that of the last."""
    G, H, W, D = 2, 5, 4, 3
    x, places, dy = leaf(G, D, H, W), (torch.rand(G, 3, 2, 2) * 8 - 2).float().double().requires_grad_(), leaf(G, D, 3, 2)
    grid = 2 * places / torch.tensor([W - 1, H - 1]) - 1
    y = F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=True)
    y.backward(dy)
    rows = lambda v: v.permute(0, 2, 3, 1).reshape(-1, v.shape[1])
    write("sample", x=rows(x), places=places, y=rows(y), dy=rows(dy), dx=rows(x.grad), dplaces=places.grad)


def soft_losses():
    x, z = leaf(6, 11, scale=2), leaf(6, 11, scale=2)
    q = torch.softmax(leaf(6, 11), 1).detach().float().double().requires_grad_()
    y = F.cross_entropy(x, q, reduction="sum")
    y.backward()
    write("soft_cross_entropy", x=x, q=q, y=y, dx=x.grad, dq=q.grad)
    x.grad = None
    y = F.kl_div(F.log_softmax(z, 1), F.log_softmax(x, 1), log_target=True, reduction="sum")
    y.backward()
    write("divergence", x=x, z=z, y=y, dx=x.grad, dz=z.grad)
    x.grad, dy = None, leaf(6, 4)
    y = torch.topk(x, 4).values
    y.backward(dy)
    write("top_columns", x=x, y=y, dy=dy, dx=x.grad)


for seed, make in enumerate((linear, layer_norm, batch_norm, softmax, losses, embedding, recurrent, conv, first_layer, sample, soft_losses)):
    torch.manual_seed(seed)
    make()

#!/usr/bin/env python3
"""Writes gnmt.txt of tests/test_sequences.c with PyTorch (Debian: python3-torch): the losses of three words by a GNMT of 3 + 3 layers.

usage: make_gnmt.py        writes gnmt.txt beside itself, the same bytes every time

Every number of a parameter follows from its name and place, here and in the test. Gates are in our order i f o n; PyTorch's cells are
given i f n o.
"""
import math
import os
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_default_dtype(torch.float64)
D, U, V = 4, 3, 11


def param(name, rows, cols):
    seed = sum(0.1 * ord(c) for c in name)
    return torch.tensor([0.8 * math.sin(seed + 0.7 * k) for k in range(rows * cols)]).float().double().reshape(rows, cols)


def reorder(x):
    i, f, o, n = x.split(U, dim=-1)
    return torch.cat([i, f, n, o], -1)


def lstm(name, width, context=0):
    """An LSTM cell with the weights of a scope; the bottom of the decoder has a matrix of its own for the context."""
    cell = torch.nn.LSTMCell(width + context, U)
    w = reorder(param(name + ".w", width, 4 * U))
    if context:
        w = torch.cat([w, reorder(param(name + ".context", context, 4 * U))])
    cell.weight_ih.data, cell.weight_hh.data = w.T.contiguous(), reorder(param(name + ".u", U, 4 * U)).T.contiguous()
    cell.bias_ih.data, cell.bias_hh.data = reorder(param(name + ".b", 1, 4 * U))[0], torch.zeros(4 * U)
    return cell


def run(cell, rows):
    h = c = torch.zeros(1, U)
    out = []
    for x in rows:
        h, c = cell(x[None], (h, c))
        out.append(h[0])
    return torch.stack(out), (h, c)


def main():
    source, target, previous = [4, 5, 6, 2], [3, 4, 2], [1, 3, 4]
    x = param("source.embedding", V, D)[source]
    ahead, _ = run(lstm("encoder.0.ahead", D), x)
    back, first_state = run(lstm("encoder.0.back", D), x.flip(0))
    x = torch.cat([ahead, back.flip(0)], 1)
    states = [first_state]
    for layer in (1, 2):
        h, end = run(lstm(f"encoder.{layer}", x.shape[1]), x)
        x = h + x if layer >= 2 else h
        states.append(end)

    wq, uk, b, v = (param("attention.additive." + n, *s) for n, s in (("w", (U, U)), ("u", (U, U)), ("b", (1, U)), ("v", (1, U))))
    bottom, second, third = lstm("decoder.0", D, U), lstm("decoder.1", 2 * U), lstm("decoder.2", 2 * U)
    losses = []
    for i, word in enumerate(previous):
        query = states[0][0]                                     # the bottom layer's state of the word before
        weights = F.softmax(torch.tanh(query @ wq + x @ uk + b) @ v[0], 0)
        context = (weights @ x)[None]
        y = param("target.embedding", V, D)[word][None]
        states[0] = bottom(torch.cat([y, context], 1), states[0])
        y = states[0][0]
        states[1] = second(torch.cat([y, context], 1), states[1])
        y = states[1][0]
        states[2] = third(torch.cat([y, context], 1), states[2])
        y = states[2][0] + y
        logits = y @ param("output", V, U).T + param("output.bias", 1, V)
        losses.append(F.cross_entropy(logits, torch.tensor([target[i]])).item())
    with open(os.path.join(HERE, "gnmt.txt"), "w") as f:
        f.write("".join("%.9g\n" % x for x in losses))


with torch.no_grad():
    main()

#!/usr/bin/env python3
"""Writes lm.txt of tests/test_language.c with PyTorch (Debian: python3-torch): log p of the tokens of a text by an LSTM language model of two
layers, and its perplexity.

usage: make_lm.py        writes lm.txt beside itself, the same bytes every time

Every number of a parameter follows from its name and place, here and in the test. Gates are in our order i f o n; PyTorch's are i f n o.
"""
import math
import os
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_default_dtype(torch.float64)
D, U, V, LENGTH = 6, 6, 9, 40


def param(name, rows, cols):
    seed = sum(0.1 * ord(c) for c in name)
    return torch.tensor([0.8 * math.sin(seed + 0.7 * k) for k in range(rows * cols)]).float().double().reshape(rows, cols)


def reorder(x):
    i, f, o, n = x.split(U, dim=-1)
    return torch.cat([i, f, n, o], -1)


def main():
    text = [(i * i * 5 + i * 3 + i // 4) % V for i in range(LENGTH)]
    net = torch.nn.LSTM(D, U, 2)
    for layer, width in enumerate((D, U)):
        scope = f"rnn.{layer}"
        getattr(net, f"weight_ih_l{layer}").data = reorder(param(scope + ".w", width, 4 * U)).T.contiguous()
        getattr(net, f"weight_hh_l{layer}").data = reorder(param(scope + ".u", U, 4 * U)).T.contiguous()
        getattr(net, f"bias_ih_l{layer}").data = reorder(param(scope + ".b", 1, 4 * U))[0]
        getattr(net, f"bias_hh_l{layer}").data = torch.zeros(4 * U)
    x = param("embedding", V, D)[[2] + text[:-1]]  # </s> stands before the text
    with torch.no_grad():
        h, _ = net(x)
        logits = h @ param("output", V, U).T + param("output.bias", 1, V)
        log_p = F.log_softmax(logits, 1)[torch.arange(LENGTH), torch.tensor(text)]
    with open(os.path.join(HERE, "lm.txt"), "w") as out:
        out.writelines("%.8f\n" % v for v in log_p)
        out.write("%.8f\n" % math.exp(-log_p.mean()))


main()

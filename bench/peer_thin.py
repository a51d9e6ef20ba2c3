"""Peer of case_thin.c: torch.mm, one copy of the weights after the other."""
import itertools

import torch
from run_peer import fill, mean_abs


def setup(p):
    a, b, c = fill((p["M"], p["K"]), 1), fill((p["K"], p["N"]), 2), torch.empty(p["M"], p["N"])
    copies = itertools.cycle([b.clone() for _ in range(p["copies"])])
    return (lambda: torch.mm(a, next(copies), out=c)), (lambda: mean_abs(c))

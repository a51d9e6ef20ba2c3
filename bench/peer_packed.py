"""Peer of case_packed.c: torch.mm; it has no packed weights."""
import torch
from run_peer import fill, mean_abs


def setup(p):
    a, b, c = fill((p["M"], p["K"]), 1), fill((p["K"], p["N"]), 2), torch.empty(p["M"], p["N"])
    return (lambda: torch.mm(a, b, out=c)), (lambda: mean_abs(c))

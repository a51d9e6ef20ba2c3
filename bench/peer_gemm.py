"""Peer of case_gemm.c: torch.mm into a matrix that is there."""
import torch
from run_peer import fill, mean_abs


def setup(p):
    M, N, K = p["M"], p["N"], p["K"]
    a = fill((K, M), 1).t() if p["form"] == "TN" else fill((M, K), 1)
    b = fill((N, K), 2).t() if p["form"] == "NT" else fill((K, N), 2)
    c = torch.empty(M, N)
    return (lambda: torch.mm(a, b, out=c)), (lambda: mean_abs(c))

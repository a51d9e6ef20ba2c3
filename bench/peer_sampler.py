"""Peer of case_sampler.c: affine_grid and grid_sample, corners aligned, zeros outside."""
import torch
import torch.nn.functional as F
from run_peer import fill, mean_abs


def setup(p):
    N, side, D = (p[k] for k in ("pictures", "side", "D"))
    x = fill((N, side, side, D), 1).permute(0, 3, 1, 2).contiguous()
    dout = fill((N, side, side, D), 2).permute(0, 3, 1, 2).contiguous()
    theta = fill((N, 6), 3) * 0.1 + torch.tensor([1.0, 0, 0, 0, 1, 0])
    kept = {}

    def sample():
        grid = F.affine_grid(theta.view(N, 2, 3), (N, D, side, side), align_corners=True)
        return F.grid_sample(x, grid, align_corners=True)

    def infer():
        with torch.inference_mode():
            kept["out"] = sample()

    def train():
        x.grad = theta.grad = None
        sample().backward(dout)

    if not p["train"]:
        return infer, (lambda: mean_abs(kept["out"]))
    x.requires_grad_(True)
    theta.requires_grad_(True)
    return train, (lambda: mean_abs(x.grad) + mean_abs(theta.grad))

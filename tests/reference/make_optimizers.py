#!/usr/bin/env python3
"""Five steps of each optimiser by PyTorch, on seven numbers, as text: tests/reference/optimizers.txt.

    case KIND a b eps decay clip start rate     (negative: the kind's default)
    w  seven numbers to start from
    g  seven numbers, the gradient of a step
    r  seven numbers, the parameters after that step

`graves` is not in PyTorch: equations 38-41 of Graves 2013 are written out here in double."""
import sys
import torch

torch.set_default_dtype(torch.float64)
N = 7

CASES = [  # kind, a, b, eps, decay, clip, start, rate, how PyTorch makes it
    ("sgd", 0, -1, -1, 0, 0, 0, 0.1, lambda p: torch.optim.SGD(p, 0.1)),
    ("sgd", 0.9, -1, -1, 0.01, 0, 0, 0.05, lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=0.01)),
    ("nesterov", 0.9, -1, -1, 0, 0, 0, 0.1, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True)),
    ("adam", -1, -1, -1, 0, 0, 0, 0.01, lambda p: torch.optim.Adam(p, 0.01, betas=(0.9, 0.98), eps=1e-9)),
    ("adam", 0.9, 0.999, 1e-8, 5e-4, 1.0, 0, 0.01, lambda p: torch.optim.Adam(p, 0.01, betas=(0.9, 0.999), weight_decay=5e-4)),
    ("adamw", -1, -1, -1, 0.1, 0, 0, 0.02, lambda p: torch.optim.AdamW(p, 0.02, weight_decay=0.1)),
    ("adadelta", -1, 0.9, 1e-6, 0, 0, 0, 1.0, lambda p: torch.optim.Adadelta(p, 1.0, rho=0.9, eps=1e-6)),
    ("adagrad", -1, -1, 1e-10, 0, 2.0, 0.1, 0.15, lambda p: torch.optim.Adagrad(p, 0.15, initial_accumulator_value=0.1)),
    ("rmsprop", 0.5, -1, -1, 0, 0, 0, 0.01, lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.5)),
    ("rmsprop-centred", 0.9, -1, -1, 0, 0, 0, 0.01, lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.9, centered=True)),
    ("graves", -1, -1, -1, 0, 0, 0, 1e-3, None),
]


class Graves:
    def __init__(self, params, rate=1e-3):
        self.p, self.rate = params[0], rate
        self.n = torch.zeros(N)
        self.g = torch.zeros(N)
        self.d = torch.zeros(N)

    def step(self):
        grad = self.p.grad
        self.n = 0.95 * self.n + 0.05 * grad * grad
        self.g = 0.95 * self.g + 0.05 * grad
        self.d = 0.9 * self.d - self.rate * grad / torch.sqrt(self.n - self.g * self.g + 1e-4)
        with torch.no_grad():
            self.p += self.d


def line(tag, x):
    return tag + " " + " ".join("%.9g" % v for v in x.tolist()) + "\n"


def main(out):
    torch.manual_seed(20)
    out.write("# made by make_optimizers.py with PyTorch %s\n" % torch.__version__.split("+")[0])
    for kind, a, b, eps, decay, clip, start, rate, make in CASES:
        w = torch.nn.Parameter(torch.randn(N).float().double())
        opt = make([w]) if make else Graves([w])
        out.write("case %s %g %g %g %g %g %g %g\n" % (kind, a, b, eps, decay, clip, start, rate))
        out.write(line("w", w.detach()))
        for step in range(5):
            w.grad = (torch.randn(N) * 2.0 ** -step).float().double()
            out.write(line("g", w.grad))
            if clip:
                norm = w.grad.norm().item()
                if norm > clip:
                    w.grad *= clip / norm
            opt.step()
            out.write(line("r", w.detach()))


if __name__ == "__main__":
    with open(sys.argv[1] if len(sys.argv) > 1 else "tests/reference/optimizers.txt", "w") as f:
        main(f)

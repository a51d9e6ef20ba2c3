"""Peer of case_train.c: the same models, F.cross_entropy with label smoothing, Adam."""
import torch
import torch.nn.functional as F
from systems import ConvS2S, Gnmt, RnnSearch, Transformer


def setup(p):
    torch.manual_seed(1)
    recurrent = p["system"] in ("rnnsearch", "gnmt")
    m = {"rnnsearch": RnnSearch, "gnmt": Gnmt, "convs2s": ConvS2S, "transformer": Transformer}[p["system"]](p)
    adam = torch.optim.Adam(m.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    source, previous, target = (torch.randint(4, p["V"], (p["batch"], p["words"])) for _ in range(3))
    labels = (target.t() if recurrent else target).reshape(-1)
    result = []

    def run():
        adam.zero_grad(set_to_none=True)
        loss = F.cross_entropy(m(source, previous).view(-1, p["V"]), labels, label_smoothing=0.1)
        loss.backward()
        adam.step()
        result[:] = [float(loss)]

    def check():
        numbers = sum(w.numel() for w in m.parameters())
        return round(numbers / 1e5) if result[0] < 100 else -1

    return run, check

"""The models of systems.py for ONNX Runtime: two graphs, the encoder with the keys and values of every cross-attention, and one greedy step.

    peer_onnx.py FOLDER < {"d": 512, ...}      writes start.onnx, step.onnx and expected.json: sources, and what PyTorch answers to them

A step takes tokens, their place and the past of every layer, and gives the next tokens and the past with one word more: the way decoders
with a cache are exported. peer_onnx.js runs them.
"""
import json
import math
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from peer_decode import search
from systems import Transformer


class Start(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m

    def forward(self, source):
        x, out = self.m.encode(source), []
        for layer in self.m.decoder:
            k, v = layer.cross.memory(x).chunk(2, 2)
            out += [layer.cross.part(k).transpose(2, 3), layer.cross.part(v)]
        return tuple(out)


class Step(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m

    def forward(self, tokens, place, *lists):
        m, n = self.m, len(self.m.decoder)
        memory, past, out = lists[:2 * n], lists[2 * n:], []
        y = m.target(tokens) * math.sqrt(m.d) + m.place[place]
        for i, layer in enumerate(m.decoder):
            a, c = layer.self, layer.cross
            q, k, v = (x.view(-1, 1, a.heads, a.width).transpose(1, 2) for x in a.all(y).chunk(3, 2))
            keys = torch.cat([past[2 * i], k.transpose(2, 3)], 3)
            values = torch.cat([past[2 * i + 1], v], 2)
            out += [keys, values]
            y = layer.norm_self(y + a.out(self.read(a, q, keys, values)))
            q = c.query(y).view(-1, 1, c.heads, c.width).transpose(1, 2)
            y = layer.norm_cross(y + c.out(self.read(c, q, memory[2 * i], memory[2 * i + 1])))
            y = layer.norm_ff(y + layer.network(y))
        return (m.logits(y).argmax(2), *out)

    def read(self, a, q, keys, values):
        seen = torch.matmul(F.softmax(torch.matmul(q * a.width ** -0.5, keys), 3), values)
        return seen.transpose(1, 2).reshape(-1, 1, a.heads * a.width)


def export(module, inputs, path, names, outs, axes):
    torch.onnx.export(module, inputs, path, opset_version=17, input_names=names, output_names=outs, dynamic_axes=axes)


def main():
    folder, p = sys.argv[1], json.load(sys.stdin)
    torch.manual_seed(1)
    m = Transformer(p).eval()
    layers, heads, width = p["layers"], p["heads"], p["d"] // p["heads"]
    source = torch.randint(4, p["V"], (p["batch"], p["words"]))
    names = ["%s%d" % (kind, i) for i in range(layers) for kind in "kv"]
    memory, past, now = (["%s_%s" % (where, n) for n in names] for where in ("memory", "past", "now"))
    rows = {n: {0: "batch"} for n in memory}
    grows = {n: {0: "batch", (3 if n.startswith(("past_k", "now_k")) else 2): n[:3]} for n in past + now}
    keys, values = torch.zeros(2, heads, width, 3), torch.zeros(2, heads, 3, width)
    ids = {"tokens": {0: "batch"}, "next": {0: "batch"}}
    with torch.no_grad():
        export(Start(m), (source[:2],), os.path.join(folder, "start.onnx"), ["source"], memory, {"source": {0: "batch"}, **rows})
        export(Step(m), (torch.ones(2, 1, dtype=torch.long), torch.zeros(1, dtype=torch.long), *Start(m)(source[:2]), *[keys, values] * layers),
               os.path.join(folder, "step.onnx"), ["tokens", "place"] + memory + past, ["next"] + now, {**ids, **rows, **grows})
        expected = search(m, source, 1, p["words"])
    with open(os.path.join(folder, "expected.json"), "w") as f:
        json.dump({"source": source.tolist(), "answer": expected.tolist()}, f)


if __name__ == "__main__":
    main()

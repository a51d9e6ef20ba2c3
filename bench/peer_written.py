"""Peer of case_written.c: greedy decoding with an incremental state written by hand. convs2s keeps the last k rows of
every layer and the keys and values of the source; gpt keeps keys and values in tensors that are there from the start."""
import math
import torch
import torch.nn.functional as F
from peer_gpt import Gpt
from systems import ConvS2S


@torch.inference_mode()
def translate(m, source, words, kernels):
    n, k, half = len(source), m.k, math.sqrt(0.5)
    e = m.embed(m.source, m.source_place, source)
    x = e.transpose(1, 2)
    for conv in m.reader:
        x = (F.glu(conv(x), 1) + x) * half
    z, root = x.transpose(1, 2), math.sqrt(source.shape[1])
    keys, values = x.contiguous(), (z + e).contiguous()
    past = [torch.zeros(n, k, x.shape[1]) for _ in m.writer]
    tokens, answer = torch.ones(n, dtype=torch.long), torch.empty(n, words, dtype=torch.long)
    for t in range(words):
        y = g = m.target(tokens) + m.target_place.weight[t]
        for rows, (w, b), query in zip(past, kernels, m.query):
            rows[:, :-1] = rows[:, 1:].clone()
            rows[:, -1] = y
            h = F.glu(torch.addmm(b, rows.view(n, -1), w), 1)
            a = F.softmax(torch.bmm((query(h) + g).unsqueeze(1), keys), 2)
            y = ((h + torch.bmm(a, values).squeeze(1) * root) * half + y) * half
        tokens = m.output(y).argmax(1)
        answer[:, t] = tokens
    return answer


@torch.inference_mode()
def write(m, texts, words):
    width, heads = m.blocks[0].self.width, m.blocks[0].self.heads
    past = [(torch.empty(texts, heads, width, words), torch.empty(texts, heads, words, width)) for _ in m.blocks]
    tokens, answer = torch.full((texts,), 2), torch.empty(texts, words, dtype=torch.long)
    for t in range(words):
        y = m.words(tokens) + m.places[t]
        for b, (k, v) in zip(m.blocks, past):
            now = b.self.all(b.norm1(y)).view(texts, 3, heads, width)
            k[:, :, :, t], v[:, :, t] = now[:, 1], now[:, 2]
            a = F.softmax(torch.matmul((now[:, 0] * width ** -0.5).unsqueeze(2), k[:, :, :, :t + 1]), 3)
            y = y + b.self.out(torch.matmul(a, v[:, :, :t + 1]).reshape(texts, -1))
            y = y + b.outer(F.gelu(b.inner(b.norm2(y))))
        tokens = F.linear(m.end(y), m.words.weight).argmax(1)
        answer[:, t] = tokens
    return answer


def setup(p):
    torch.manual_seed(1)
    result = []
    if "texts" in p:
        m = Gpt(p).eval()
        work = lambda: write(m, p["texts"], p["context"] - 1)
    else:
        m = ConvS2S(p).eval()
        source = torch.randint(4, p["V"], (p["batch"], p["words"]))
        kernels = [(c.weight.detach().permute(2, 1, 0).reshape(-1, c.weight.shape[0]).contiguous(), c.bias.detach())
                   for c in m.writer]
        work = lambda: translate(m, source, p["words"], kernels)

    def run():
        result[:] = [work()]

    return run, lambda: float(result[0].numel())

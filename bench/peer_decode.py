"""Peer of case_decode.c: greedy and beam search with a cache written by hand."""
import math
import torch
import torch.nn.functional as F
from systems import Transformer


def read(q, keys, values):
    """q (n, heads, queries, width) over keys (n, heads, width, m) and values (n, heads, m, width)."""
    return torch.matmul(F.softmax(torch.matmul(q, keys), 3), values)


def step(m, tokens, t, past, memory, beam):
    n = tokens.shape[0]
    y = m.target(tokens) * math.sqrt(m.d) + m.place[t]
    for layer, (k, v), (sk, sv) in zip(m.decoder, past, memory):
        a, c = layer.self, layer.cross
        now = a.all(y).view(n, 3, a.heads, a.width)
        k[:, :, :, t], v[:, :, t] = now[:, 1], now[:, 2]
        seen = read((now[:, 0] * a.width ** -0.5).unsqueeze(2), k[:, :, :, :t + 1], v[:, :, :t + 1])
        y = layer.norm_self(y + a.out(seen.reshape(n, -1)))
        q = (c.query(y) * c.width ** -0.5).view(n // beam, beam, c.heads, c.width).transpose(1, 2)
        y = layer.norm_cross(y + c.out(read(q, sk, sv).transpose(1, 2).reshape(n, -1)))
        y = layer.norm_ff(y + layer.network(y))
    return m.logits(y)


def start(m, source, beam, words):
    x = m.encode(source)
    memory, past, n = [], [], source.shape[0] * beam
    for layer in m.decoder:
        a = layer.cross
        k, v = a.memory(x).chunk(2, 2)
        memory.append((a.part(k).transpose(2, 3).contiguous(), a.part(v).contiguous()))
        past.append((torch.empty(n, a.heads, a.width, words), torch.empty(n, a.heads, words, a.width)))
    return memory, past


@torch.inference_mode()
def search(m, source, beam, words):
    batch, V = source.shape[0], m.bias.shape[0]
    memory, past = start(m, source, beam, words)
    tokens = torch.ones(batch * beam, dtype=torch.long)
    answer = torch.empty(batch * beam, words, dtype=torch.long)
    score = torch.full((batch, beam), -math.inf)
    score[:, 0] = 0
    first = torch.arange(batch).unsqueeze(1) * beam
    for t in range(words):
        logits = step(m, tokens, t, past, memory, beam)
        if beam == 1:
            tokens = logits.argmax(1)
        else:
            total = F.log_softmax(logits, 1).view(batch, beam, V) + score.unsqueeze(2)
            score, best = total.view(batch, -1).topk(beam, 1)
            parent = torch.div(best, V, rounding_mode="floor")
            tokens, rows = (best - parent * V).view(-1), (first + parent).view(-1)
            answer = answer.index_select(0, rows)
            for k, v in past:
                k[:, :, :, :t + 1] = k[:, :, :, :t + 1].index_select(0, rows)
                v[:, :, :t + 1] = v[:, :, :t + 1].index_select(0, rows)
        answer[:, t] = tokens
    return answer.view(batch, beam, words)[:, 0]


def setup(p):
    torch.manual_seed(1)
    m = Transformer(p).eval()
    source = torch.randint(4, p["V"], (p["batch"], p["words"]))
    result = []

    def run():
        result[:] = [search(m, source, p["beam"], p["words"])]

    return run, lambda: float(result[0].numel())

"""Peer of case_classifier.c: the same classifier in PyTorch, sequences packed, padding masked in the softmax, Adam."""

import torch
import torch.nn.functional as F
from run_peer import fill
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def parameter(shape, seed):
    return (0.2 * fill(shape, seed)).requires_grad_()


def setup(p):
    B, V, D, U, H = p["texts"], p["vocabulary"], p["width"], p["units"], p["hidden"]
    lengths = [5 + (7 * i * i + 3 * i) % 33 for i in range(B)]
    ids = torch.zeros(B, max(lengths), dtype=torch.long)
    k = 0
    for i, n in enumerate(lengths):
        for j in range(n):
            ids[i, j] = (7919 * k + 13) % V
            k += 1
    lengths = torch.tensor(lengths)
    labels = torch.arange(B) % 2
    hidden = torch.arange(ids.shape[1])[None, :] >= lengths[:, None]  # padding

    lstm = torch.nn.LSTM(D, U, batch_first=True, bidirectional=True)
    order = [0, 1, 3, 2]  # our gates i f o n in PyTorch's order i f g o
    gates = lambda w: torch.cat([w[:, g * U:(g + 1) * U] for g in order], 1).t().contiguous()
    with torch.no_grad():
        for way, seed in (("", 2), ("_reverse", 5)):
            getattr(lstm, "weight_ih_l0" + way).copy_(gates(0.2 * fill((D, 4 * U), seed)))
            getattr(lstm, "bias_ih_l0" + way).copy_(gates(0.2 * fill((1, 4 * U), seed + 1)).view(-1))
            getattr(lstm, "weight_hh_l0" + way).copy_(gates(0.2 * fill((U, 4 * U), seed + 2)))
            getattr(lstm, "bias_hh_l0" + way).zero_()
            getattr(lstm, "bias_hh_l0" + way).requires_grad_(False)
    table, w, v = parameter((V, D), 1), parameter((2 * U, H), 8), parameter((H, 1), 9)
    out, out_b = parameter((2 * U, 2), 10), parameter((1, 2), 11)
    learned = [q for q in lstm.parameters() if q.requires_grad] + [table, w, v, out, out_b]
    optimiser = torch.optim.Adam(learned, lr=1e-4)
    losses = []

    def run():
        optimiser.zero_grad(set_to_none=True)
        packed = pack_padded_sequence(F.embedding(ids, table), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
        a = torch.softmax((torch.tanh(h @ w) @ v).squeeze(2).masked_fill(hidden, float("-inf")), 1)
        y = torch.addmm(out_b, torch.bmm(a.unsqueeze(1), h).squeeze(1), out)
        loss = F.cross_entropy(y, labels)
        loss.backward()
        optimiser.step()
        losses.append(float(loss)) if len(losses) < 2 else float(loss)

    return run, (lambda: losses[0])

"""Peer of case_ntm.c: the same machine in PyTorch, both heads addressed by one set of batched ops, RMSprop with momentum and clipped gradients.

Eager PyTorch is what one finds machines like this written in."""

import torch
import torch.nn.functional as F
from run_peer import fill

UNITS, ROWS, WIDTH, BITS, HEADS = 100, 128, 20, 8, 2  # head 0 reads, head 1 writes
COLUMNS = HEADS * (WIDTH + 6) + 2 * WIDTH


def parameter(shape, seed):
    return (0.2 * fill(shape, seed)).requires_grad_()


class Machine:
    def __init__(self):
        given = BITS + 2 + WIDTH
        self.cell = torch.nn.LSTMCell(given, UNITS)
        order = [0, 1, 3, 2]  # our gates i f o n in PyTorch's order i f g o
        gates = lambda w: torch.cat([w[:, k * UNITS:(k + 1) * UNITS] for k in order], 1).t().contiguous()
        with torch.no_grad():
            self.cell.weight_ih.copy_(gates(0.2 * fill((given, 4 * UNITS), 1)))
            self.cell.bias_ih.copy_(gates(0.2 * fill((1, 4 * UNITS), 2)).view(-1))
            self.cell.weight_hh.copy_(gates(0.2 * fill((UNITS, 4 * UNITS), 3)))
            self.cell.bias_hh.zero_()
        self.cell.bias_hh.requires_grad_(False)
        self.heads, self.heads_b = parameter((UNITS, COLUMNS), 4), parameter((1, COLUMNS), 5)
        self.out, self.out_b = parameter((UNITS + WIDTH, BITS), 6), parameter((1, BITS), 7)
        self.first_weights, self.first_reads = parameter((ROWS, HEADS), 8), parameter((1, WIDTH), 9)
        mine = [self.heads, self.heads_b, self.out, self.out_b, self.first_weights, self.first_reads]
        self.learned = [p for p in self.cell.parameters() if p.requires_grad] + mine
        self.focus = torch.zeros(1, 1, ROWS)
        self.focus[:, :, 0] = 10

    def address(self, told, memory, before):
        """(B, HEADS, ROWS) from the weights of the last step."""
        B, k, b, s = len(told), HEADS * WIDTH, HEADS * WIDTH + 3 * HEADS, HEADS * WIDTH + 6 * HEADS
        key = F.normalize(torch.tanh(told[:, :k]).view(B, HEADS, WIDTH), dim=2, eps=1e-8)
        beta, gamma, gate = told[:, k:b].view(B, 3, HEADS, 1).unbind(1)
        shift = torch.softmax(told[:, b:s].view(B, HEADS, 3), 2)
        cosine = torch.bmm(key, F.normalize(memory, dim=2, eps=1e-8).transpose(1, 2))
        content = torch.softmax(F.softplus(beta) * cosine, 2)
        w = torch.lerp(before, content, torch.sigmoid(gate))
        w = shift[:, :, :1] * w.roll(-1, 2) + shift[:, :, 1:2] * w + shift[:, :, 2:] * w.roll(1, 2)
        return torch.softmax((1 + F.softplus(gamma)) * torch.log(w + 1e-16), 2)

    def forward(self, x, answers):
        """x: (steps, B, BITS + 2)"""
        T, B = x.shape[:2]
        e = HEADS * (WIDTH + 6)
        memory = torch.full((B, ROWS, WIDTH), 0.1)
        w = torch.softmax(self.first_weights.t().unsqueeze(0) + self.focus, 2).expand(B, HEADS, ROWS)
        read = self.first_reads.expand(B, WIDTH)
        state, rows = (torch.zeros(B, UNITS), torch.zeros(B, UNITS)), []
        for t in range(T):
            state = self.cell(torch.cat((x[t], read), 1), state)
            told = torch.addmm(self.heads_b, state[0], self.heads)
            w = self.address(told, memory, w)
            read = torch.bmm(w[:, :1], memory).squeeze(1)
            if t >= T - answers:
                rows.append(torch.cat((state[0], read), 1))
            at = w[:, 1].unsqueeze(2)
            erase, add = torch.sigmoid(told[:, e:e + WIDTH]), torch.tanh(told[:, e + WIDTH:])
            memory = memory * (1 - at * erase.unsqueeze(1)) + at * add.unsqueeze(1)
        return torch.addmm(self.out_b, torch.cat(rows), self.out)


def setup(p):
    B, L = p["batch"], p["length"]
    machine = Machine()
    bits = (fill((B, L, BITS), 20) > 0).float()
    x = torch.zeros(2 * L + 1, B, BITS + 2)
    x[:L, :, :BITS] = bits.transpose(0, 1)
    x[L, :, BITS] = 1
    target = bits.transpose(0, 1).reshape(L * B, BITS)
    optimiser = torch.optim.RMSprop(machine.learned, lr=1e-4, alpha=0.95, eps=1e-4, momentum=0.9, centered=True)
    losses = []

    def run():
        optimiser.zero_grad(set_to_none=True)
        loss = F.binary_cross_entropy_with_logits(machine.forward(x, L), target, reduction="sum") / B
        loss.backward()
        torch.nn.utils.clip_grad_value_(machine.learned, 10)
        optimiser.step()
        losses.append(float(loss)) if len(losses) < 2 else float(loss)

    return run, (lambda: losses[0])

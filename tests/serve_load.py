"""The server under load, measured from outside; loopback only, standard library only.

    python3 tests/serve_load.py REGARD MODEL TEXT [--seconds 60] [--clients 64] [--lines 4] [--strict] [--json FILE]

1. start-up, less the time to load the model                                          (strict: under 50 ms)
2. what `regard translate` makes of TEXT, lines a second and processor time a line
3. CLIENTS connections for SECONDS, each asking for LINES lines of TEXT at a time, every answer compared with what `regard translate` said;
   the memory of the server after a sixth of the time and at the end                  (no error; strict: grown by less than 3 %)
   lines a second against 2., measured again afterwards                               (strict: at least 85 %)
4. the p99 of 8 clients alone and beside 50 slow ones                                  (strict: not doubled)

One process with one epoll loop plays all clients, so that it takes little from the server it measures. Without --strict the figures are printed, and only errors
and gross ones (half the throughput, ten times the p99) fail: a busy machine is no proof. Exit status 1 when something failed."""
import argparse
import json
import os
import random
import re
import selectors
import socket
import statistics
import subprocess
import sys
import time

from serve_support import Server

parser = argparse.ArgumentParser()
parser.add_argument("regard")
parser.add_argument("model")
parser.add_argument("text")
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--clients", type=int, default=64)
parser.add_argument("--lines", type=int, default=4)
parser.add_argument("--most", type=int, default=1000, help="lines of TEXT that are used")
parser.add_argument("--source", default="en")
parser.add_argument("--target", default="fr")
parser.add_argument("--strict", action="store_true")
parser.add_argument("--json")
args = parser.parse_args()
figures, failures = {}, []


def demand(good, what):
    print(("ok    " if good else "FAIL  ") + what)
    if not good:
        failures.append(what)


# ------------------------------------------------------------------------------------------------------------ clients

class Client:
    """A connection that asks, reads the answer, and asks again."""

    def __init__(self, loop, number):
        self.loop, self.dice, self.done, self.times = loop, random.Random(number), 0, []
        self.connect()

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.loop.port), timeout=10)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.loop.selector.register(self.socket, selectors.EVENT_READ, self)
        self.ask()

    def ask(self):
        self.lines = [self.dice.choice(self.loop.texts) for _ in range(self.loop.lines)]
        body = json.dumps({"q": self.lines, "source": args.source, "target": args.target}).encode()
        self.answer, self.began = b"", time.perf_counter()
        self.socket.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def ready(self):
        try:
            data = self.socket.recv(1 << 16)
        except OSError as error:
            data = str(error).encode()[:0]
        if not data:
            self.loop.errors.append("the connection was closed")
            self.loop.selector.unregister(self.socket)
            return
        self.answer += data
        head = self.answer.find(b"\r\n\r\n")
        size = re.search(rb"(?i)content-length: *(\d+)", self.answer[:head]) if head >= 0 else None
        if not size or len(self.answer) < head + 4 + int(size.group(1)):
            return
        self.times.append(time.perf_counter() - self.began)
        body = self.answer[head + 4:]
        if not self.answer.startswith(b"HTTP/1.1 200") or json.loads(body).get("translatedText") != [self.loop.known[x] for x in self.lines]:
            self.loop.errors.append(self.answer[:60] + body[:200])
        self.done += len(self.lines)
        self.lines = []
        if not self.loop.ending:
            self.ask()


class Slow:
    """A connection that drips: its header, its body, or its reading of the answer."""

    def __init__(self, loop, number):
        self.loop, self.kind, self.wait, self.socket = loop, number % 3, number // 3, None  # one after the other

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.loop.port), timeout=10)
        body = json.dumps({"q": self.loop.texts[0], "source": args.source, "target": args.target}).encode()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        self.socket.setblocking(False)
        path = (b"/translate", b"/translate", b"/v1/attention")[self.kind]
        head = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" % path
        self.socket.send((head + b"X: ", head + b"Content-Length: 4000\r\n\r\n", head + b"Content-Length: %d\r\n\r\n" % len(body) + body)[self.kind])

    def drip(self):
        self.wait -= 1
        if self.wait > 0:
            return
        try:
            if not self.socket:
                self.connect()
            if self.kind == 2:
                if self.socket.recv(64) == b"":
                    raise OSError
            else:
                self.socket.send(b"a")
        except BlockingIOError:
            pass
        except OSError:  # its time was over
            self.socket.close()
            self.socket = None


class Loop:
    def __init__(self, port, known, lines):
        self.port, self.known, self.texts, self.lines, self.errors = port, known, list(known), lines, []

    def run(self, clients, slow, seconds, at=()):
        """`at`: pairs of a share of the time and what is to be called then."""
        self.selector, self.ending = selectors.DefaultSelector(), False
        asking, dripping = [Client(self, i) for i in range(clients)], [Slow(self, i) for i in range(slow)]
        began, drip, at = time.perf_counter(), 0, list(at)
        while (now := time.perf_counter()) < began + seconds:
            for key, _ in self.selector.select(0.02):
                key.data.ready()
            while at and now >= began + at[0][0] * seconds:
                at.pop(0)[1]()
            if now - drip > 0.1:
                drip = now
                for s in dripping:
                    s.drip()
        took, done, self.ending = time.perf_counter() - began, sum(c.done for c in asking), True
        while any(c.lines for c in asking) and time.perf_counter() < began + took + 10:  # what was asked is answered, and not counted
            for key, _ in self.selector.select(0.02):
                key.data.ready()
        for c in asking + dripping:
            if c.socket:
                c.socket.close()
        self.selector.close()
        return done / took, done, sorted(t for c in asking for t in c.times)


# ---------------------------------------------------------------------------------------------------------- measures

def p99(times):
    return 1000 * times[min(len(times) - 1, len(times) * 99 // 100)] if times else float("inf")


def cpu_of(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_of(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1024


def translate(lines):
    """Lines, seconds and processor seconds of `regard translate`."""
    before, began = os.times(), time.perf_counter()
    out = subprocess.run([args.regard, "translate", "-m", args.model, "-b", "4"], input="".join(x + "\n" for x in lines), capture_output=True, text=True, check=True).stdout
    after = os.times()
    return out.split("\n")[:len(lines)], time.perf_counter() - began, after.children_user + after.children_system - before.children_user - before.children_system


def startup():
    load = min(translate([])[1] for _ in range(5))
    times = []
    for _ in range(10):
        began = time.perf_counter()
        s = Server(args.regard, args.model, "--cache", "0")
        times.append(time.perf_counter() - began)
        s.stop()
    extra = 1000 * (min(times) - load)
    figures.update(start_ms=1000 * min(times), load_ms=1000 * load)
    demand(extra < (50 if args.strict else 500), f"start: {1000 * min(times):.0f} ms, of which the model {1000 * load:.0f} ms")
    return load


def alone(lines, seconds, load):
    """A rate that the start does not spoil: the lines as often as fills the time."""
    out, took, _ = translate(lines)
    known = dict(zip(lines, out))
    often = max(1, int(seconds / max(0.01, took - load)))
    _, took, cpu = translate(lines * often)
    return known, len(lines) * often / (took - load), cpu / (len(lines) * often)


def main():
    lines = list(dict.fromkeys(x.strip() for x in open(args.text, encoding="utf-8") if x.strip()))[:args.most]
    load = startup()
    part = max(1.0, args.seconds / 6)
    known, rate, cpu = alone(lines, part, load)
    server = Server(args.regard, args.model, "--source-lang", args.source, "--target-lang", args.target, "--connections", "500", "--cache", "0")
    with server as s:
        loop, pid, rss = Loop(s.port, known, args.lines), s.process.pid, []
        loop.run(args.clients, 0, 0.5)  # it settles in
        used = cpu_of(pid)
        note = lambda: rss.append(rss_of(pid))
        got, done, times = loop.run(args.clients, 0, args.seconds, [(1 / 6, note), (1 / 2, note)])
        used = (cpu_of(pid) - used) / max(1, done)
        batches = {k: float(v) for k, v in re.findall(r"^regard_(batches_total|lines_total) (\S+)", s.ask("GET", "/metrics")[1], re.M)}
        note()
        demand(not loop.errors and done > 0, f"load: {args.clients} clients, {args.seconds:g} s: {done} lines, {len(loop.errors)} errors {loop.errors[:1] or ''}")
        print(f"      {batches['lines_total'] / batches['batches_total']:.0f} lines a run; p50 {1000 * times[len(times) // 2]:.0f} ms, p99 {p99(times):.0f} ms")
        demand(rss[-1] < (1.03 if args.strict else 1.5) * rss[0] + 2, f"memory: {rss[0]:.1f} MB after a sixth of the time, {rss[1]:.1f} halfway, {rss[-1]:.1f} at the end")
        again = alone(lines, part, load)
        rate, cpu = max(rate, again[1]), min(cpu, again[2])
        demand(got >= (0.85 if args.strict else 0.4) * rate,
               f"throughput: {got:.0f} lines a second, regard translate {rate:.0f}: {100 * got / rate:.0f} % (processor time a line {1000 * used:.2f} and {1000 * cpu:.2f} ms)")
        loop.lines = 1
        quiet, beside = [], []
        for _ in range(3):  # in turns, so that the machine's moods meet both
            quiet.append(p99(loop.run(8, 0, part / 2)[2]))
            beside.append(p99(loop.run(8, 50, part / 2)[2]))
        a, b = statistics.median(quiet), statistics.median(beside)
        demand(not loop.errors, f"errors beside slow clients: {len(loop.errors)}")
        demand(b < (2 if args.strict else 10) * a, f"p99 of 8 clients: {a:.1f} ms alone, {b:.1f} ms beside 50 slow ones")
        figures.update(lines_per_second=got, translate_lines_per_second=rate, ratio=got / rate, cpu_ms_per_line=1000 * used, translate_cpu_ms_per_line=1000 * cpu, rss_mb=rss,
                       p50_ms=1000 * times[len(times) // 2], p99_ms=p99(times), p99_quiet_ms=a, p99_beside_slow_ms=b, lines=done, errors=len(loop.errors))
    if args.json:
        json.dump(figures, open(args.json, "w"), indent=1)
    print("failed" if failures else "passed")
    return 1 if failures else 0


sys.exit(main())

"""A peer: the same rows in another program. bench/run starts it, one process for each number of threads, and asks one row at a time.

    run_peer.py THREADS wall|cpu [PEER]

A case's peer is bench/<PEER>_<case>.py (PEER is `peer`, which is PyTorch, unless given) with a function setup(p) that takes the row's
parameters (a dict) and returns (run, check): a function that does the work once, and one that returns the number both sides must agree
on (or None).
"""
import importlib
import json
import os
import statistics
import sys
import time

import numpy
import torch


def fill(shape, seed):
    """The numbers of bench_fill(): uniform in [-0.5, 0.5), a function of seed and position alone."""
    n = int(numpy.prod(shape))
    h = numpy.arange(n, dtype=numpy.uint64)
    h = (h + seed * 0x9E3779B9) * 0x85EBCA6B & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 0xC2B2AE35) & 0xFFFFFFFF
    x = ((h ^ (h >> 13)) >> 8).astype(numpy.float64) / 16777216.0 - 0.5
    return torch.from_numpy(x.astype(numpy.float32).reshape(shape))


def mean_abs(x):
    return float(x.detach().double().abs().mean())


def measure(run, seconds, now):
    run()
    once = now()
    run()
    once = now() - once
    runs = int(5e-4 / max(once, 1e-7)) + 1 if once < 5e-4 else 1
    samples = []
    start = now()
    while len(samples) < 3 or (now() - start < seconds and len(samples) < 2000):
        begin = now()
        for _ in range(runs):
            run()
        samples.append((now() - begin) / runs)
    return {"best": min(samples), "median": statistics.median(samples)}


def main():
    threads = int(sys.argv[1])
    now = time.process_time if sys.argv[2] == "cpu" else time.perf_counter
    peer = sys.argv[3] if len(sys.argv) > 3 else "peer"
    torch.set_num_threads(threads)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.modules["run_peer"] = sys.modules["__main__"]
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            run, check = importlib.import_module(peer + "_" + ask["case"]).setup(ask["params"])
            answer = measure(run, ask["seconds"], now)
            if check:
                answer["check"] = check()
        except ModuleNotFoundError:
            answer = {"missing": True}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

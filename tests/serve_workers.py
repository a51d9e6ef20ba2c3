"""A server of several processes: shared port, sums in /metrics, a worker that is killed, the end of all. Standard library only."""
import http.client
import os
import signal
import sys
import threading
import time

from serve_support import Server as AnyServer, alone, check, failures, metric

REGARD, MODEL, TEXTS = sys.argv[1:4]
WORKERS = 3
lines = [x.strip() for x in open(TEXTS, encoding="utf-8")][:8]
known = alone(REGARD, MODEL, lines)


def Server(*flags):
    return AnyServer(REGARD, MODEL, "--workers", str(WORKERS), "--cpu-threads", "1", *flags)


def children(s):
    return [int(x) for x in open(f"/proc/{s.process.pid}/task/{s.process.pid}/children").read().split()]


def there(pid):
    """A process that has ended and was not waited for yet is not there."""
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait(condition, what, seconds=15):
    until = time.time() + seconds
    while not condition() and time.time() < until:
        time.sleep(0.05)
    check(condition(), what)


def ask_from_many(s, clients=24, rounds=5):
    """Every connection is new: the kernel gives it to whichever worker takes it first."""
    wrong = []

    def work(i):
        for k in range(rounds):
            text = lines[(i + k) % len(lines)]
            try:
                status, answer, _ = s.translate(text)
                if status != 200 or answer != {"translatedText": known[text]}:
                    wrong.append((status, answer))
            except (OSError, http.client.HTTPException) as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return wrong, clients * rounds


with Server() as server:
    wait(lambda: len(children(server)) == WORKERS, f"{WORKERS} workers")
    wrong, asked = ask_from_many(server)
    check(not wrong, f"wrong answers: {wrong[:2]}")
    check(metric(server, "workers") == WORKERS and metric(server, "lines_total") + metric(server, "cache_hits_total") == asked, f"{metric(server, 'lines_total')} of {asked} lines are counted")
    check(metric(server, "cache_hits_total") >= asked - 8 * WORKERS, f"what one worker translated another knows: {metric(server, 'cache_hits_total')} hits")
    check(server.ask("GET", "/health")[1] == {"status": "ok"}, "health")
    victim = children(server)[0]
    os.kill(victim, signal.SIGKILL)
    wait(lambda: len(children(server)) == WORKERS and victim not in children(server), "a killed worker is started again")
    wrong, asked = ask_from_many(server)
    check(not wrong, f"wrong answers after a worker was killed: {wrong[:2]}")
    check(metric(server, "worker_restarts_total") == 1 and metric(server, "lines_total") + metric(server, "cache_hits_total") >= 2 * asked, "the restart is counted, and nothing is forgotten")
    ended = children(server)
    check(server.stop() == 0, "exit code")
    check(not any(there(x) for x in ended), "no worker is left")

s = Server("--drain-seconds", "2")
wait(lambda: len(children(s)) == WORKERS, "workers")
orphans = children(s)
s.process.kill()
s.process.wait()
wait(lambda: not any(there(x) for x in orphans), "workers end when the process that watches them is killed")
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

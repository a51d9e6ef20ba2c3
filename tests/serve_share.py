"""P10: everybody gets their share of the server and an answer within its deadline. Expensive requests, clients that leave, connections that say nothing, SIGTERM in
the middle of all that. Clients of several addresses are sockets bound to 127.0.0.2 and on; everything stays on the loopback interface. Standard library only."""
import http.client
import json
import re
import resource
import socket
import sys
import threading
import time

from serve_support import Server as AnyServer, alone, check, failures

REGARD, MODEL, TEXTS = sys.argv[1:4]
PAIR = {"source": "en", "target": "fr"}
LONG = "the " * 990  # one line of 5 kB in nearly as many subwords as a line may have, and a model that seldom finds the end of it


def Server(*flags):
    return AnyServer(REGARD, MODEL, "--source-lang", "en", "--target-lang", "fr", "--cache", "0", *flags)


class Asker(threading.Thread):
    """One request from an address; code 0: no answer."""

    def __init__(self, server, body, address="127.0.0.1", path="/translate"):
        super().__init__(daemon=True)
        self.server, self.body, self.address, self.path, self.code, self.answer, self.seconds = server, body, address, path, 0, None, None
        self.start()

    def run(self):
        began = time.time()
        try:
            c = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60, source_address=(self.address, 0))
            c.request("POST", self.path, json.dumps({**PAIR, **self.body}), {"Content-Type": "application/json"})
            answer = c.getresponse()
            self.answer, self.code = json.loads(answer.read()), answer.status
        except (OSError, http.client.HTTPException, ValueError):
            pass
        self.seconds = time.time() - began

    def wait(self, most=60):
        self.join(most)
        return self


def measure(small):
    """How slow this build on this machine is: seconds for a line of 100 subwords and a small one beside it, but at least 0.4, in units of 0.4."""
    with Server() as s:
        s.translate(small)
        many = [Asker(s, {"q": "the " * 100}), Asker(s, {"q": small})]
        return max(1, max(one.wait().seconds for one in many) / 0.4)


def metric(s, name):
    return float(re.search(rf"^regard_{name} (\S+)", s.ask("GET", "/metrics")[1], re.M).group(1))


def raw_request(s, address, body):
    c = socket.create_connection(("127.0.0.1", s.port), timeout=10, source_address=(address, 0))
    data = json.dumps({**PAIR, **body}).encode()
    c.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
    return c


def until(condition, seconds):
    end = time.time() + seconds
    while not condition() and time.time() < end:
        time.sleep(0.05)
    return condition()


def expensive(small, known):
    """20 expensive requests from two addresses: a small one of a third, and even one of the same, is not kept waiting; all get an answer or a refusal in time."""
    deadline = 4
    with Server("--request-seconds", str(deadline)) as s:
        s.translate(small)
        many = [Asker(s, {"q": LONG} if i % 2 else {"q": "\n".join(["the " * 100] * 9)}, f"127.0.0.{2 + i % 2}") for i in range(20)]
        time.sleep(0.5)
        times = []
        for i in range(6):
            one = Asker(s, {"q": small}, "127.0.0.1" if i % 2 else "127.0.0.2", "/translate" if i < 4 else "/v1/attention").wait()
            good = one.code == 200 and (known in (one.answer.get("translatedText"), one.answer.get("title")))
            check(good, f"a small request among 20 expensive ones: {one.code} {str(one.answer)[:100]}")
            times.append(one.seconds)
        check(max(times) < 5 * slack, f"a small request among 20 expensive ones took {max(times):.1f} s")
        refused = Asker(s, {"q": "the " * 1200}).wait()
        check(refused.code == 400 and "1200" in refused.answer["error"] and refused.seconds < slack, f"a line of 1200 subwords: {refused.code} {refused.answer} after {refused.seconds:.1f} s")
        for one in many:
            one.wait()
        late = max(one.seconds or 99 for one in many)
        codes = sorted({one.code for one in many})
        check(set(codes) <= {200, 503} and late < deadline + slack, f"expensive requests: codes {codes}, the last after {late:.1f} s of {deadline}")
        check(until(lambda: metric(s, "queue_subwords") == 0, 2), "nothing waits when all are answered")
        check(s.translate(small)[1] == {"translatedText": known}, "after expensive requests")
        print(f"share: {len(many)} expensive requests, codes {codes}, the last after {late:.1f} s; small ones took at most {1000 * max(times):.0f} ms (slack {slack:.1f})")


def stop_under_load(small):
    for drain in (1, 3):
        s = Server("--drain-seconds", str(drain))
        s.translate(small)
        many = [Asker(s, {"q": LONG}, f"127.0.0.{2 + i % 3}", "/translate" if i % 4 else "/v1/attention") for i in range(20)]
        time.sleep(0.7)
        began = time.time()
        try:
            code = s.stop(60)
        except Exception as error:  # TimeoutExpired
            code = error
            s.process.kill()
        took = time.time() - began
        check(code == 0 and took < drain + 0.5 * slack, f"SIGTERM under load: exit {code} after {took:.1f} s, --drain-seconds {drain}")
        codes = sorted({one.wait(5).code for one in many})
        check(0 not in codes, f"requests that were not answered at SIGTERM: codes {codes}")
        print(f"share: SIGTERM under 20 expensive requests: exit {code} after {took:.2f} s of {drain}, codes {codes}")


def leaving(small, known):
    """The search of a client that left is given up."""
    with Server() as s:
        s.translate(small)
        gone = [raw_request(s, "127.0.0.2", {"q": LONG}) for _ in range(20)]
        check(until(lambda: metric(s, "requests_in_flight") >= 20, 5), "20 requests are there")
        for c in gone:
            c.close()
        check(until(lambda: metric(s, "requests_in_flight") == 1 and metric(s, "queue_subwords") == 0, 2), f"requests of clients that left: {metric(s, 'requests_in_flight'):g} in flight")
        began = time.time()
        check(s.translate(small)[1] == {"translatedText": known} and time.time() - began < slack, f"after clients that left: {time.time() - began:.1f} s")


def full_queue(small, known):
    """The address that fills the queue is the one that is refused."""
    with Server("--queue", "3000", "--drain-seconds", "1") as s:
        many = [Asker(s, {"q": LONG}, "127.0.0.2") for i in range(12)]
        time.sleep(0.5)
        one = Asker(s, {"q": [small] * 4}, "127.0.0.3").wait()
        check(one.code == 200 and one.answer["translatedText"] == [known] * 4, f"another address at a full queue: {one.code} {one.answer}")
        check(until(lambda: sum(x.code == 503 for x in many) >= 8, 2), f"requests past the queue: {sorted(x.code for x in many)}")


def half_open(small, known):
    """A thousand connections of four addresses that say nothing do not shut a fifth out."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    with Server() as s:
        held = []
        for i in range(1000):
            c = socket.socket()
            c.bind((f"127.0.0.{2 + i % 4}", 0))
            c.settimeout(1)
            try:
                c.connect(("127.0.0.1", s.port))
                c.sendall(b"POST /translate HTTP/1.1\r\nHost: ")
            except OSError:
                pass
            held.append(c)
        times = []
        for i in range(5):
            one = Asker(s, {"q": small}, "127.0.0.9").wait(15)
            check(one.code == 200 and one.answer == {"translatedText": known}, f"beside half-open connections: {one.code} {one.answer}")
            times.append(one.seconds)
        check(max(x or 99 for x in times) < 2 * slack, f"beside half-open connections: {times}")
        for c in held:
            c.close()


def texts_and_paths():
    with Server() as s:
        for odd in ("x" * 2000, "漢" * 2000, "é" * 600, "\U0001f600" * 300, "é" * 254 + "x" * 4):
            status, answer, _ = s.ask("POST", "/translate", {"q": "a", **PAIR, "target": odd})
            check(status == 400 and answer["error"].startswith(odd[:40]), f"a long error text: {status} {str(answer)[:60]}")
        for path in ("/health%00x", "/health%00", "/%00", "/health%00/../x"):
            check(s.ask("GET", path)[0] == 404, f"{path}: {s.ask('GET', path)[0]}")
        status = s.ask("POST", "/translate?source=en&target=fr&q=the%00cat", b"", "application/x-www-form-urlencoded")[0]
        check(status == 400, f"a zero byte in a query: {status}")


first = open(TEXTS, encoding="utf-8").readline().strip()
answer = alone(REGARD, MODEL, [first])[first]
slack = measure(first)
texts_and_paths()
expensive(first, answer)
leaving(first, answer)
full_queue(first, answer)
half_open(first, answer)
stop_under_load(first)
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

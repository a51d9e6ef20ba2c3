"""Two servers behind nginx, configured as docs/serve.md says. Standard library only."""
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time

from serve_support import Server, alone, check, failures

REGARD, MODEL, TEXTS, PAGE, NGINX = sys.argv[1:6]
lines = [x.strip() for x in open(TEXTS, encoding="utf-8")][:8]
known = alone(REGARD, MODEL, lines)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, text, address="127.0.0.1"):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=(address, 0))
    c.request("POST", "/translate", json.dumps({"q": text, "source": "en", "target": "fr"}), {"Content-Type": "application/json"})
    answer = c.getresponse()
    return answer.status, json.loads(answer.read())


def translated(s):
    return int(re.search(r"^regard_lines_total (\d+)", s.ask("GET", "/metrics")[1], re.M).group(1))


class Nginx:
    def __init__(self, servers):
        self.port = free_port()
        example = re.search(r"```nginx\n(.*?)```", open(PAGE, encoding="utf-8").read(), re.S).group(1)
        for number, s in zip(("8081", "8082"), servers):
            example = example.replace("127.0.0.1:" + number, f"127.0.0.1:{s.port}")
        example = example.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
        paths = "".join(f"{x}_temp_path {x};\n" for x in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open("nginx.conf", "w") as f:
            f.write(f"daemon off; master_process off; pid nginx.pid; error_log nginx.log;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{example}}}\n")
        self.process = subprocess.Popen([NGINX, "-p", ".", "-c", "nginx.conf", "-e", "nginx.log"], stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        print(open("nginx.log").read())
        raise SystemExit("nginx does not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


def shared_and_taken_away():
    flags = ("--behind-proxy", "--connections", "1000", "--cpu-threads", "1")
    with Server(REGARD, MODEL, "--cache", "0", *flags) as a, Server(REGARD, MODEL, "--cache", "0", *flags) as b, Nginx((a, b)) as proxy:
        wrong, done = [], []

        def work(i):
            for k in range(20):
                text = lines[(i + k) % len(lines)]
                status, answer = ask(proxy.port, text)
                done.append(status)
                if status != 200 or answer != {"translatedText": known[text]}:
                    wrong.append((status, answer))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        while len(done) < 60:
            time.sleep(0.01)
        counted = translated(a), translated(b)
        check(a.stop() == 0, "one server is stopped")
        for t in threads:
            t.join()
        check(not wrong and len(done) == 160, f"{len(wrong)} of {len(done)} answers are wrong, first {wrong[:2]}")
        check(min(counted) > 10, f"both servers translate: {counted} lines")
        c = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
        c.request("GET", "/metrics")
        check(c.getresponse().status == 403, "metrics are not for everybody")


def who_asks():
    """A limit per address is one per client, not one for all behind the proxy; the client's own header says nothing."""
    for flags, second in (((), 429), (("--behind-proxy",), 200)):
        with Server(REGARD, MODEL, "--req-limit", "3", *flags) as a, Nginx((a, a)) as proxy:
            check([ask(proxy.port, lines[0])[0] for _ in range(4)] == [200, 200, 200, 429], f"{flags}: the limit of one client")
            check(ask(proxy.port, lines[0], "127.0.0.2")[0] == second, f"{flags}: another client")
            c = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
            c.request("POST", "/translate", b"{}", {"X-Forwarded-For": "9.9.9.9"})
            check(c.getresponse().status == 429, "a client that says it is another")


shared_and_taken_away()
who_asks()
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

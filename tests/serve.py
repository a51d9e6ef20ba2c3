"""The server under test: refusals, malformed requests over raw sockets, slow clients, load, overload, drain. Standard library only."""
import http.client
import json
import random
import re
import socket
import sys
import threading
import time

import serve_client
from serve_support import FORM, Server as AnyServer, alone, check, failures, raw

REGARD, MODEL, TEXTS = sys.argv[1:4]


def Server(*flags):
    return AnyServer(REGARD, MODEL, "--cache", "0", *flags)  # every text is translated: an answer that is kept loads nothing


def bent_forms():
    """Multipart forms with something wrong."""
    good, kind = serve_client.multipart({"q": "the cat", "source": "en", "target": "fr"}, boundary="x")
    yield from ((good[:n], kind) for n in (0, 1, 2, 3, 5, 40, 60, len(good) - 6))
    yield from ((good, "multipart/form-data" + x) for x in ("", "; boundary", "; boundary=", '; boundary="', "; boundary=y", "; boundary=" + "x" * 71))
    yield good.replace(b"name=", b"nome="), kind
    yield good.replace(b"Content-Disposition", b"Content-Type"), kind
    yield good.replace(b"the cat", b"\xff"), kind
    yield good.replace(b"the cat", b"a\x00b"), kind
    yield good.replace(b'"q"', b'""'), kind
    yield good.replace(b'"q"', b'"' + b"q" * 64 + b'"'), kind
    yield good.replace(b'"q"', b'"q"; filename="x.txt"'), kind
    yield good.replace(b"\r\n", b"\n"), kind
    yield good.replace(b"\r\n\r\n", b"\r\n"), kind
    yield b"--x\r\n" * 1000, kind


def refusals(s):
    good = {"q": "the cat", "source": "en", "target": "fr"}
    wrong = [(400, {k: v for k, v in good.items() if k != gone}) for gone in good]
    wrong += [(400, {**good, **x}) for x in (
        {"source": "xx"}, {"target": "xx"}, {"source": "fr", "target": "en"}, {"source": ""}, {"target": ""}, {"source": ["en"]}, {"source": 3}, {"target": None}, {"q": 3}, {"q": None}, {"q": [3]}, {"q": [[]]},
        {"q": {}}, {"q": "x" * 5001}, {"q": ["x"] * 257}, {"q": "a " * 1200}, {"format": "pdf"}, {"format": 1}, {"alternatives": -1}, {"alternatives": 4},
        {"alternatives": "many"}, {"alternatives": ""}, {"alternatives": True}, {"alternatives": 1e30}, {"alternatives": 10 ** 18}, {"alternatives": "99999999999999999999"}, {"alternatives": []},
        {"glossary": 3}, {"glossary": "x"}, {"glossary": {"a": 3}}, {"glossary": {"": "b"}}, {"glossary": [[]]}, {"glossary": ["a"]}, {"glossary": [["a", None, "b"]]}, {"glossary": {"a": ["x"] * 17}},
        {"glossary": {f"t{i}": "x" for i in range(1001)}}, {"glossary": [["a", "b"], ["a", "c"]]}, {"glossary": {"a\0b": "x"}}, {"glossary": "[" * 5000})]
    for code, body in wrong:
        status, answer, _ = s.ask("POST", "/translate", body)
        check(status == code and set(answer) == {"error"}, f"{str(body)[:80]}: {status} {str(answer)[:80]}")
    for path in ("/translate", "/detect", "/v1/attention"):
        for body in ("", "{", "[]", "3", '"q"', "nul", '{"q":"\\u0000"}', '{"q":"\\ud800"}', '{"q":1,"q":2}', "[" * 100000, b'{"q":"\xff"}', '{"q":1e999}'):
            c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=10)
            c.request("POST", path, body, {"Content-Type": "application/json"})
            answer = c.getresponse()
            check(answer.status == 400 and "error" in json.loads(answer.read()), f"{path} {str(body)[:40]}: {answer.status}")
        for body in (b"q=%", b"q=%zz", b"q=%00", b"q=\xff", b"q=%ff", b"=", b"&&&", b"x" * 70000):
            check(s.ask("POST", path, body, FORM)[0] == 400, f"{path} form {body[:20]}")
        for body, kind in bent_forms():
            check(s.ask("POST", path, body, kind)[0] == 400, f"{path} {kind} {body[:60]}")
        check(s.ask("GET", path)[0] == 405 and s.ask("PUT", path, b"")[0] == 405, f"GET {path}")
    for path in ("/x", "/../etc/passwd", "/%2e%2e/etc/passwd", "//", "/translate/", "/languages/..", "/" + "a" * 4000):
        check(s.ask("GET", path)[0] == 404, path[:40])
    check(s.ask("POST", "/v1/attention", {**good, "q": "a\nb"})[0] == 400, "the record of two lines")
    check(s.ask("POST", "/health", b"")[2].getheader("Allow") == "GET, HEAD, OPTIONS", "Allow")
    check(raw(s, b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n") == 413, "a body past the limit")
    many = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    check(raw(s, b"POST /translate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + 33 * many + b"0\r\n\r\n") == 413, "chunks past the limit")


def malformed(s):
    body = b'{"q":"the cat","source":"en","target":"fr"}'
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    cases = [head + b"Content-Length: %s\r\n\r\n" % n + body for n in (
        b"-1", b"+43", b"0x2b", b"43a", b"", b" ", b"4 3", b"43, 43", b"43,44", b"99999999999999999999", b"18446744073709551616", b"18446744073709551615",
        b"9223372036854775808", b"1048577", b"4294967296", b"1e3", b"43.0", b"\x00", b"\xff", b"NaN")]
    cases += [head + b"Content-Length: 43\r\nContent-Length: %s\r\n\r\n" % n + body for n in (b"44", b"0", b"43", b"-1", b"x")]
    cases += [head + b"Content-Length: 43\r\nTransfer-Encoding: %s\r\n\r\n" % t + b"2b\r\n" + body + b"\r\n0\r\n\r\n" for t in (b"chunked", b"identity", b"gzip, chunked")]
    cases += [head + b"Transfer-Encoding: chunked\r\n\r\n" + c for c in (
        b"x\r\n" + body, b"-1\r\n" + body, b"ffffffffffffffff\r\n" + body, b"fffffffffffffffff\r\n", b"2b" + body, b"2b\r\n" + body + b"XX0\r\n\r\n", b"\r\n\r\n",
        b"2B;x=" + b"y" * 50000 + b"\r\n", b"0x2b\r\n" + body, b" 2b\r\n" + body, b"2b\n" + body + b"\n0\n\n", b"2b\r\n" + body, b"99999999\r\n" + body, b"2b \r\n")]
    cases += [line + b"\r\nHost: x\r\n\r\n" for line in (
        b"", b"GET", b"GET /", b"GET  / HTTP/1.1", b"GET / HTTP/9.9", b"GET / HTTP/1.1 x", b"GET / http/1.1", b"GET / HTP/1.1", b"\x00 / HTTP/1.1", b"G\xc3\x89T / HTTP/1.1",
        b"GET /\x00 HTTP/1.1", b"GET /%00 HTTP/1.1", b"GET /%zz HTTP/1.1", b"GET /% HTTP/1.1", b"GET http://evil/ HTTP/1.1", b"GET * HTTP/1.1", b"CONNECT x:1 HTTP/1.1",
        b"GET /" + b"a" * 9000 + b" HTTP/1.1", b"GET /?" + b"a=b&" * 20000 + b" HTTP/1.1", b"A" * 70000 + b" / HTTP/1.1", b"GET / HTTP/1.1\r\n bad: fold", b"PRI * HTTP/2.0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/", b"GET / HTTP/1.", b"GET / HTTP/-1.1", b"GET / HTTP/1.99999999999999")]
    cases += [b"GET /health HTTP/1.1\r\n" + h + b"\r\n\r\n" for h in (
        b"Host x", b": x", b"Host : x", b"Host: x\r\nHost: y", b"Host: " + b"x" * 40000, b"\x00: x", b"Host: \x00", b"Host: x\r\n" + b"A: b\r\n" * 6000 + b"C: d",
        b"Host: x\r\nExpect: 100-continue", b"Host: x\r\nExpect: magic", b"Host: x\r\nConnection: " + b"close," * 3000, b"Host: x\r\nUpgrade: h2c", b"Host: x\rA: b", b"Host: x\nA: b",
        b"Host: x\r\nCookie: " + b"a=b;" * 5000, b"Host: x\r\nRange: bytes=0-18446744073709551615", b"Host: x\r\nContent-Length: -5", b"Host: x\r\nContent-Length: 5", b"X: \xff\xfe",
        b"Host: x\r\nTransfer-Encoding: chunked", b"Host: x\r\nContent-Type: " + b"/" * 1000, b" Host: x", b"\tHost: x", b"Host:\r\n\r\n\r\nGET / HTTP/1.1")]
    dice = random.Random(7)
    whole = head + b"Content-Length: 43\r\n\r\n" + body
    while len(cases) < 150:  # the rest: a good request with a few bytes changed
        bent = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            bent[dice.randrange(len(bent))] = dice.randrange(256)
        cases.append(bytes(bent))
    codes = {}
    for i, case in enumerate(cases):
        code = raw(s, case, wait=1.0)
        codes[code] = codes.get(code, 0) + 1
        # -1: it waits for the rest that was announced, which has a deadline; 500: a chunk's extension fills the library's buffer
        check(code in (-1, 0, 100, 200) or 400 <= code < 500 or code in (500, 501, 505), f"malformed {i} {case[:100]!r}: {code}")
        check(i % 25 or s.translate("the cat")[0] == 200, f"the server after malformed {i}")
    for n in cases[:6] + cases[20:25]:  # lengths that are not lengths must not be guessed
        check(raw(s, n) != 200, f"accepted: {n[-120:]!r}")
    check(raw(s, whole, step=1, close=False) == 200, "a good request one byte at a time")
    check(raw(s, head + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"1\r\n%c\r\n" % x for x in body) + b"0\r\n\r\n", step=7, close=False) == 200, "chunks of one byte")
    print("malformed:", len(cases), "cases, codes", dict(sorted(codes.items())))


def slow(known):
    """Clients that drip do not hold anybody up, and are gone when their time is over."""
    with Server("--header-seconds", "1", "--body-seconds", "2") as s:
        dripping, gone, until = [], [], time.time() + 4.5
        begin = {"header": b"POST /translate HTTP/1.1\r\nHost: x\r\nX: ", "body": b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"}

        def drip(kind):
            c = socket.create_connection(("127.0.0.1", s.port), timeout=10)
            dripping.append(kind)
            c.sendall(begin[kind])
            began = time.time()
            try:
                while time.time() < until:
                    c.sendall(b"a")
                    time.sleep(0.1)
            except OSError:
                gone.append((kind, time.time() - began))
            c.close()

        threads = [threading.Thread(target=drip, args=(kind,)) for kind in ("header", "body") for _ in range(25)]
        for t in threads:
            t.start()
        times = []
        while time.time() < until - 1:
            began = time.time()
            text = random.choice(list(known))
            check(s.translate(text)[1]["translatedText"] == known[text], "an answer among slow clients")
            times.append(time.time() - began)
        for t in threads:
            t.join()
        check(len(gone) == 50 and all(0.8 < d < (2.5 if k == "header" else 3.5) for k, d in gone), f"{len(gone)} of 50 slow clients ended in time: {sorted(gone)[:3]}")
        print(f"slow: {len(gone)} of 50 ended; p99 of others {1000 * sorted(times)[len(times) * 99 // 100]:.0f} ms")


def load(s, known, seconds):
    wrong, done, texts, until = [], [0] * 64, list(known), time.time() + seconds

    def work(i):
        dice, c = random.Random(i), http.client.HTTPConnection("127.0.0.1", s.port, timeout=30)
        while time.time() < until:
            some = dice.sample(texts, dice.randint(1, 4))
            status, answer, _ = s.translate(some, connection=c)
            if status != 200 or answer != {"translatedText": [known[x] for x in some]}:
                wrong.append((status, answer))
            done[i] += len(some)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(64)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong and min(done) > 0, f"{len(wrong)} wrong answers under load, first {wrong[:1]}")
    batches = int(re.search(r"^regard_batches_total (\d+)", s.ask("GET", "/metrics")[1], re.M).group(1))
    print(f"load: {sum(done)} texts of 64 clients in {seconds} s, {batches} batches so far, every answer compared")


def overload(known):
    with Server("--queue", "150") as s:
        codes, texts = [], list(known)[:8]

        def work():
            for _ in range(5):
                status, _, answer = s.translate(texts)
                codes.append(status)
                if status == 503 and not answer.getheader("Retry-After"):
                    codes.append(0)

        threads = [threading.Thread(target=work) for _ in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        check(set(codes) <= {200, 503} and 200 in codes and 503 in codes, f"codes of an overload: {sorted(set(codes))}")
        check(s.translate(texts[0])[0] == 200, "after the overload")
        for _ in range(50):  # clients that leave at once
            c = socket.create_connection(("127.0.0.1", s.port))
            c.sendall(b'POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 43\r\n\r\n{"q":"the cat","source":"en","target":"fr"}')
            c.close()
        until = time.time() + 5
        while s.translate(texts[0])[0] == 503 and time.time() < until:
            time.sleep(0.05)
        check(s.translate(texts[0])[0] == 200, "after clients that left")


def keys():
    with Server("--api-key", "secret", "--req-limit", "9") as s:
        check(s.translate("the cat")[0] == 403 and s.translate("the cat", api_key="secre")[0] == 403 and s.translate("the cat", api_key=3)[0] == 403, "no key")
        check(s.translate("the cat", api_key="secret")[0] == 200 and s.translate("the cat", api_key="secret")[2].getheader("Retry-After") is None, "the key")
        check(s.ask("POST", "/translate?api_key=secret", {"q": "the cat", "source": "en", "target": "fr"})[0] == 200 and s.ask("GET", "/languages")[0] == 200, "the key in the query")
        check(s.ask("POST", "/v1/attention", {"q": "a", "source": "en", "target": "fr"})[0] == 403 and s.ask("POST", "/detect", {"q": "a"})[0] == 403, "no key elsewhere")
        check(s.ask("POST", "/translate", {"q": "the cat", "source": "en", "target": "fr", "api_key": "secret"}, FORM)[0] == 200, "the key of a form")
        status, error, answer = s.translate("the cat", api_key="secret")
        check(status == 429 and error == {"error": "Slowdown: 9 per 1 minute"} and answer.getheader("Retry-After") == "60", f"past the limit of a minute: {status}")


def languages(known):
    """What the model says, what the flags say, or honestly nothing."""
    a = list(known)[0]
    with Server("--source-lang", "de", "--target-lang", "pt-BR") as s:
        check([(x["code"], x["targets"]) for x in s.ask("GET", "/languages")[1]] == [("de", ["de", "pt-BR"]), ("pt-BR", ["pt-BR"])], f"/languages by flags: {s.ask('GET', '/languages')[1]}")
        check(s.translate(a)[0] == 400 and s.translate(a, source="de", target="pt-BR")[1] == {"translatedText": known[a]}, "languages of the flags")
        check({k: v["code"] for k, v in s.ask("GET", "/frontend/settings")[1]["language"].items()} == {"source": "de", "target": "pt-BR"}, "settings by flags")
    with Server("--source-lang", "und", "--target-lang", "und") as s:  # as a model without languages is served
        check(s.ask("GET", "/languages")[1] == [{"code": "und", "name": "unknown language", "targets": ["und"]}], f"/languages of nothing: {s.ask('GET', '/languages')[1]}")
        for source in ("und", "auto"):
            check(s.translate(a, source=source, target="und")[1]["translatedText"] == known[a], f"from {source} to und")
        status, answer, _ = s.translate(a)
        check(status == 400 and "--source-lang" in answer["error"], f"a language where none is known: {status} {answer}")
        check(s.ask("POST", "/detect", {"q": a})[1] == [{"confidence": 100.0, "language": "und"}], "/detect where none is known")


def confined():
    """The process has given up what it does not need, unless it was told not to (what that is worth: test_confine.c)."""
    for flags, privileges, filters in (((), "1", "2"), (("--no-confine",), "0", "0")):
        with Server(*flags) as s:
            facts = dict(line.split(":\t", 1) for line in open(f"/proc/{s.process.pid}/status").read().split("\n") if ":\t" in line)
            check(facts["NoNewPrivs"] == privileges and facts["Seccomp"] in (filters, "2"), f"{flags}: NoNewPrivs {facts['NoNewPrivs']}, Seccomp {facts['Seccomp']}")
            check(s.translate("the cat")[0] == 200, "a confined server answers")


def drain(known):
    for _ in range(5):
        s, texts, bad, answered = Server(), list(known), [], [0]

        def work():
            c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=20)
            try:
                while True:
                    c.connect()
                    c.request("POST", "/translate", json.dumps({"q": texts[:3], "source": "en", "target": "fr"}), {"Content-Type": "application/json"})
                    answer = c.getresponse()
                    if answer.status != 200 or json.loads(answer.read())["translatedText"] != [known[x] for x in texts[:3]]:
                        bad.append(answer.status)
                    answered[0] += 1
                    c.close()
            except (OSError, http.client.HTTPException):
                pass

        threads = [threading.Thread(target=work) for _ in range(16)]
        for t in threads:
            t.start()
        until = time.time() + 20
        while answered[0] <= 16 and time.time() < until:
            time.sleep(0.05)
        check(s.stop() == 0 and not bad, f"SIGTERM under load: {s.process.returncode}, {bad[:3]}")
        for t in threads:
            t.join()
        check(answered[0] > 16, "load while SIGTERM came")
    times = []
    for _ in range(20):
        began = time.time()
        s = Server()
        times.append(time.time() - began)
        check(s.stop() == 0, "start and stop")
    print(f"start: {1000 * min(times):.0f} ms with the model")


lines = [x.strip() for x in open(TEXTS, encoding="utf-8")][:10]
known = alone(REGARD, MODEL, lines + [" ".join(x.split()[:n]) for x in lines for n in (1, 2, 3)])
known.pop("", None)
with Server() as server:
    serve_client.run(server, known)
    refusals(server)
    malformed(server)
    load(server, known, 3)
    check(server.stop() == 0, "exit code")
keys()
languages(known)
overload(known)
confined()
slow(known)
drain(known)
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

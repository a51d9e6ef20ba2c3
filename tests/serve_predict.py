"""A served classifier: the answers of `regard predict`, the limits and promises of the server (P10)."""
import http.client
import json
import re
import subprocess
import sys
import threading
import time

import serve_support
from serve_support import Server, check

regard, model, slow = sys.argv[1:4]  # slow: the words a label rests on take long to find
texts = ["ba de mau fi", "nue", "go go pio", "", "unheard words"]


def predicted(model):
    said = subprocess.run([regard, "predict", "-m", model, "--json"], input="\n".join(texts) + "\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in said.stdout.splitlines()]


wanted = predicted(model)


def ask(server, path, fields, connection=None):
    code, answer, _ = server.ask("POST", path, fields, connection=connection)
    return code, answer


with Server(regard, model) as s:
    for path in "/v1/predict", "/classify":
        code, answer = ask(s, path, {"q": texts})
        check(code == 200 and answer["rows"] == [[w] for w in wanted], f"{path}: {answer}")
    code, answer = ask(s, "/v1/predict", {"q": "nue", "top": 2})
    check(code == 200 and set(answer["rows"][0]) == {"label", "probability", "label-2", "probability-2"}, f"top: {answer}")
    code, answer = ask(s, "/v1/predict", {"q": "ba nue", "attention": True})
    check(code == 200 and answer["record"]["texts"][0]["text"] == "ba nue", f"record: {answer}")
    for fields, words in (({}, "missing q"), ({"q": 5}, "missing q"), ({"q": [1]}, "list of strings"), ({"q": "a", "top": 0}, "--top"),
                          ({"q": ["a", "b"], "attention": True}, "one text"), ({"q": "a" * 5001}, "exceeds"),
                          ({"q": ["a"] * 257}, "exceeds"), ({"q": "a", "top": [1]}, "top")):
        code, answer = ask(s, "/v1/predict", fields)
        check(code == 400 and words in answer["error"], f"{str(fields)[:60]}: {code} {answer}")
    for path in "/translate", "/languages", "/detect", "/v1/attention":
        check(ask(s, path, {"q": "a"})[0] == 404, f"{path} of a classifier")
    check(s.ask("GET", "/v1/predict")[0] == 405, "GET /v1/predict")
    code, page, _ = s.ask("GET", "/")
    check(code == 200 and "<textarea" in page, "the page")

    wrong = []

    def many(k):
        for i in range(40):
            text = texts[(i + k) % len(texts)]
            code, answer = ask(s, "/v1/predict", {"q": text})
            if code != 200 or answer["rows"] != [wanted[texts.index(text)]]:
                wrong.append((code, answer))

    threads = [threading.Thread(target=many, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    check(not wrong, f"{len(wrong)} of 320 at once were wrong: {wrong[:1]}")

with Server(regard, model, "--api-key", "secret") as s:
    check(ask(s, "/v1/predict", {"q": "a"})[0] == 403, "no key")
    check(ask(s, "/v1/predict", {"q": "a", "api_key": "secret"})[0] == 200, "the key")



def counted(server, name):
    return float(re.search(rf"^regard_{name} (\S+)$", server.ask("GET", "/metrics")[1], re.M).group(1))


def wait_for(what, seconds=20):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


# a deadline that has passed before a lane can look: nobody works for it
with Server(regard, model, "--request-seconds", "0.000001") as s:
    for i in range(5):
        code, answer = ask(s, "/v1/predict", {"q": "a"})
        check(code == 503 and "error" in answer, f"a deadline that has passed: {code} {answer}")
    check(counted(s, "expired_total") == 5, f"{counted(s, 'expired_total')} of 5 counted as expired")

wanted = predicted(slow)
# the words that a text rests on are found by leaving out each in turn: one text of 60,000 words is minutes of work, in one piece
costly = {"q": "ba de fi " * 20000, "words": True}
more = ["--char-limit", "1000000", "--cpu-threads", "1"]
with Server(regard, slow, "--request-seconds", "2", *more) as s:
    begun = time.monotonic()
    code, answer = ask(s, "/v1/predict", costly)
    check(code == 503, f"work of minutes: {code} {str(answer)[:100]}")
    check(time.monotonic() - begun < 15, f"two seconds for a request took {time.monotonic() - begun:.1f}")
    code, answer = ask(s, "/v1/predict", {"q": texts[0]})
    check(code == 200 and answer["rows"] == [wanted[0]], f"after it: {code} {answer}")

with Server(regard, slow, "--request-seconds", "600", *more) as s:
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=30)
    c.request("POST", "/v1/predict", json.dumps(costly), {"Content-Type": "application/json"})
    time.sleep(0.3)
    c.close()  # the client has left, and what it asked for is given up
    check(wait_for(lambda: counted(s, "left_total") == 1), "a client that left is not noticed")
    code, answer = ask(s, "/v1/predict", {"q": texts[0]})
    check(code == 200 and answer["rows"] == [wanted[0]], f"after a client left: {code} {answer}")
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=30)
    c.request("POST", "/v1/predict", json.dumps(costly), {"Content-Type": "application/json"})
    time.sleep(0.3)
    begun = time.monotonic()
    check(s.stop(30) == 0, "SIGTERM during work of minutes")
    check(time.monotonic() - begun < 20, f"SIGTERM took {time.monotonic() - begun:.1f} s")

sys.exit(1 if serve_support.failures else 0)

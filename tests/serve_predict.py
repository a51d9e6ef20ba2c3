"""A served classifier: the answers of `regard predict`, the limits and promises of the server (P10)."""
import json
import subprocess
import sys
import threading

import serve_support
from serve_support import Server, check

regard, model = sys.argv[1:3]
texts = ["ba de mau fi", "nue", "go go pio", "", "unheard words"]
said = subprocess.run([regard, "predict", "-m", model, "--json"], input="\n".join(texts) + "\n", capture_output=True, text=True, check=True)
wanted = [json.loads(line) for line in said.stdout.splitlines()]


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

with Server(regard, model, "--request-seconds", "0.000001") as s:
    check(ask(s, "/v1/predict", {"q": "a"})[0] in (200, 503), "a deadline that has passed")

sys.exit(1 if serve_support.failures else 0)

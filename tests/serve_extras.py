"""Scores of sentences and words, /spec, /suggest. Standard library only."""
import http.client
import math
import os
import subprocess
import sys

from serve_support import FORM, Server as AnyServer, check, failures

REGARD, MODEL, TEXTS = sys.argv[1:4]
lines = [x.strip() for x in open(TEXTS, encoding="utf-8")][:6]


def Server(*flags):
    return AnyServer(REGARD, MODEL, *flags)


def log_p(source, target):
    for name, text in (("a", source), ("b", target)):
        with open(name, "w", encoding="utf-8") as f:
            f.write("\n".join(text) + "\n")
    out = subprocess.run([REGARD, "score", "-m", MODEL, "a", "b"], capture_output=True, text=True, check=True).stdout
    return [float(x.split()[0]) for x in out.strip().split("\n")]


def scores(s):
    plain = s.translate(lines)[1]
    check(set(plain) == {"translatedText"}, "no scores unless asked for")
    status, answer, _ = s.translate(lines, scores=True)
    check(status == 200 and answer["translatedText"] == plain["translatedText"] and len(answer["scores"]) == len(lines), f"scores: {str(answer)[:200]}")
    known = log_p(lines, plain["translatedText"])
    for text, (one,), expected in zip(answer["translatedText"], answer["scores"], known):
        check(one["text"] == text and " ".join(w["text"] for w in one["words"]) == " ".join(text.split()), f"the words of {text}: {one}")
        check(abs(one["logProbability"] - expected) < 1e-3, f"log p {one['logProbability']} is not {expected} as `regard score` says")
        parts = sum(math.log(w["probability"]) for w in one["words"])
        check(all(0 < w["probability"] <= 1 for w in one["words"]) and parts >= one["logProbability"] - 1e-6, f"words {parts} of {one['logProbability']}")
    paragraph = f"{lines[0]}\n\n  {lines[1]}\n"
    answer = s.translate(paragraph, scores="true")[1]
    check([x["text"] for x in answer["scores"]] == plain["translatedText"][:2], f"a sentence per line: {answer}")
    check(s.translate("le chat", source="fr", scores=True)[1] == {"translatedText": "le chat", "scores": []}, "a text that is kept")
    html = s.translate(f"<p>{lines[0]} <b>{lines[1]}</b></p>", format="html", scores=True)[1]
    check(html["scores"] and all("<" not in w["text"] for x in html["scores"] for w in x["words"]), f"scores of HTML: {html}")


def spec(s):
    """Every path in it answers, with the methods it names and no other; every address that answers is in it."""
    status, answer, _ = s.ask("GET", "/spec")
    check(status == 200 and answer["openapi"].startswith("3.0") and answer["info"]["title"] == "regard", "the head of /spec")
    for path, methods in answer["paths"].items():
        for method, what in methods.items():
            body = "{}" if method == "post" else None
            got = s.ask(method.upper(), path, body)[0]
            check(got not in (404, 405, 500), f"{method} {path}: {got}")
            check(what["summary"] and "200" in what["responses"] and ("requestBody" in what) == (method == "post"), f"{path}: {what}")
            check(s.ask("GET" if method == "post" else "POST", path, b"" if method != "post" else None)[0] == 405, f"{path} with another method")
    for path in ("/", "/translate", "/detect", "/languages", "/translate_file", "/suggest", "/frontend/settings", "/health", "/metrics", "/v1/attention", "/spec"):
        check(path in answer["paths"], f"{path} is not in /spec")
    fields = answer["paths"]["/translate"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    check(set(fields["required"]) == {"q", "source", "target"}, f"required: {fields['required']}")
    given = s.translate(lines[0], source="auto", alternatives=1, scores=True)[1]
    said = answer["paths"]["/translate"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
    check(set(given) == set(said), f"answered {set(given)}, described {set(said)}")
    settings = s.ask("GET", "/frontend/settings")[1]
    said = answer["paths"]["/frontend/settings"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
    check(set(settings) == set(said), f"answered {set(settings)}, described {set(said)}")


def suggestions():
    good = {"q": "the cat", "s": "le chat", "source": "en", "target": "fr"}
    with Server() as s:
        check(s.ask("POST", "/suggest", good)[0] == 403 and s.ask("GET", "/frontend/settings")[1]["suggestions"] is False, "none unless asked for")
    with Server("--suggestions", "said.tsv", "--suggestions-mb", "1", "--char-limit", "20000", "--api-key", "k") as s:
        good["api_key"] = "k"
        check(s.ask("GET", "/frontend/settings")[1]["suggestions"] is True, "settings")
        check(s.ask("POST", "/suggest", good)[:2] == (200, {"success": True}), "a suggestion")
        check(s.ask("POST", "/suggest", {**good, "q": "a\tb\nc\\d\r", "s": "é"}, FORM)[0] == 200, "a suggestion of a form")
        for wrong in ({"q": ""}, {"s": None}, {"s": 3}, {"source": "xx"}, {"target": "auto"}, {"q": "x" * 20001}):
            check(s.ask("POST", "/suggest", {**good, **wrong})[0] == 400, f"a suggestion with {str(wrong)[:40]}")
        check(s.ask("POST", "/suggest", {**good, "api_key": "x"})[0] == 403, "the key")
        lines_of = open("said.tsv", encoding="utf-8").read()
        check(lines_of == "en\tfr\tthe cat\tle chat\nen\tfr\ta\\tb\\nc\\\\d\t\u00e9\n", f"stored: {lines_of!r}")
        codes = [s.ask("POST", "/suggest", {**good, "q": "x" * 20000, "s": "y" * 20000})[0] for _ in range(30)]
        check(set(codes) == {200, 507} and codes == sorted(codes) and os.path.getsize("said.tsv") <= 1 << 20, f"the bound: {codes}, {os.path.getsize('said.tsv')} bytes")
        check(s.translate("the cat", api_key="k")[0] == 200, "after the bound")
    before = os.path.getsize("said.tsv")
    with Server("--suggestions", "said.tsv", "--suggestions-mb", "2", "--workers", "2") as s:
        check(s.ask("POST", "/suggest", good)[0] == 200 and os.path.getsize("said.tsv") == before + 22, "the file is added to")
    out = subprocess.run([REGARD, "serve", "-m", MODEL, "--port", "0", "--suggestions", "no/such/folder"], capture_output=True, text=True, timeout=20)
    check(out.returncode == 1 and "no/such/folder" in out.stderr, f"a file that cannot be made: {out.stderr}")


with Server() as server:
    scores(server)
    spec(server)
suggestions()
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

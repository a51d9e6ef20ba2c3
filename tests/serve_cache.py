"""Recent translations: the same bytes with and without them, hits and misses counted, bounded, of the model that made them. Standard library only."""
import json
import os
import shutil
import sys

from serve_support import Server as AnyServer, alone, check, failures, metric, send_file

REGARD, MODEL, TEXTS, OTHER = sys.argv[1:5]
lines = list(dict.fromkeys(x.strip() for x in open(TEXTS, encoding="utf-8")))[:6]
known = alone(REGARD, MODEL, lines)

html = f'<p>{lines[0]} <b>{lines[1].split()[0]}</b> {" ".join(lines[1].split()[1:])}</p><p>{lines[0]}</p>'
REQUESTS = [dict(q=lines[0]), dict(q=lines[0], alternatives=2), dict(q=lines[0], scores=True), dict(q=lines, scores=True, alternatives=1),
            dict(q=html, format="html"), dict(q=html, format="html", alternatives=2, scores=True), dict(q="\n".join(lines) + "\n"),
            dict(q=lines[2], glossary={lines[2].split()[1]: "ZUG"}), dict(q=lines[2])]


def answers(s):
    """Bytes of the answers, in the order of a client that mixes everything."""
    out = []
    for r in REQUESTS:
        status, answer, _ = s.ask("POST", "/translate", {"source": "en", "target": "fr", **r})
        out.append((status, json.dumps(answer)))
    out.append(send_file(s, "a.html", html.encode(), source="en", target="fr", direct="true")[:2])
    status, record, _ = s.ask("POST", "/v1/attention", {"q": lines[0], "source": "en", "target": "fr"})
    out.append((status, json.dumps(record)))
    return out


with AnyServer(REGARD, MODEL, "--cache", "0") as s:
    without = answers(s)
    check(answers(s) == without, "the server is deterministic")
    check(metric(s, "cache_hits_total") == metric(s, "cache_misses_total") == 0, "switched off")
with AnyServer(REGARD, MODEL) as s:
    first = answers(s)
    misses, translated = metric(s, "cache_misses_total"), metric(s, "lines_total")
    again = answers(s)
    for i, (a, b, c) in enumerate(zip(without, first, again)):
        check(a == b == c, f"request {i}: {a} {b} {c}")
    check(metric(s, "cache_misses_total") == misses, "the second time all is known")
    check(metric(s, "cache_hits_total") > misses, f"{metric(s, 'cache_hits_total')} hits")
    check(metric(s, "lines_total") - translated == 2, f"only the glossary's and the record's are searched for again: {metric(s, 'lines_total') - translated}")
with AnyServer(REGARD, MODEL, "--cache", "8KiB") as s:  # far too small for all: the newest stay, answers are right
    check(answers(s) == without and answers(s) == without, "a small one")
    check(metric(s, "cache_hits_total") > 0, "what was just translated is still there")

# The scores of sentences that a memory or the cache answers stand where they belong.
with open("my.tsv", "w", encoding="utf-8") as f:
    f.write(f"{lines[0]}\tBY HAND\n")
with AnyServer(REGARD, MODEL, "--memory", "my.tsv") as s:
    for _ in range(2):
        scores = s.translate([lines[0], lines[1], lines[0] + "\n" + lines[2]], scores=True)[1]["scores"]
        check([[x["text"] for x in one] for one in scores] == [[], [known[lines[1]]], [known[lines[2]]]], f"scores beside a memory: {scores}")

# A file that is replaced while its model is away is another model.
os.mkdir("models")
shutil.copy(MODEL, "models/a.safetensors")
shutil.copy(MODEL, "models/b.safetensors")
other = alone(REGARD, OTHER, lines)
changed = [x for x in lines if other[x] != known[x]]
check(changed, "the two models differ")
with AnyServer(REGARD, "en:fr=models/a.safetensors", "-m", "fr:de=models/b.safetensors", "--resident", "1") as s:
    ask = lambda a, b: s.ask("POST", "/translate", {"q": changed, "source": a, "target": b})[1]["translatedText"]
    check(ask("en", "fr") == [known[x] for x in changed], "the first model")
    ask("fr", "de")  # takes its place
    check(ask("en", "fr") == [known[x] for x in changed] and metric(s, "cache_hits_total") == len(changed), "it is back, and so is what it said")
    ask("fr", "de")
    shutil.copy(OTHER, "models/new")
    os.rename("models/new", "models/a.safetensors")
    check(ask("en", "fr") == [other[x] for x in changed], "another file answers for itself")
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

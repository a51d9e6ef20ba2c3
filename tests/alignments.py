"""alignments.py A B: two models of the same sentences, A.heads, A.json, A.links, A.copied, A.record.json and B's. Wherever both give the
same translation they must look at the same words, in everything that shows where a model looks."""
import json
import re
import sys


def lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def tops(rows):
    return [max(range(len(row)), key=row.__getitem__) for row in rows]


def looks(name):
    """Per line: translation, links, where each piece looks by JSON, and the translation with copied words."""
    links = [line.split(" ||| ") for line in lines(name + ".links")]
    answers = [json.loads(line)["answers"][0] for line in lines(name + ".json")]
    copied = lines(name + ".copied")
    return [(answer["text"], link[1].split(), tops(answer["attention"]), text) for link, answer, text in zip(links, answers, copied)]


def share(what, pairs):
    """The share of equal entries; it must be most of them."""
    pairs = list(pairs)
    same = sum(x == y for x, y in pairs) / max(1, len(pairs))
    print(f"{what}: {same:.3f} of {len(pairs)} the same")
    return len(pairs) > 0 and same >= 0.8


def record_tops(name):
    with open(name + ".record.json", encoding="utf-8") as file:
        record = json.load(file)
    return [tops(m["weights"]) for m in record["maps"]]


def heads(name):
    return float(re.search(r"the best finds ([0-9.]+) %", "\n".join(lines(name + ".heads"))).group(1))


a, b = sys.argv[1:]
both = [(x, y) for x, y in zip(looks(a), looks(b)) if x[0] == y[0]]
unknown = [(x, y) for x, y in both if "<unk>" in x[0] or x[0] != x[3]]
print(f"heads: {heads(a)} % and {heads(b)} %; {len(both)} translations are the same, {len(unknown)} with copied words")
ok = [
    abs(heads(a) - heads(b)) < 10,
    len(both) >= 20,
    share("links", ((p, q) for x, y in both for p, q in zip(x[1], y[1]))),
    share("JSON", ((p, q) for x, y in both for p, q in zip(x[2], y[2]))),
    share("copied words", ((x[3], y[3]) for x, y in unknown)),
    share("record", ((p, q) for m, n in zip(record_tops(a), record_tops(b)) for p, q in zip(m, n))),
]
sys.exit(0 if all(ok) else 1)

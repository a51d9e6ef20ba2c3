"""alignments.py A B: two models of the same sentences, A.heads, A.json, A.links, A.record.json and B's. Wherever both give the same
translation they must look at the same words, in everything that shows where a model looks. What looks at </s> is passed over: a source that
is read backwards ends with its first word, which </s> then stands for."""
import json
import re
import sys


def lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def tops(rows):
    """The word each row looks at most, without </s>, the last column; the last row is </s>."""
    return [max(range(len(row) - 1), key=row.__getitem__) for row in rows[:-1]]


def looks(name):
    """Per line: translation, links, and where each piece looks by JSON."""
    links = [line.split(" ||| ")[1].split() for line in lines(name + ".links")]
    answers = [json.loads(line)["answers"][0] for line in lines(name + ".json")]
    return [(answer["text"], link, tops(answer["attention"])) for link, answer in zip(links, answers)]


def share(what, pairs):
    """Whether most entries are the same."""
    pairs = list(pairs)
    same = sum(x == y for x, y in pairs) / max(1, len(pairs))
    print(f"{what}: {same:.3f} of {len(pairs)} the same")
    return len(pairs) > 0 and same >= 0.75


def record_tops(name):
    with open(name + ".record.json", encoding="utf-8") as file:
        return [tops(m["weights"]) for m in json.load(file)["maps"]]


def heads(name):
    return float(re.search(r"the best finds ([0-9.]+) %", "\n".join(lines(name + ".heads"))).group(1))


a, b = sys.argv[1:]
both = [(x, y) for x, y in zip(looks(a), looks(b)) if x[0] == y[0]]
print(f"heads: {heads(a)} % and {heads(b)} %; {len(both)} translations are the same")
ok = [
    abs(heads(a) - heads(b)) < 10,
    len(both) >= 20,
    share("links", ((p, q) for x, y in both for p, q in zip(x[1], y[1]))),
    share("JSON", ((p, q) for x, y in both for p, q in zip(x[2], y[2]))),
    share("record", ((p, q) for m, n in zip(record_tops(a), record_tops(b)) for p, q in zip(m, n))),
]
sys.exit(0 if all(ok) else 1)

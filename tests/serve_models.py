"""A server with five models: directions, pivots, models loaded on demand, detection, refusals. Standard library only."""
import io
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import zipfile

from serve_support import Server as AnyServer, alone, check, failures, metric, send_file

REGARD, MODELS, TEXTS = sys.argv[1:4]
PAIRS = sorted(tuple(x[:-len(".safetensors")].split("-")) for x in os.listdir(MODELS) if x.endswith(".safetensors"))
lines = [x.strip() for x in open(TEXTS, encoding="utf-8")][:6]


def Server(*flags):
    return AnyServer(REGARD, MODELS, *flags)


def path(pair):
    return f"{MODELS}/{pair[0]}-{pair[1]}.safetensors"


known = {pair: alone(REGARD, path(pair), lines) for pair in PAIRS}


def ask(s, q, source, target, **more):
    return s.ask("POST", "/translate", {"q": q, "source": source, "target": target, **more})


def reachable(a):
    one = {t for s, t in PAIRS if s == a}
    return one | {t for s, t in PAIRS if s in one}


def directions(s):
    """Every pair that /languages lists is answered, as its model or models answer alone; no other is."""
    listed = s.ask("GET", "/languages")[1]
    codes = {x for pair in PAIRS for x in pair}
    check({x["code"] for x in listed} == codes and len(listed) == len(codes), f"languages: {listed}")
    for x in listed:
        check(x["targets"] == sorted(reachable(x["code"]) | {x["code"]}), f"targets of {x}")
    for a in codes:
        for b in codes:
            status, answer, _ = ask(s, lines, a, b)
            if (a, b) in PAIRS:
                check(status == 200 and answer["translatedText"] == [known[a, b][x] for x in lines], f"{a}-{b}: {status} {str(answer)[:200]}")
            elif a == b:
                check(answer == {"translatedText": lines}, f"{a}-{b} is kept")
            elif b in reachable(a):
                check(status == 200, f"{a}-{b} by a pivot: {answer}")
            else:
                check(status == 400 and all(f"{x}-{y}" in answer["error"] for x, y in PAIRS), f"{a}-{b}: {status} {answer}")
    status, answer, _ = ask(s, "a", "xx", "fr")
    check(status == 400 and "xx is not supported" in answer["error"] and "de-en" in answer["error"], f"unknown language: {answer}")


def pivots(s):
    """By way of a third language is what two calls answer: texts, lists, paragraphs, HTML, alternatives."""
    html = f"<p>{lines[0]} <b>{lines[1]}</b></p><ul><li>{lines[2]}</ul>"
    for q, more in ((lines[0], {}), (lines, {}), ("\n".join(lines) + "\n\n  " + lines[0] + "\r\n", {}), (html, {"format": "html"}), (lines[:2], {"alternatives": 2}), (["", lines[0], " \n"], {})):
        for a, by, b in (("de", "en", "fr"), ("de", "en", "cs"), ("fr", "en", "cs"), ("en", "fr", "nl")):
            first = ask(s, q, a, by, **{k: v for k, v in more.items() if k == "format"})[1]["translatedText"]
            two, one = ask(s, first, by, b, **more), ask(s, q, a, b, **more)
            if first == "" or (isinstance(first, list) and not any(first)):
                continue
            check(two[0] == one[0] == 200 and two[1] == one[1], f"{a}-{b} by {by}: {str(one[1])[:200]} is not {str(two[1])[:200]}")
    files(s, html)
    status, answer, _ = s.ask("POST", "/v1/attention", {"q": lines[0], "source": "de", "target": "fr"})
    check(status == 400 and "de to en" in answer["error"], f"the record of two models: {answer}")
    check(s.ask("POST", "/v1/attention", {"q": lines[0], "source": "de", "target": "en"})[0] == 200, "the record of one")


def files(s, html):
    """A file by way of a third language is the file of two calls."""
    for name, content in (("a.html", html.encode()), ("a.txt", "\n".join(lines).encode()), ("a.json", json.dumps({"k": lines[0], "n": 1}).encode()), ("a.odt", odt(lines))):
        for a, by, b in (("de", "en", "fr"), ("en", "fr", "nl")):
            first = send_file(s, name, content, source=a, target=by, direct="true")
            two, one = send_file(s, name, first[1], source=by, target=b, direct="true"), send_file(s, name, content, source=a, target=b, direct="true")
            check(first[0] == two[0] == one[0] == 200 and two[1] == one[1], f"{name} {a}-{b} by {by}: {one[1][:200]} is not {two[1][:200]}")
            check(one[1] != first[1], f"{name} {a}-{b} by {by}: the second model was asked")
    check(send_file(s, "a.txt", b"x", source="de", target="fr", glossary='{"x": "y"}')[0] == 400, "a glossary needs one model")


def odt(texts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("content.xml", '<office:text xmlns:office="o" xmlns:text="t">' + "".join(f"<text:p>{x}</text:p>" for x in texts) + "</office:text>")
    return out.getvalue()


def remembered():
    """A first leg that a memory answers whole is still followed by the second."""
    with open("my.tmx", "w", encoding="utf-8") as f:
        f.write(f'<tmx><header srclang="de"/><body><tu><tuv xml:lang="de"><seg>BY HAND</seg></tuv><tuv xml:lang="en"><seg>{lines[0]}</seg></tuv></tu></body></tmx>')
    for flags in ((), ("--resident", "1")):
        with Server("--memory", "my.tmx", *flags) as s:
            check(ask(s, "BY HAND", "de", "en")[1]["translatedText"] == lines[0], "the memory")
            check(ask(s, "BY HAND", "de", "fr")[1]["translatedText"] == known["en", "fr"][lines[0]], f"and on from there: {ask(s, 'BY HAND', 'de', 'fr')[1]}")


def by_bytes():
    """--resident in bytes: as many models as fit, whichever those are."""
    with Server("--cache", "0") as s:
        all_bytes = metric(s, "models_bytes")
        check(all_bytes > 5000, f"{all_bytes} bytes of models")
    one = all_bytes / len(PAIRS)  # they are of one size, but for their vocabularies
    with Server("--resident", f"{int(2.5 * one)}B") as s:
        check(metric(s, "models_in_memory") == 2 and metric(s, "models_bytes") <= 2.5 * one, f"two of {len(PAIRS)} fit: {metric(s, 'models_in_memory')}")
        directions(s)
        crowd(s)
        check(metric(s, "models_in_memory") == 2 and metric(s, "models_bytes") <= 2.5 * one, "and two again")
    with Server("--resident", "1GB") as s:
        check(metric(s, "models_in_memory") == len(PAIRS), "all fit")


def crowd(s, seconds=2):
    """Clients that ask in all directions at once while models come and go."""
    wrong, done = [], []
    two = {("de", "fr"): ("en",), ("fr", "cs"): ("en",)}
    expected = {(a, b): [known[a, b][x] for x in lines] for a, b in PAIRS}
    for a, b in two:
        expected[a, b] = ask(s, lines, a, b)[1]["translatedText"]

    def work(i):
        dice = random.Random(i)
        for _ in range(12):
            pair = dice.choice(list(expected))
            status, answer, _ = ask(s, lines, *pair)
            done.append(pair)
            if status != 200 or answer["translatedText"] != expected[pair]:
                wrong.append((pair, status, answer))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong and len(done) == 144, f"{len(wrong)} wrong answers, first {str(wrong[:1])[:300]}")


def on_demand():
    with Server("--resident", "2") as s:
        check(metric(s, "models_in_memory") == 2 and metric(s, "models") == len(PAIRS), "two models in memory")
        directions(s)
        pivots(s)
        crowd(s)
        check(metric(s, "models_in_memory") == 2, f"{metric(s, 'models_in_memory')} models in memory after all")
        check(metric(s, "model_loads_total") >= len(PAIRS) - 2, "models were loaded on demand")


def broken():
    """A file that is gone or damaged when it is needed spoils its own direction only."""
    shutil.copytree(MODELS, "broken")
    order = sorted(x for x in os.listdir("broken") if x.endswith(".safetensors"))
    with AnyServer(REGARD, "broken", "--resident", "2") as s:
        os.remove("broken/" + order[-1])  # the first two are in memory
        data = bytearray(open("broken/" + order[-2], "rb").read())
        data[-200:] = bytes(200)
        open("broken/" + order[-2], "wb").write(data)
        for name in order[-2:]:
            a, b = name[:5].split("-")
            status, answer, _ = ask(s, lines[0], a, b)
            check(status == 500 and name in answer["error"], f"{name}: {status} {answer}")
        a, b = order[0][:5].split("-")
        check(ask(s, lines[0], a, b)[1] == {"translatedText": known[a, b][lines[0]]}, "the others still answer")
        shutil.copy(f"{MODELS}/{order[-1]}", "broken/" + order[-1])
        a, b = order[-1][:5].split("-")
        check(ask(s, lines[0], a, b)[1] == {"translatedText": known[a, b][lines[0]]}, "a file that is back is read")


def detection(s):
    texts = {"en": "The committee will meet again on Thursday to discuss what happened in the north of the country.",
             "de": "Der Ausschuss trifft sich am Donnerstag wieder, um über die Ereignisse im Norden des Landes zu sprechen.",
             "fr": "Le comité se réunira de nouveau jeudi pour parler de ce qui est arrivé dans le nord du pays.",
             "cs": "Výbor se znovu sejde ve čtvrtek, aby projednal, co se stalo na severu země."}
    status, answer, _ = s.ask("POST", "/detect", {"q": texts["de"]})
    if status == 503 and "libcld2" in answer["error"]:
        check(ask(s, texts["de"], "auto", "fr")[0] == 503, "auto without a detector")
        print("no libcld2: detection is not tested")
        return
    for code, text in texts.items():
        answer = s.ask("POST", "/detect", {"q": text})[1]
        check(answer[0]["language"] == code and answer[0]["confidence"] > 80, f"detected {answer} for {code}")
    for code in ("de", "fr"):
        status, answer, _ = ask(s, texts[code], "auto", "cs")
        check(status == 200 and answer["detectedLanguage"]["language"] == code and answer["translatedText"] == ask(s, texts[code], code, "cs")[1]["translatedText"], f"auto from {code}: {answer}")
    status, answer, _ = ask(s, texts["cs"], "auto", "fr")
    check(status == 400 and "cs" in answer["error"], f"auto from a language nothing leads from: {status} {answer}")
    check(ask(s, "Комитет соберётся снова в четверг, чтобы обсудить события на севере страны.", "auto", "fr")[0] == 400, "a language that is not served")
    check(s.ask("POST", "/detect", {"q": "0 1 2"})[1] == [{"confidence": 0.0, "language": "und"}], f"no language: {s.ask('POST', '/detect', {'q': '0 1 2'})[1]}")


def refused_at_the_start():
    def fails(*words):
        r = subprocess.run([REGARD, "serve", *words, "--port", "0"], capture_output=True, text=True, timeout=20)
        check(r.returncode != 0, f"{words} is served")
        return r.stderr

    os.mkdir("empty")
    check("no model that translates" in fails("-m", "empty"), "a folder without models")
    shutil.copy(path(PAIRS[0]), "same.safetensors")
    said = fails("-m", MODELS, "-m", "same.safetensors")
    check("same.safetensors" in said and "both translate from" in said, f"two models of one direction: {said}")
    for size, words in (("5kB", "models may take 5000 (--resident)"), ("0", "1 to 10000 models"), ("2XB", "is no number of bytes"), ("0GB", "1 to 10000 models"), ("-1", "is no number of bytes")):
        said = fails("-m", MODELS, "--resident", size)
        check(words in said, f"--resident {size}: {said}")
    check("is no number of bytes" in fails("-m", MODELS, "--cache", "much"), "--cache much")
    check("are for one model" in fails("-m", MODELS, "--source-lang", "en"), "--source-lang of several")
    check("which model" in fails(), "no model")


def named():
    """Languages before a file, and -m more than once."""
    with AnyServer(REGARD, f"es:it={path(PAIRS[0])}", "-m", path(PAIRS[1]), f"pt-BR:es={path(PAIRS[2])}") as s:
        check({(x["code"], *x["targets"]) for x in s.ask("GET", "/languages")[1]} >= {("es", "es", "it"), ("pt-BR", "es", "it", "pt-BR")}, f"named: {s.ask('GET', '/languages')[1]}")
        check(ask(s, lines[0], "es", "it")[1] == {"translatedText": known[PAIRS[0]][lines[0]]}, "a named direction")
    with Server("--pivot", "none") as s:
        check(ask(s, lines[0], "de", "fr")[0] == 400 and ask(s, lines[0], "de", "en")[0] == 200, "no pivots")


with Server() as server:
    check(metric(server, "models_in_memory") == len(PAIRS), "all models in memory")
    directions(server)
    pivots(server)
    detection(server)
on_demand()
by_bytes()
remembered()
broken()
named()
refused_at_the_start()
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

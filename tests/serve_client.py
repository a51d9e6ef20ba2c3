"""A LibreTranslate-shaped client: every call its users make, in every form they make it, and the shape of every answer."""
import json
import re
import urllib.parse

from serve_support import FORM, check

NUMBER = (int, float)


def multipart(fields, boundary="----regardBoundary7MA4", end="--\r\n", more=""):
    """The body a browser's FormData sends."""
    body = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"{more}\r\n\r\n{v}\r\n'
                   for k, values in fields.items() for v in (values if isinstance(values, list) else [values]))
    return (body + f"--{boundary}{end}").encode(), f"multipart/form-data; boundary={boundary}"


def translate(s, known):
    a, b = list(known)[:2]
    pair = {"source": "en", "target": "fr"}
    check(s.translate(a)[:2] == (200, {"translatedText": known[a]}), "a text")
    check(s.translate([a, b])[1] == {"translatedText": [known[a], known[b]]}, "a list of texts")
    check(s.translate([a])[1] == {"translatedText": [known[a]]}, "a list of one text")
    check(s.translate(a + "\n\n  " + b + "\n")[1] == {"translatedText": known[a] + "\n\n  " + known[b] + "\n"}, "lines and blanks stay")
    check(s.translate("  \n ")[1] == {"translatedText": "  \n "}, "nothing but blanks")
    for nothing in ("", [], None):
        check(s.translate(nothing)[:2] == (400, {"error": "Invalid request: missing q parameter"}), f"q is {nothing}")
    check(s.ask("POST", "/translate", {"q": a, **pair}, "application/json; charset=utf-8")[1] == {"translatedText": known[a]}, "a type with a character set")
    for text in (a, "a < b & c 'd' \"e\"", "naïve façade — 漢字 😀"):
        check(s.translate(text)[0] == 200, f"the text {text}")
    # forms
    for kind, body in ((FORM, {"q": a, **pair}), ("multipart", None), ("query", None)):
        if kind == "multipart":
            data, kind = multipart({"q": a, **pair, "format": "text", "alternatives": "0", "api_key": ""})
            answer = s.ask("POST", "/translate", data, kind)
        elif kind == "query":
            answer = s.ask("POST", "/translate?" + urllib.parse.urlencode({"q": a, **pair}), b"", FORM)
        else:
            answer = s.ask("POST", "/translate", body, kind)
        check(answer[:2] == (200, {"translatedText": known[a]}), f"a form: {kind}: {answer[:2]}")
    check(s.ask("POST", "/translate?" + urllib.parse.urlencode({"q": a, **pair}))[1] == {"translatedText": known[a]}, "a query without a body")
    check(s.ask("POST", "/translate", {"q": [a, b], **pair}, FORM)[1] == {"translatedText": [known[a], known[b]]}, "a form's list")
    data, kind = multipart({"q": [a, b], **pair})
    check(s.ask("POST", "/translate", data, kind)[1] == {"translatedText": [known[a], known[b]]}, "a multipart form's list")
    check(s.ask("POST", "/translate", {"q": a + "\r\n" + b + "\r\n", **pair}, FORM)[1] == {"translatedText": known[a] + "\n" + known[b]}, "line ends of a form")
    data, kind = multipart({"q": a, **pair}, boundary="a b", end="--")
    check(s.ask("POST", "/translate", data, 'multipart/form-data; charset=utf-8; boundary="a b"')[1] == {"translatedText": known[a]}, "a quoted boundary")
    # terms of a glossary: an object, a list, the text of one; the next request has none of it
    for terms in ({"cat": "Minou", "dog": None}, [["cat", "Minou"], ["dog", "keep"]], '{"cat": "Minou"}'):
        check("Minou" in s.translate("the cat", glossary=terms)[1]["translatedText"].split(), f"glossary {terms}")
    check(["Minou" in t.split() for t in s.translate(["the cat", a, "a cat"], glossary={"cat": "Minou"})[1]["translatedText"]][::2] == [True, True], "glossary of a list")
    check(s.translate(a)[1]["translatedText"] == known[a], "a glossary stays")
    # alternatives
    one = s.translate(a, alternatives=3)[1]
    check(set(one) == {"translatedText", "alternatives"} and one["translatedText"] == known[a], "fields of alternatives")
    check(1 <= len(one["alternatives"]) <= 3 and known[a] not in one["alternatives"] and len(set(one["alternatives"])) == len(one["alternatives"]), "alternatives")
    two = s.translate([a, b], alternatives="2")[1]
    check([len(x) <= 2 for x in two["alternatives"]] == [True, True], "alternatives of a list")
    check(set(s.translate(a, alternatives=0)[1]) == {"translatedText"}, "no alternatives")
    # languages that are not said, and a text that is already there
    auto = s.ask("POST", "/translate", {"q": a, "source": "auto", "target": "fr"})[1]
    check(set(auto) == {"translatedText", "detectedLanguage"} and auto["translatedText"] == known[a] and auto["detectedLanguage"]["language"] == "en" and
          0 < auto["detectedLanguage"]["confidence"] <= 100, "source auto")
    both = s.ask("POST", "/translate", {"q": ["the cat is on the table", "le chat est sur la table"], "source": "auto", "target": "fr"})[1]
    check([x["language"] for x in both["detectedLanguage"]] == ["en", "fr"] and both["translatedText"][1] == "le chat est sur la table", f"a list of both languages: {both}")
    check(s.ask("POST", "/translate", {"q": a, "source": "fr", "target": "fr"})[1] == {"translatedText": a}, "from a language to itself")
    check(s.ask("POST", "/translate", {"q": a, "source": "fr", "target": "en"})[:2] ==
          (400, {"error": "English (en) is not available as a target language from French (fr); there is en-fr (source-target)"}), "a direction that is not served")
    check(s.ask("POST", "/translate", {"q": a, "source": "xx", "target": "fr"})[:2] == (400, {"error": "xx is not supported; there is en-fr (source-target)"}), "a language that is not served")
    # HTML
    html = s.translate(f"<p class='x'>{a}</p><!-- <b> --><script>a < b</script>&nbsp;", format="html")[1]["translatedText"]
    check(html.startswith(f"<p class='x'>{known[a]}</p><!-- <b> --><script>a < b</script>"), "HTML: " + html)
    markup(s, known)
    check(s.translate(a, format="pdf")[:2] == (400, {"error": "pdf format is not supported"}), "a format that is none")


def markup(s, known):
    """HTML without its tags is what the text without tags is translated to; every tag is there once; one line in is one line out."""
    for text in list(known)[:8]:
        words = text.split()
        for i, word in enumerate(words):
            html = " ".join(words[:i] + [f'<a href="x">{word}</a>'] + words[i + 1:])
            answer = s.translate(f"<p>{html}<br>\n<i>{text}</i></p>", format="html")[1]["translatedText"]
            check(re.sub("<[^>]*>", "", answer) == known[text] + "\n" + known[text], f"HTML without tags: {html}: {answer}")
            check([answer.count(t) for t in ("<p>", '<a href="x">', "</a>", "<br>", "<i>", "</i>", "</p>", "\n")] == [1] * 8, f"tags: {answer}")
            html = " ".join(words[:i] + [f"<code>{word}</code>", '<b translate="no">Wörter &amp; words</b>', "<!-- c -->"] + words[i + 1:])
            answer = s.translate(html, format="html")[1]["translatedText"]
            check(f"<code>{word}</code>" in answer and '<b translate="no">Wörter &amp; words</b>' in answer and "<!-- c -->" in answer, f"what is not translated: {html}: {answer}")
    check(s.translate("<p>&nbsp;</p>\n\n<br/>", format="html")[1] == {"translatedText": "<p>&nbsp;</p>\n\n<br/>"}, "HTML without a word")
    record = s.ask("POST", "/v1/attention", {"q": f"<b>{text}</b>", "source": "en", "target": "fr", "format": "html"})
    check(record[0] == 200 and record[1]["title"] == known[text], f"/v1/attention of HTML: {record[0]}")


def others(s):
    languages = s.ask("GET", "/languages")[1]
    check(languages == [{"code": "en", "name": "English", "targets": ["en", "fr"]}, {"code": "fr", "name": "French", "targets": ["fr"]}], f"/languages: {languages}")
    for text, code in (("the cat is on the table", "en"), ("le chat est sur la table", "fr")):
        data, kind = multipart({"q": text})
        for found in (s.ask("POST", "/detect", {"q": text})[1], s.ask("POST", "/detect", {"q": text}, FORM)[1], s.ask("POST", "/detect", data, kind)[1]):
            check(found[0]["language"] == code and sum(x["confidence"] for x in found) == 100 and all(set(x) == {"confidence", "language"} for x in found), f"/detect {text}")
    check(s.ask("POST", "/detect", {})[:2] == (400, {"error": "Invalid request: missing q parameter"}), "/detect of nothing")
    settings = s.ask("GET", "/frontend/settings")[1]
    shape = {"apiKeys": bool, "charLimit": int, "frontendTimeout": int, "keyRequired": bool, "suggestions": bool, "filesTranslation": bool, "supportedFilesFormat": list,
             "language": dict}
    check({k: type(v) for k, v in settings.items()} == shape and settings["keyRequired"] is False, f"/frontend/settings: {settings}")
    check({k: set(v) for k, v in settings["language"].items()} == {"source": {"code", "name"}, "target": {"code", "name"}}, "languages of the settings")
    check(s.ask("GET", "/health")[:2] == (200, {"status": "ok"}), "/health")
    check(s.ask("POST", "/translate_file", b"x", "multipart/form-data; boundary=x")[0] == 400 and s.ask("POST", "/suggest", {"q": "a", "s": "b"})[0] == 403, "what is not offered is refused")
    check('name="regard-live"' in s.ask("GET", "/")[1], "the page")


def origins(s):
    """A page of another server: the question before the question, and the answer it may read."""
    for path, allow in (("/translate", "OPTIONS, POST"), ("/detect", "OPTIONS, POST"), ("/languages", "GET, HEAD, OPTIONS")):
        status, text, answer = s.ask("OPTIONS", path)
        check(status == 200 and text == "" and answer.getheader("Allow") == allow, f"OPTIONS {path}: {status} {answer.getheader('Allow')}")
        check(answer.getheader("Access-Control-Allow-Origin") == "*" and "POST" in answer.getheader("Access-Control-Allow-Methods") and
              "Content-Type" in answer.getheader("Access-Control-Allow-Headers") and int(answer.getheader("Access-Control-Max-Age")) > 0, f"CORS of OPTIONS {path}")
    for answer in (s.translate("the cat"), s.translate(""), s.ask("GET", "/x"), s.ask("GET", "/languages")):
        check(answer[2].getheader("Access-Control-Allow-Origin") == "*", "CORS of an answer")
    check(s.ask("OPTIONS", "/x")[0] == 404, "OPTIONS of nothing")


def ours(s, known):
    a = list(known)[0]
    record = s.ask("POST", "/v1/attention", {"q": a, "source": "en", "target": "fr", "alternatives": 1})[1]
    check(record["format"] == "regard-record/1" and record["title"] == known[a], "/v1/attention")
    check({m["name"] for m in record["maps"]} == {"alignment", "encoder.self", "decoder.self", "decoder.cross"}, "maps of the record")
    check({m["hypothesis"] for m in record["maps"]} == {0, 1}, "each alternative has its maps")
    data, kind = multipart({"q": a, "source": "en", "target": "fr"})
    check(s.ask("POST", "/v1/attention", data, kind)[1]["title"] == known[a], "/v1/attention of a form")
    check(s.ask("POST", "/v1/attention", {"q": a, "source": "fr", "target": "fr"})[0] == 400, "no record of what is not translated")
    prometheus(s.ask("GET", "/metrics"))


def prometheus(answer):
    """Every line of /metrics is a comment or a sample of a family that was announced; histograms rise to their count."""
    status, text, head = answer
    check(status == 200 and head.getheader("Content-Type").startswith("text/plain; version=0.0.4"), "type of /metrics")
    types, samples = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            types[line.split()[2]] = line.split()[3]
        elif not line.startswith("# HELP "):
            found = re.fullmatch(r'([a-z_]+)(\{[a-z]+="[^"]*"\})? ([0-9.e+-]+)', line)
            check(found and re.sub(r"_(bucket|sum|count)$", "", found.group(1)) in types or found and found.group(1) in types, f"/metrics: {line}")
            if found:
                samples.setdefault(found.group(1), []).append(float(found.group(3)))
    buckets = samples["regard_request_seconds_bucket"]
    check(types["regard_requests_total"] == "counter" and types["regard_queue_lines"] == "gauge" and types["regard_request_seconds"] == "histogram", "types of /metrics")
    check(buckets == sorted(buckets) and buckets[-1] == samples["regard_request_seconds_count"][0] == sum(samples["regard_requests_total"]), "the histogram of /metrics")


def run(s, known):
    translate(s, known)
    others(s)
    origins(s)
    ours(s, known)

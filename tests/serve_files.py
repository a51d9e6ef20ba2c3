"""/translate_file: files of every format by name, answers to fetch or at once, limits, refusals; and --memory. Standard library only."""
import http.client
import io
import json
import sys
import zipfile

from serve_support import Server as AnyServer, alone, check, failures, raw, send_file

REGARD, MODEL, TEXTS = sys.argv[1:4]
lines = [x.strip() for x in open(TEXTS, encoding="utf-8")][:4]
known = alone(REGARD, MODEL, lines)


def Server(*flags):
    return AnyServer(REGARD, MODEL, *flags)


def send(s, name, content, **fields):
    return send_file(s, name, content, **{"source": "en", "target": "fr", **fields})


def fetch(s, url):
    check(url.startswith(f"http://127.0.0.1:{s.port}/download_file/"), f"the address {url}")
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=30)
    c.request("GET", url.split(str(s.port), 1)[1])
    answer = c.getresponse()
    return answer.status, answer.read(), answer


def page(texts):
    return ("<!DOCTYPE html>\n<ul>\n" + "".join(f'<li class="x">{t}</li>\n' for t in texts) + "</ul>\n").encode()


def files(s):
    status, answer, _ = send(s, "a page.html", page(lines))
    check(status == 200, f"a page: {answer}")
    url = json.loads(answer)["translatedFileUrl"]
    status, content, head = fetch(s, url)
    check(status == 200 and content == page([known[x] for x in lines]), f"the translated page: {content}")
    check(head.getheader("Content-Type") == "text/html" and head.getheader("Content-Disposition") == "attachment", "what a stranger sent is saved, not shown")
    check(fetch(s, url)[1] == content, "it can be fetched again")
    check(fetch(s, url.replace(url[-10:-5], "00000"))[0] == 404, "another address")
    status, content, _ = send(s, "m.json", json.dumps({"a": lines[0], "n": 1}).encode(), direct="true")
    check(status == 200 and json.loads(content) == {"a": known[lines[0]], "n": 1}, f"at once: {content}")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("word/document.xml", f"<w:p><w:r><w:t>{lines[0]}</w:t></w:r></w:p>")
        z.writestr("x.bin", b"\0\1")
    status, content, _ = send(s, "a.docx", archive.getvalue(), direct="true")
    with zipfile.ZipFile(io.BytesIO(content)) as z:
        check(known[lines[0]] in z.read("word/document.xml").decode() and z.read("x.bin") == b"\0\1", "a docx")
    check(json.loads(send(s, "a.txt", lines[0].encode(), source="auto")[1]).get("translatedFileUrl"), "the language is found")
    word = lines[0].split()[1]
    plain = send(s, "a.txt", lines[0].encode(), direct="true")[1].decode()
    forced = send(s, "a.txt", lines[0].encode(), direct="true", glossary=json.dumps({word: "ZUG"}))[1].decode()
    check("ZUG" in forced and "ZUG" not in plain, f"a glossary for a file: {forced}")
    check(send(s, "a.txt", lines[0].encode(), direct="true")[1].decode() == plain, "what a glossary made is not kept")


def refusals(s):
    for name, content, fields, words in (
            (None, b"", {}, "empty file"), ("a.html", b"", {}, "empty file"), ("a.exe", b"x", {}, "file format not supported"),
            ("noending", b"x", {}, "file format not supported"), ("a.json", b"{", {}, "not JSON"), ("a.docx", b"PK", {}, "zip archive"),
            ("a.html", b"a\0b", {}, "byte 1 is 0"), ("a.html", b"x", {"target": "xx"}, "xx"), ("../../etc/passwd.html", b"", {}, "empty file")):
        status, answer, _ = send(s, name, content, **fields)
        check(status == 400 and words in json.loads(answer)["error"], f"{name} {content!r}: {status} {answer}")
    check(raw(s, b"POST /translate_file HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n", close=False) == 413, "a file that is too large")
    check(s.translate(lines[0])[1]["translatedText"] == known[lines[0]], "the server goes on")


with Server() as s:
    files(s)
    refusals(s)
    check(s.ask("GET", "/frontend/settings")[1]["filesTranslation"] is True, "the settings say so")
with Server("--disable-files-translation") as s:
    check(send(s, "a.txt", b"x")[0] == 403, "files are off")
with Server("--file-limit", "100", "--workers", "2") as s:
    urls = [(x, json.loads(send(s, "a.txt", x.encode())[1])["translatedFileUrl"]) for x in lines for _ in range(4)]
    check(len({url for _, url in urls}) == len(urls), "an address each")
    for x, url in urls:  # every connection is new: whichever process takes it has the file
        status, content, _ = fetch(s, url)
        check(status == 200 and content.decode() == known[x], f"several processes share files: {status} {content}")
    check(send(s, "a.txt", lines[0].encode(), direct="true")[1].decode() == known[lines[0]], "or answer at once")
with open("my.tmx", "w", encoding="utf-8") as f:
    f.write(f'<tmx><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>{lines[0]}</seg></tuv><tuv xml:lang="fr"><seg>BY HAND</seg></tuv></tu></body></tmx>')
with Server("--memory", "my.tmx") as s:
    check(s.translate([lines[0], lines[1]])[1]["translatedText"] == ["BY HAND", known[lines[1]]], f"the memory: {s.translate([lines[0], lines[1]])[1]}")
    check(s.translate(f"<p>{lines[0]}</p>", format="html")[1]["translatedText"] == "<p>BY HAND</p>", "the memory in HTML")
    check(s.translate(lines[0], alternatives=2)[1]["translatedText"] == "BY HAND", "the memory with alternatives")
sys.exit(1 if failures else 0)

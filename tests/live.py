"""The served page of two directions in headless Chromium: lines, paragraphs, swap, copy, confidence, as you type, narrow and dark screens.

With --keep FOLDER the screenshots are written there."""
import base64
import json
import re
import sys

from browser import Browser
from serve_support import Server, check, failures

REGARD, MODELS, TEXTS = sys.argv[1:4]
keep = sys.argv[sys.argv.index("--keep") + 1] if "--keep" in sys.argv else None
lines = [x.strip() for x in open(TEXTS, encoding="utf-8")][:4]
get = "document.getElementById"


def shot(page, name):
    if keep:
        with open(f"{keep}/{name}.png", "wb") as f:
            f.write(base64.b64decode(page.screenshot()))


def put(page, text, wait=True):
    """Text as if it were typed, and the answer to exactly this text."""
    page.evaluate(f"{get}('text').value = {json.dumps(text)}; {get}('text').dispatchEvent(new Event('input')); {get}('answer').replaceChildren()")


def answer(page):
    return page.evaluate(f"{get}('answer').textContent")


def wait_answer(page, expected, what):
    try:
        page.wait(f"{get}('answer').textContent === {json.dumps(expected)}", what, 30)
    except TimeoutError:
        check(False, f"{what}: {answer(page)!r} is not {expected!r}; {page.evaluate(get + '(`note`).textContent')}")


def chosen(page):
    return page.evaluate(f"[{get}('from').value, {get}('to').value, {get}('swap').disabled]")


def beginning(page, s):
    """Both directions can be chosen; an example is there and translated."""
    page.wait(f"document.readyState === 'complete' && {get}('from').options.length > 1", "the languages are there")
    check(page.evaluate(f"[...{get}('from').options].map(o => o.value)") == ["en", "fr", "auto"], "languages to translate from")
    check(chosen(page) == ["en", "fr", False], f"at first: {chosen(page)}")
    example = page.wait(f"{get}('text').value", "an example")
    wait_answer(page, s.translate(example)[1]["translatedText"], "the example is translated")


def several_lines(page, s):
    for text in ("\n".join(lines[:2]), f"{lines[0]}\n{lines[1]}\n\n{lines[2]}\n\n\n{lines[3]}"):
        expected = s.translate(text)[1]["translatedText"]
        put(page, text)
        wait_answer(page, expected, f"{len(text.split(chr(10)))} lines")
        check(page.evaluate("document.querySelectorAll('#answer .line').length") == len([x for x in text.split("\n") if x]), "each line can be chosen")
        page.wait(f"!{get}('viewer').hidden && {get}('texts').querySelector('span').textContent === {json.dumps(lines[0])}", "the attention of the first line")
        page.evaluate("[...document.querySelectorAll('#answer .line')].pop().click()")
        page.wait(f"{get}('texts').querySelector('span').textContent === {json.dumps(text.split(chr(10))[-1])}", "the attention of the last line")
        check(page.evaluate(f"{get}('note').textContent") == "", "no complaint")
    shot(page, "paragraphs")


def confidence(page, s):
    """Every word has the colour of the probability that the server says."""
    text = "\n\n".join(lines[:3])
    put(page, text)
    said = s.translate(text, scores=True)[1]
    wait_answer(page, said["translatedText"], "paragraphs")
    words = [w for x in said["scores"] for w in x["words"]]
    level = lambda p: 0 if p >= 0.9 else 1 if p >= 0.7 else 2 if p >= 0.5 else 3 if p >= 0.3 else 4
    shown = page.evaluate("[...document.querySelectorAll('#answer .w')].map(e => [e.textContent, +e.dataset.level, e.title])")
    check([x[:2] for x in shown] == [[w["text"], level(w["probability"])] for w in words], f"words and levels: {shown[:4]} for {words[:4]}")
    check(all(x[2] == f"{100 * w['probability']:.0f} %" for x, w in zip(shown, words)), "probabilities to read")
    alpha = "(e => { const m = getComputedStyle(e).backgroundColor.match(/[\\d.]+(?=\\)$)/); return m ? +m[0] : 0; })"
    grounds = page.evaluate(f"[...document.querySelectorAll('#legend .w')].map({alpha})")
    check(all(a < b for a, b in zip(grounds, grounds[1:])) and grounds[0] > 0, f"the less sure, the stronger the colour: {grounds}")
    check(not page.evaluate(f"{get}('legend').hidden"), "the legend")
    page.evaluate(f"{get}('sure').click()")
    check(page.evaluate(f"[...document.querySelectorAll('#answer .w')].every(e => !{alpha}(e))"), "confidence can be switched off")
    page.evaluate(f"{get}('sure').click()")


def swap(page, s):
    put(page, lines[0])
    there = s.translate(lines[0])[1]["translatedText"]
    wait_answer(page, there, "before the swap")
    page.evaluate(f"{get}('swap').click()")
    check(chosen(page) == ["fr", "en", False], f"swapped: {chosen(page)}")
    back = s.translate(there, source="fr", target="en")[1]["translatedText"]
    wait_answer(page, back, "the translation is translated back")
    check(page.evaluate(f"{get}('text').value") == there, "the translation is the text")
    page.evaluate(f"{get}('from').value = 'en'; {get}('from').dispatchEvent(new Event('change'))")
    check(chosen(page) == ["en", "fr", False], f"chosen: {chosen(page)}")


def copied(page, s):
    put(page, lines[0])
    wait_answer(page, s.translate(lines[0])[1]["translatedText"], "something to copy")
    page.evaluate("window.kept = ''; Object.defineProperty(navigator, 'clipboard', { value: { writeText: async t => { window.kept = t; } }, configurable: true })")
    page.evaluate(f"{get}('copy').click()")
    page.wait(f"window.kept === {get}('answer').textContent && {get}('copy').textContent === 'Copied'", "the answer is copied")
    put(page, "")
    page.wait(f"{get}('answer').textContent === '' && {get}('copy').disabled", "nothing to copy")


def as_you_type(page, s):
    """Letters that come quickly are one question; a question that is out of date is cancelled."""
    page.evaluate("window.posts = []; window.stopped = 0; const real = window.fetch; window.fetch = (u, o) => { if (u === '/translate') { posts.push(JSON.parse(o.body).q); o.signal.addEventListener('abort', () => stopped++); } return real(u, o); }")
    page.evaluate(f"for (let i = 1; i <= {len(lines[1])}; i++) {{ {get}('text').value = {json.dumps(lines[1])}.slice(0, i); {get}('text').dispatchEvent(new Event('input')); }}")
    wait_answer(page, s.translate(lines[1])[1]["translatedText"], "what was typed")
    check(page.evaluate("posts") == [lines[1]], f"questions for {len(lines[1])} letters: {page.evaluate('posts')}")
    page.evaluate(f"{get}('text').value = {json.dumps(lines[2])}; {get}('live').requestSubmit(); {get}('text').value = {json.dumps(lines[3])}; {get}('live').requestSubmit()")
    wait_answer(page, s.translate(lines[3])[1]["translatedText"], "the last text")
    check(page.evaluate("stopped") >= 1, "the older question is cancelled")


def detected(page, s):
    """The language of the text is found and named, where the server can."""
    text = "Le petit chien voit une maison rouge dans le village."
    status, answer, _ = s.translate(text, source="auto", target="en")
    page.evaluate(f"{get}('from').value = 'auto'; {get}('from').dispatchEvent(new Event('change')); {get}('to').value = 'en'; {get}('to').dispatchEvent(new Event('change'))")
    check(chosen(page) == ["auto", "en", True], f"nothing to swap with what is not known: {chosen(page)}")
    put(page, text)
    if status == 200:
        wait_answer(page, answer["translatedText"], "a text whose language is found")
        page.wait(f"{get}('from').selectedOptions[0].textContent === 'Detected: French'", "the language that was found")
    else:
        page.wait(f"{get}('note').textContent === {json.dumps(answer['error'])}", "why it is not found")
    page.evaluate(f"{get}('from').value = 'en'; {get}('from').dispatchEvent(new Event('change'))")
    check(chosen(page) == ["en", "fr", False], f"chosen again: {chosen(page)}")


def narrow(page, s):
    page.size(360, 780)
    put(page, "\n".join(lines[:2]))
    wait_answer(page, s.translate("\n".join(lines[:2]))[1]["translatedText"], "on a narrow screen")
    page.wait(f"!{get}('viewer').hidden", "the viewer")
    check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"sideways scrolling at 360 px: {page.evaluate('document.documentElement.scrollWidth')}")
    text, out = (page.evaluate(f"(r => [r.left, r.top, r.right, r.bottom])({get}('{x}').getBoundingClientRect())") for x in ("text", "answer"))
    check(out[1] >= text[3] - 1 and text[2] - text[0] > 300, f"the answer stands below the text: {text} {out}")
    small = page.evaluate("[...document.querySelectorAll('#live button, #live select')].filter(e => e.offsetParent && !e.classList.contains('line') && e.getBoundingClientRect().height < 28).map(e => e.id)")
    check(not small, f"too small to touch: {small}")
    shot(page, "narrow")
    page.size(1200, 900)


def dark(page, s):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.open(f"http://127.0.0.1:{s.port}/")
    page.wait(f"{get}('answer').textContent", "an answer")
    put(page, "\n\n".join(lines[:3]))
    wait_answer(page, s.translate("\n\n".join(lines[:3]))[1]["translatedText"], "on a dark screen")
    number = lambda c: [int(x) for x in re.findall(r"\d+", c)[:3]]
    light = lambda c: sum(w * (x / 255 / 12.92 if x <= 10 else ((x / 255 + 0.055) / 1.055) ** 2.4) for w, x in zip((0.2126, 0.7152, 0.0722), c))
    ground = number(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    check(max(ground) < 60, f"the ground is dark: {ground}")
    for scheme in ("dark", "light"):
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        fg, soft = (number(page.evaluate(f"getComputedStyle({x}).{y}")) for x, y in ((get + "('answer')", "color"), ("document.querySelector('.pane')", "backgroundColor")))
        mark = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--unsure').trim()")
        mark = [int(mark[i:i + 2], 16) for i in (1, 3, 5)]
        worst = [round(s_ + 0.46 * (m - s_)) for s_, m in zip(soft, mark)]  # the least sure words
        for name, back in (("pane", soft), ("least sure word", worst)):
            a, b = sorted((light(fg), light(back)))
            check((b + 0.05) / (a + 0.05) >= 4.5, f"{scheme}: contrast of text on {name} is {(b + 0.05) / (a + 0.05):.1f}")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    shot(page, "dark")


with Server(REGARD, MODELS) as server, Browser() as browser:
    browser.size(1200, 900)
    browser.open(f"http://127.0.0.1:{server.port}/")
    beginning(browser, server)
    shot(browser, "beginning")
    several_lines(browser, server)
    confidence(browser, server)
    swap(browser, server)
    copied(browser, server)
    as_you_type(browser, server)
    detected(browser, server)
    narrow(browser, server)
    dark(browser, server)
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

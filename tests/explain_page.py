"""Pages of explanations in headless Chromium: two models side by side with their difference; 2,500 by 2,500 tokens."""
import os
import re
import sys
import time

from browser import Browser

failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAIL", what)


def self_test(page, name):
    """The page's own test (#test); how fast it is on a busy machine is not judged here."""
    result = page.open(f"file://{os.getcwd()}/{name}#test", "document.getElementById('test-result') && document.getElementById('test-result').textContent")
    lines = result.split("\n")
    check(re.match(r"(PASS|FAIL) \d+$", lines[-1]), f"{name}: no result: {lines[-1]}")
    for line in lines[:-1]:
        check(not line.startswith("FAIL") or re.search(r"[\d.]+ ms", line), f"{name}: {line}")


with Browser() as page:
    self_test(page, "beside.html")
    page.open(f"file://{os.getcwd()}/beside.html")
    page.wait("document.readyState === 'complete' && document.getElementById('base').width > 50", "the page is drawn")
    names = page.evaluate("[...document.getElementById('name').options].map(o => o.value)")
    for what in ("A: occlusion", "B: occlusion", "difference: occlusion"):
        check(what in names, f"{what} can be chosen: {names}")
        page.evaluate(f"(() => {{ const n = document.getElementById('name'); n.value = {what!r}; n.dispatchEvent(new Event('change')); }})()")
        page.wait("(() => { const c = document.getElementById('base'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; "
                  "return new Set(new Uint32Array(d.buffer)).size > 3 })()", f"{what} has colours")
    # over a picture: both maps once for each word, one below the other, without their difference
    self_test(page, "pictures.html")
    page.open(f"file://{os.getcwd()}/pictures.html")
    page.wait("document.querySelectorAll('#beside canvas').length === 2 && [...document.querySelectorAll('#beside canvas')].every(c => c.width > 150)",
              "two rows of pictures")
    page.wait("(() => { const c = document.querySelector('#beside canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; "
              "return new Set(new Uint32Array(d.buffer)).size > 20 })()", "pictures that are lit")
    check(page.evaluate("document.getElementById('name').value").startswith("A: "), "the first map is shown")
    self_test(page, "long.html")
    began = time.time()
    page.open(f"file://{os.getcwd()}/long.html")
    page.wait("document.readyState === 'complete' && document.getElementById('base').width > 50", "the long page is drawn")
    check(time.time() - began < 30, f"it took {time.time() - began:.1f} s")
print("failed" if failures else "passed")
sys.exit(1 if failures else 0)

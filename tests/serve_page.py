"""The served page in headless Chromium: type a text, see the translation and its matrix."""
import json
import re
import subprocess
import sys
import tempfile
import time

from browser import Browser

REGARD, MODEL, TEXT = sys.argv[1:4]
server = subprocess.Popen([REGARD, "serve", "-m", MODEL, "--port", "0"], stdout=subprocess.PIPE, text=True)
try:
    with Browser() as page:
        page.open(re.search(r"http://\S+", server.stdout.readline()).group(0))
        page.wait("document.readyState === 'complete' && document.getElementById('from').options.length === 2", "the languages are in the box")
        page.evaluate(f"document.getElementById('text').value = {json.dumps(TEXT)}; document.getElementById('live').requestSubmit()")
        known = subprocess.run([REGARD, "translate", "-m", MODEL, "-b", "4"], input=TEXT + "\n", capture_output=True, text=True, check=True).stdout.strip()
        page.wait(f"document.getElementById('answer').textContent === {json.dumps(known)}", f"the translation {known} is shown")
        page.wait("!document.getElementById('viewer').hidden && document.getElementById('base').width > 50", "the matrix is shown")
        page.wait("(() => { const c = document.getElementById('base'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; "
                  "return new Set(new Uint32Array(d.buffer)).size > 5 })()", "the matrix has colours")
        page.wait("[...document.getElementById('name').options].some(o => o.value === 'decoder.cross')", "every attention can be chosen")
        page.evaluate("document.getElementById('text').value = ''; document.getElementById('live').requestSubmit()")
        time.sleep(0.3)
        page.evaluate(f"document.getElementById('text').value = {json.dumps(TEXT)}; document.getElementById('live').requestSubmit()")
        page.wait(f"document.getElementById('answer').textContent === {json.dumps(known)}", "a text after an empty one")
        two = [TEXT, TEXT.split()[0]]
        lines = subprocess.run([REGARD, "translate", "-m", MODEL, "-b", "4"], input="\n".join(two) + "\n", capture_output=True, text=True, check=True).stdout[:-1].split("\n")
        page.evaluate(f"document.getElementById('text').value = {json.dumps(chr(10).join(two) + chr(10))}; document.getElementById('live').requestSubmit()")
        page.wait(f"document.getElementById('answer').textContent === {json.dumps(chr(10).join(lines))}", f"the translations of two pasted lines: {lines}")
        page.wait(f"document.getElementById('title').textContent === {json.dumps(lines[0] or 'Attention')} && !document.getElementById('viewer').hidden", "the attention of the first line")
        page.evaluate("document.querySelectorAll('#answer .line')[1].click()")
        page.wait("document.querySelector('#texts span').textContent === " + json.dumps(two[1]), "the attention of the second line when it is chosen")
        page.wait("document.getElementById('note').textContent === ''", "no complaint")
        html = "<p>" + TEXT.replace(" ", " <b>", 1) + "</b></p>"
        page.evaluate(f"document.getElementById('as-html').checked = true; document.getElementById('text').value = {json.dumps(html)}; document.getElementById('live').requestSubmit()")
        page.wait(f"document.getElementById('answer').textContent.replace(/<[^>]*>/g, '') === {json.dumps(lines[0])} && /^<p>.*<b>.*<.b>.*<.p>$/.test(document.getElementById('answer').textContent)",
                  "HTML with its tags")
        page.wait("document.getElementById('note').textContent === ''", "no complaint about HTML")
        page.evaluate("document.getElementById('as-html').checked = false; document.getElementById('text').value = '" + TEXT.split()[0] + "'; document.getElementById('text').dispatchEvent(new Event('input'))")
        page.wait(f"document.getElementById('answer').textContent === {json.dumps(lines[1])}", "the answer to what is typed, without a click")
        page.evaluate(f"document.getElementById('text').value = {json.dumps(TEXT)}; document.getElementById('live').requestSubmit()")
        page.wait("document.querySelectorAll('#chips .cut').length >= 2", "words can be removed")
        page.evaluate("document.querySelectorAll('#chips .cut')[1].click()")
        page.wait("/^Without/.test(document.getElementById('change').textContent)", "what a removed word changes")
        page.wait(f"document.getElementById('text').value.split(' ').length === {len(TEXT.split()) - 1}", "the text is a word shorter")
        page.evaluate("document.querySelector('#change button').click()")
        page.wait(f"document.getElementById('text').value === {json.dumps(TEXT)} && document.getElementById('answer').textContent === {json.dumps(known)}", "the word is put back")
        with tempfile.TemporaryDirectory() as folder:
            shorter = " ".join(TEXT.split()[:-1]) + " " + TEXT.split()[0]
            subprocess.run([REGARD, "show", "-m", MODEL, "--by", "occlusion", "--html", folder + "/two.html", TEXT, shorter], check=True)
            page.open("file://" + folder + "/two.html")
            page.wait("!document.getElementById('beside').hidden && document.querySelectorAll('#beside canvas').length === 3", "two inputs and their difference side by side")
            page.wait("/^difference: occlusion/.test(document.getElementById('subtitle').textContent)", "the difference is shown first")
            page.evaluate("document.querySelector('#beside button').click()")
            page.wait("/^A: occlusion/.test(document.getElementById('subtitle').textContent) && /rank correlation/.test(document.getElementById('faith').textContent)", "a click shows one of them, and how faithful it is")
            with open(folder + "/long.json", "w") as f:
                json.dump({"format": "regard-record/1", "title": "long", "kind": "class", "labels": [{"name": "words", "text": [f"w{i}" for i in range(2500)]}, {"name": "class", "text": ["a", "b"]}],
                           "maps": [{"name": "occlusion", "rows": 1, "cols": 0, "weights": [[(i * 37 % 100 - 50) / 50 for i in range(2500)]] * 2}]}, f)
            subprocess.run([REGARD, "show", folder + "/long.json", "--html", folder + "/long.html"], check=True)
            page.open("file://" + folder + "/long.html#test", "document.getElementById('test-result') && document.getElementById('test-result').textContent")
            result = page.evaluate("document.getElementById('test-result').textContent")
            wrong = [line for line in result.split("\n") if line.startswith("FAIL ") and " ms" not in line and not line[5:].isdigit()]
            assert not wrong, wrong
        print("passed: the live page")
finally:
    server.terminate()
    assert server.wait(20) == 0

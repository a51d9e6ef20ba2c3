"""The served page in headless Chromium, spoken to over its debugging socket: type a text, see the translation and its matrix."""
import base64
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

REGARD, MODEL, CHROMIUM, TEXT = sys.argv[1:5]


class Page:
    def __init__(self, url):
        host, port, path = re.match(r"ws://([^:/]+):(\d+)(/.*)", url).groups()
        self.s = socket.create_connection((host, int(port)), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.s.recv(1)
        self.number = 0

    def read(self, n):
        data = b""
        while len(data) < n:
            data += self.s.recv(n - len(data)) or sys.exit("the browser is gone")
        return data

    def message(self):
        whole = b""
        while True:
            first, size = self.read(2)
            size &= 127
            if size > 125:
                size = struct.unpack(">H" if size == 126 else ">Q", self.read(2 if size == 126 else 8))[0]
            whole += self.read(size)
            if first & 128:
                return json.loads(whole)

    def evaluate(self, script):
        self.number += 1
        data = json.dumps({"id": self.number, "method": "Runtime.evaluate", "params": {"expression": script, "returnByValue": True}}).encode()
        size = struct.pack(">BB", 129, 128 | len(data)) if len(data) < 126 else struct.pack(">BBH", 129, 254, len(data))
        self.s.sendall(size + b"\0\0\0\0" + data)  # a mask of zeros changes nothing
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                return answer["result"]["result"].get("value")

    def wait(self, script, what):
        until = time.time() + 20
        while not self.evaluate(script):
            if time.time() > until:
                sys.exit(f"FAIL {what}")
            time.sleep(0.05)


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    server = subprocess.Popen([REGARD, "serve", "-m", MODEL, "--port", "0"], stdout=subprocess.PIPE, text=True)
    url = re.search(r"http://\S+", server.stdout.readline()).group(0)
    browser = subprocess.Popen([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                                "--disable-sync", f"--user-data-dir={profile}", "--remote-debugging-port=0", url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port, until = None, time.time() + 30
        while not port and time.time() < until:
            try:
                port = open(f"{profile}/DevToolsActivePort").readline().strip()
            except OSError:
                time.sleep(0.05)
        pages = []
        while not pages and time.time() < until:
            pages = [p for p in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json")) if p["type"] == "page" and p["url"].startswith(url)]
        page = Page(pages[0]["webSocketDebuggerUrl"])
        page.wait("document.readyState === 'complete' && document.getElementById('from').options.length === 2", "the languages are in the box")
        page.evaluate(f"document.getElementById('text').value = {json.dumps(TEXT)}; document.getElementById('live').requestSubmit()")
        known = subprocess.run([REGARD, "translate", "-m", MODEL], input=TEXT + "\n", capture_output=True, text=True, check=True).stdout.strip()
        page.wait(f"document.getElementById('answer').textContent === {json.dumps(known)}", f"the translation {known} is shown")
        page.wait("!document.getElementById('viewer').hidden && document.getElementById('base').width > 50", "the matrix is shown")
        page.wait("(() => { const c = document.getElementById('base'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; "
                  "return new Set(new Uint32Array(d.buffer)).size > 5 })()", "the matrix has colours")
        page.wait("[...document.getElementById('name').options].some(o => o.value === 'decoder.cross')", "every attention can be chosen")
        page.evaluate("document.getElementById('text').value = ''; document.getElementById('live').requestSubmit()")
        time.sleep(0.3)
        page.evaluate(f"document.getElementById('text').value = {json.dumps(TEXT)}; document.getElementById('live').requestSubmit()")
        page.wait(f"document.getElementById('answer').textContent === {json.dumps(known)}", "a text after an empty one")
        print("passed: the live page")
    finally:
        browser.terminate()
        browser.wait(20)
        server.terminate()
        assert server.wait(20) == 0

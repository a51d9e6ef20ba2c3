"""A headless Chromium spoken to over its debugging socket, for tests of the page. Standard library only."""
import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-port=0"]


def find_chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One browser with one page, an empty profile and nothing left behind."""

    def __init__(self, url="about:blank", seconds=60):
        self.profile = tempfile.mkdtemp()
        self.process = subprocess.Popen([find_chromium(), *FLAGS, f"--user-data-dir={self.profile}", url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number, self.events, until = 0, [], time.time() + seconds
        try:
            port = self.wait_for(lambda: open(f"{self.profile}/DevToolsActivePort").readline().strip(), until)
            pages = self.wait_for(lambda: [p for p in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=10)) if p["type"] == "page"], until)
            self.connect(pages[0]["webSocketDebuggerUrl"])
            self.call("Page.enable")
        except BaseException:
            self.close()
            raise

    def wait_for(self, get, until):
        while True:
            try:
                if found := get():
                    return found
            except OSError:
                pass
            if time.time() > until:
                raise TimeoutError("the browser does not answer")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    # the socket: RFC 6455, as much of it as the browser uses
    def connect(self, url):
        host, port, path = re.match(r"ws://([^:/]+):(\d+)(/.*)", url).groups()
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)

    def read(self, n):
        data = bytearray()
        while len(data) < n:
            more = self.socket.recv(min(n - len(data), 1 << 20))
            if not more:
                raise ConnectionError("the browser is gone")
            data += more
        return bytes(data)

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

    def call(self, method, **params):
        self.number += 1
        data = json.dumps({"id": self.number, "method": method, "params": params}).encode()
        size = struct.pack(">BB", 129, 128 | len(data)) if len(data) < 126 else struct.pack(">BBH", 129, 254, len(data)) if len(data) < 65536 else struct.pack(">BBQ", 129, 255, len(data))
        self.socket.sendall(size + b"\0\0\0\0" + data)  # a mask of zeros changes nothing
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def evaluate(self, script):
        """The value of an expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"].get("exception", {}).get("description", "exception"))[:500])
        return answer["result"].get("value")

    def wait(self, script, what, seconds=60):
        until = time.time() + seconds
        while True:
            try:
                if value := self.evaluate(script):
                    return value
            except RuntimeError:  # between two documents there is nothing to ask
                pass
            if time.time() > until:
                raise TimeoutError(what)
            time.sleep(0.03)

    def open(self, url, ready="document.readyState === 'complete'"):
        """Always a new document, even where only the part behind # differs: each has a number in its address."""
        self.number += 1
        page, _, part = url.partition("#")
        mark = f"?{self.number}"
        self.call("Page.navigate", url=page + mark + ("#" + part if part else ""))
        return self.wait(f"location.search === '{mark}' && ({ready})", f"{url} is there")

    def size(self, wide, high):
        self.call("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=wide < 600)

    def screenshot(self):
        """PNG, as base64."""
        return self.call("Page.captureScreenshot", format="png")["data"]

    def blocks(self, across, down):
        """What is on the screen as across x down mean colours: bytes of R, G, B."""
        return bytes(self.evaluate(f"""new Promise((done, failed) => {{
            const p = new Image();
            p.onerror = failed;
            p.onload = () => {{
                const c = document.createElement('canvas'), n = {across}, m = {down}, w = p.naturalWidth, h = p.naturalHeight, out = [];
                c.width = w; c.height = h;
                const x = c.getContext('2d'); x.drawImage(p, 0, 0);
                const d = x.getImageData(0, 0, w, h).data;
                for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) {{
                    const s = [0, 0, 0], y0 = i * h / m | 0, y1 = (i + 1) * h / m | 0, x0 = j * w / n | 0, x1 = (j + 1) * w / n | 0;
                    for (let y = y0; y < y1; y++) for (let k = x0; k < x1; k++) for (let q = 0; q < 3; q++) s[q] += d[4 * (y * w + k) + q];
                    for (const v of s) out.push(Math.round(v / ((y1 - y0) * (x1 - x0))));
                }}
                done(out);
            }};
            p.src = 'data:image/png;base64,{self.screenshot()}';
        }})"""))

"""What the tests of the server share: a server that is started and stopped, questions to it, bytes thrown at it. Standard library only."""
import http.client
import json
import re
import signal
import socket
import subprocess
import urllib.parse

FORM = "application/x-www-form-urlencoded"
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAIL", what)


class Server:
    def __init__(self, regard, model, *flags):
        self.process = subprocess.Popen([regard, "serve", "-m", model, "--port", "0", *flags], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line).group(1))

    def stop(self, wait=20):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(wait)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            check(self.stop() == 0, "SIGTERM does not end in exit 0")

    def ask(self, method, path, body=None, kind="application/json", connection=None):
        c = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        if body is not None and kind.startswith("application/json") and not isinstance(body, bytes):
            body = json.dumps(body)
        elif body is not None and not isinstance(body, (str, bytes)):
            body = urllib.parse.urlencode(body, doseq=True)
        c.request(method, path, body, {"Content-Type": kind} if body is not None else {})
        answer = c.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if "json" in answer.getheader("Content-Type", "") else text.decode(), answer

    def translate(self, q, connection=None, **more):
        return self.ask("POST", "/translate", {"q": q, "source": "en", "target": "fr", **more}, connection=connection)


def send_file(s, name, content, **fields):
    """POST /translate_file: status, bytes, answer. No file where the name is None."""
    body = b"".join(b'--B\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (k.encode(), v.encode()) for k, v in fields.items())
    if name is not None:
        body += b'--B\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\nContent-Type: x/y\r\n\r\n%s\r\n' % (name.encode(), content)
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=30)
    c.request("POST", "/translate_file", body + b"--B--\r\n", {"Content-Type": "multipart/form-data; boundary=B"})
    answer = c.getresponse()
    return answer.status, answer.read(), answer


def metric(s, name):
    return float(re.search(rf"^regard_{name} (\S+)", s.ask("GET", "/metrics")[1], re.M).group(1))


def alone(regard, model, lines):
    """What `regard translate` says."""
    out = subprocess.run([regard, "translate", "-m", model, "-b", "4"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return dict(zip(lines, out.stdout.split("\n")))


def raw(s, data, step=0, wait=5.0, close=True):
    """Send bytes, maybe one by one, and give the status code that comes back; 0: closed without one, -1: still waiting."""
    c = socket.create_connection(("127.0.0.1", s.port), timeout=wait)
    try:
        for i in range(0, len(data), step or len(data)):
            c.sendall(data[i:i + (step or len(data))])
        if close:
            c.shutdown(socket.SHUT_WR)
        answer = b""
        while b"\r\n" not in answer:
            more = c.recv(4096)
            if not more:
                break
            answer += more
        found = re.match(rb"HTTP/1\.[01] (\d\d\d)", answer)
        return int(found.group(1)) if found else 0
    except TimeoutError:
        return -1
    except OSError:
        return 0
    finally:
        c.close()

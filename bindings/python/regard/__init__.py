"""regard: attention models on ordinary CPUs, from Python.

    import regard
    with regard.Translator("model.safetensors") as t:
        print(t.translate("the red house"))
        words, attention = t.attention("the red house")

    regard.train(type="transformer", train_sets=["a.en", "a.fr"], model="m.safetensors", after_epochs=5)

Pure Python over the shared library (ctypes): no compiler, no numpy. The library is found where the system has it; the
environment variable REGARD_LIBRARY names another file.
"""
import ctypes
import ctypes.util
import json
import os

__all__ = ["Error", "Stopped", "Translator", "train", "version"]


class Error(Exception):
    """What the library says of a failure."""


class Stopped(Error):
    """A training that was asked to stop; everything is saved, and the same call resumes."""


_TELL = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_char_p)


def _load():
    name = os.environ.get("REGARD_LIBRARY") or ctypes.util.find_library("regard") or "libregard.so.0"
    try:
        lib = ctypes.CDLL(name)
    except OSError as reason:
        raise ImportError("regard's library cannot be opened: %s. Install libregard0, or set REGARD_LIBRARY" % reason)
    for function, result, arguments in (
        ("rg_version", ctypes.c_char_p, []),
        ("rg_message", ctypes.c_char_p, []),
        ("rg_status_name", ctypes.c_char_p, [ctypes.c_int]),
        ("rg_free", None, [ctypes.c_void_p]),
        ("rg_simple_open", ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_int]),
        ("rg_simple_close", None, [ctypes.c_void_p]),
        ("rg_simple_language", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int]),
        ("rg_simple_translate", ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p,
                                               ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_char_p]),
        ("rg_simple_train", ctypes.c_int, [ctypes.c_char_p, _TELL, ctypes.c_void_p]),
    ):
        if not hasattr(lib, function):
            raise ImportError("%s has no %s: it is older than this package" % (name, function))
        getattr(lib, function).restype = result
        getattr(lib, function).argtypes = arguments
    return lib


_lib = _load()


def version():
    """The version of the library."""
    return _lib.rg_version().decode()


def _check(status):
    if status != 0:
        stopped = _lib.rg_status_name(status) == b"RG_ESTOP"
        raise (Stopped if stopped else Error)(_lib.rg_message().decode("utf-8", "replace"))


def _settings(values):
    """Keywords as the command line names them: beam_size is --beam-size."""
    return json.dumps({name.replace("_", "-"): value for name, value in values.items()}).encode()


class Translator:
    """A model that translates. One thread at a time may use it; several may be open."""

    def __init__(self, path, threads=0):
        self._handle = ctypes.c_void_p()
        _check(_lib.rg_simple_open(ctypes.byref(self._handle), os.fsencode(path), threads))

    @property
    def languages(self):
        """(source, target), each "" where the model does not say."""
        return tuple(_lib.rg_simple_language(self._open(), side).decode() for side in (0, 1))

    def _open(self):
        if not self._handle:
            raise Error("the translator is closed")
        return self._handle

    def answers(self, lines, **settings):
        """One dict per line: text, source_pieces, answers with pieces, score, log_p, word_scores and, where
        attention=True was asked for, attention. Settings: beam_size, n_best, normalize, sampling, temperature, ..."""
        words = (ctypes.c_char_p * len(lines))(*[line.replace("\n", " ").encode() for line in lines])
        out = ctypes.c_void_p()
        _check(_lib.rg_simple_translate(ctypes.byref(out), self._open(), words, len(lines), _settings(settings)))
        try:
            return json.loads(ctypes.string_at(out).decode())
        finally:
            _lib.rg_free(out)

    def translate(self, text, **settings):
        """A string for a string, a list for a list."""
        one = isinstance(text, str)
        texts = [answer["text"] for answer in self.answers([text] if one else list(text), **settings)]
        return texts[0] if one else texts

    def attention(self, line, **settings):
        """((source tokens, target tokens), rows): rows[i][j] is how much target token i looked at source token j."""
        answer = self.answers([line], attention=True, **settings)[0]
        if not answer["answers"]:
            return (answer["source_pieces"], []), []
        best = answer["answers"][0]
        target = best["pieces"] + ([] if best["cut"] else ["</s>"])
        return (answer["source_pieces"], target), best["attention"]

    def close(self):
        if self._handle:
            _lib.rg_simple_close(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()


def train(tell=None, **settings):
    """`regard train` with these settings; returns the last event, whose "path" is the file that validated best.

    tell(event) gets a dict per event ("remark", "log", "valid", "resumed", "done") and may return True to stop: then
    everything is saved, Stopped is raised, and the same call resumes. An exception inside tell stops the run too.
    """
    last, raised = {}, []

    def on_event(_, text):
        try:
            event = json.loads(text.decode())
            if event["event"] == "done":
                last.update(event)
            return bool(tell and tell(event))
        except BaseException as error:  # it cannot pass through C
            raised.append(error)
            return True

    status = _lib.rg_simple_train(_settings(settings), _TELL(on_event), None)
    if raised:
        raise raised[0]
    _check(status)
    return last

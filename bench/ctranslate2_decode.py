"""Second peer of case_decode.c: CTranslate2, float32 and int8, on the model that peer_decode.py runs.

run_peer.py imports it when bench/run is given CTRANSLATE2=FOLDER, from which Python takes the package `ctranslate2`. The weights of
systems.py are written by CTranslate2's own model specification; int8 weights are made by CTranslate2 while it loads. One sentence is
translated over all threads, several are shared out: one single-threaded replica of the model per thread, each with its part.
"""
import atexit
import shutil
import tempfile
import time

import ctranslate2
import torch
from ctranslate2.specs import TransformerSpec

from peer_decode import search
from systems import Transformer

WORDS = ["<unk>", "<s>", "</s>"]  # peer_decode.py starts answers with token 1
written = {}  # models by their sizes
opened = {}  # the translator and the sentences of the row measured last


def set_linear(to, layer):
    to.weight, to.bias = layer.weight, layer.bias


def set_norm(to, layer):
    to.gamma, to.beta = layer.weight, layer.bias


def set_layer(to, layer):
    set_linear(to.self_attention.linear[0], layer.self.all)
    set_linear(to.self_attention.linear[1], layer.self.out)
    set_norm(to.self_attention.layer_norm, layer.norm_self)
    if layer.cross:
        for i, part in enumerate((layer.cross.query, layer.cross.memory, layer.cross.out)):
            set_linear(to.attention.linear[i], part)
        set_norm(to.attention.layer_norm, layer.norm_cross)
    set_linear(to.ffn.linear_0, layer.inner)
    set_linear(to.ffn.linear_1, layer.outer)
    set_norm(to.ffn.layer_norm, layer.norm_ff)


def write_model(folder, m, p):
    spec = TransformerSpec.from_config(p["layers"], p["heads"], pre_norm=False)
    spec.encoder.embeddings[0].weight, spec.decoder.embeddings.weight = m.source.weight, m.target.weight
    for side, layers in ((spec.encoder, m.encoder), (spec.decoder, m.decoder)):
        side.position_encodings.encodings = m.place
        for to, layer in zip(side.layer, layers):
            set_layer(to, layer)
    spec.decoder.projection.weight, spec.decoder.projection.bias = m.target.weight, m.bias
    words = WORDS + ["t%d" % i for i in range(len(WORDS), p["V"])]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.layer_norm_epsilon = 1e-5
    spec.validate()
    spec.optimize()
    spec.save(folder)
    return words


def model_of(p):
    """The model of some sizes and its folder, written once: (model, folder, words)."""
    sizes = tuple(p[name] for name in ("d", "ff", "heads", "layers", "V"))
    if sizes not in written:
        torch.manual_seed(1)
        m = Transformer(p).eval()
        folder = tempfile.mkdtemp(prefix="bench-ctranslate2-")
        atexit.register(shutil.rmtree, folder)
        written[sizes] = m, folder, write_model(folder, m, p)
    return written[sizes]


def open_model(p):
    """Translators, the sentences, and PyTorch's greedy answers, by which the files are judged; None for other rows."""
    m, folder, words = model_of(p)
    torch.manual_seed(2)
    source = torch.randint(4, p["V"], (p["batch"], p["words"]))
    threads = torch.get_num_threads()
    kinds = [(1, threads), (1, 1)] if p["batch"] == 1 and threads > 1 else [(min(threads, p["batch"]), 1)]
    translators = [ctranslate2.Translator(folder, compute_type=p.get("weights", "float32"), inter_threads=inter, intra_threads=intra)
                   for inter, intra in kinds]
    lines = [[words[i] for i in row] for row in source.tolist()]
    if p["beam"] > 1 or "weights" in p:
        return translators, lines, None
    return translators, lines, [[words[i] for i in row] for row in search(m, source, 1, p["words"]).tolist()]


def translate(translator, lines, p):
    share = -(-len(lines) // translator.num_translators)
    results = translator.translate_batch(lines, beam_size=p["beam"], min_decoding_length=p["words"], max_decoding_length=p["words"],
                                         max_batch_size=share)
    return [r.hypotheses[0] for r in results]


def judge(answers, greedy, p):
    if any(len(a) != p["words"] for a in answers):
        raise SystemExit("bench: CTranslate2 wrote an answer of another length")
    if greedy:
        same = sum(a == b for x, y in zip(answers, greedy) for a, b in zip(x, y)) / (len(answers) * p["words"])
        if same < 0.8:  # rounding may part two near ties, and what follows them
            raise SystemExit("bench: only %.2f of CTranslate2's words are PyTorch's" % same)


def once(translator, lines, p):
    start = time.perf_counter()
    translate(translator, lines, p)
    return time.perf_counter() - start


def setup(p):
    """One sentence: the faster of one thread and all of them, for splitting small products can cost more than it brings."""
    key = str(sorted(p.items()))
    if key not in opened:
        opened.clear()
        translators, lines, greedy = open_model(p)
        for translator in translators:
            judge(translate(translator, lines, p), greedy, p)
        faster = min(translators, key=lambda t: min(once(t, lines, p) for _ in range(3))) if len(translators) > 1 else translators[0]
        opened[key] = faster, lines
    translator, lines = opened[key]
    result = []

    def run():
        result[:] = translate(translator, lines, p)

    return run, lambda: float(sum(len(a) for a in result))


def main():
    """With CT2_VERBOSE=1 loading any model makes CTranslate2 say which kernels it takes."""
    open_model({"d": 16, "ff": 32, "heads": 2, "layers": 1, "V": 16, "dropout": 0, "batch": 1, "beam": 1, "words": 4})
    print("CTranslate2 " + ctranslate2.__version__)


if __name__ == "__main__":
    main()

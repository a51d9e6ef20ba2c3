"""Peer of case_jpeg.c: a plain loop over the files with PIL (python3-pil), without torchvision."""
import os
import numpy
from PIL import Image


def setup(p):
    side = p["side"]
    files = sorted(f for f in os.listdir(p["folder"]) if f.endswith(".jpg") and len(f) > 4)[:p["most"]]
    rows = numpy.empty((len(files), side, side, 3), numpy.float32)

    def run():
        for i, name in enumerate(files):
            with Image.open(os.path.join(p["folder"], name)) as picture:
                whole = picture.convert("RGB")
            w, h = whole.size
            scale = max(side / w, side / h)
            left, top = (w - side / scale) / 2, (h - side / scale) / 2
            small = whole.resize((side, side), Image.BILINEAR, (left, top, w - left, h - top))
            numpy.multiply(numpy.asarray(small), 1 / 255, out=rows[i], casting="unsafe")

    return run, lambda: int(100 * float(numpy.abs(rows).mean()) + 0.5) / 100

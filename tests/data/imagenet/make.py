#!/usr/bin/python3
"""Writes small networks with the names of MobileNet v2 and SqueezeNet 1.1, and what PyTorch makes of a picture of odd sides.

NAME.safetensors holds random weights, NAME.expected.safetensors the picture (height, width, 3) 0..255, `features` (down, across, width) and, where
there is a classifier, `logits`. The forward passes are written here in double from the definitions. Needs Debian's python3-torch.
"""
import json, os, struct
import torch
import torch.nn.functional as F

here = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(11)


def save(name, tensors):
    head, at, data = {}, 0, b""
    for key in sorted(tensors):
        x = tensors[key].detach().to(torch.float32).contiguous()
        raw = x.numpy().tobytes()
        head[key] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        data += raw
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(here, name + ".safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def weight(*shape):
    return torch.randn(*shape) * (2.0 / (shape[1] * shape[2] * shape[3])) ** 0.5


def picture(height, width):
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([(x * x // 4 + 7 * y) % 256, (11 * x + y * y // 6) % 256, (x * y // 3) % 256], 2)


def pixels(rgb, rule):
    x = rgb.double()
    if rule == "signed":
        x = (x - 128) / 128
    elif rule == "imagenet":
        x = (x / 255 - torch.tensor([0.485, 0.456, 0.406]).double()) / torch.tensor([0.229, 0.224, 0.225]).double()
    else:
        x = x.flip(2) - torch.tensor([103.939, 116.779, 123.68]).double()
    return x.permute(2, 0, 1)[None]


def convolve(x, w, b, stride, same, groups=1):
    k = w.shape[2]
    if k == 3 and same:
        pads = []
        for n in (x.shape[3], x.shape[2]):
            out = -(-n // stride)
            total = max((out - 1) * stride + k - n, 0)
            pads += [total // 2, total - total // 2]
        x = F.pad(x, pads)
    padding = k // 2 if not same else 0
    return F.conv2d(x, w.double(), None if b is None else b.double(), stride, padding, 1, groups)


# k, in, hidden, out, stride of the blocks of MobileNet v2, narrow
BLOCKS, width_now = [], 4
for k, (out, stride) in enumerate([(3, 1), (4, 2), (4, 1), (3, 2), (3, 1), (3, 1), (4, 2), (4, 1), (4, 1), (4, 1), (5, 1), (5, 1), (5, 1), (4, 2), (4, 1), (4, 1), (6, 1)], 1):
    BLOCKS.append((k, width_now, width_now * (1 if k == 1 else 2), out, stride))
    width_now = out


def mobilenet(norms):
    t = {}

    def layer(name, norm, out, into, k, groups=1):
        t[name + ".weight"] = weight(out, into // groups, k, k)
        if norms:
            t[norm + ".weight"], t[norm + ".bias"] = 0.5 + torch.rand(out), 0.3 * torch.randn(out)
            t[norm + ".running_mean"], t[norm + ".running_var"] = 0.2 * torch.randn(out), 0.5 + torch.rand(out)
            t[norm + ".num_batches_tracked"] = torch.tensor(7.0)
        else:
            t[name + ".bias"] = 0.3 * torch.randn(out)

    layer("features.0.0", "features.0.1", 4, 3, 3)
    for k, into, hidden, out, _ in BLOCKS:
        base = f"features.{k}.conv."
        if k > 1:
            layer(base + "0.0", base + "0.1", hidden, into, 1)
        layer(base + ("1.0" if k > 1 else "0.0"), base + ("1.1" if k > 1 else "0.1"), hidden, hidden, 3, hidden)
        layer(base + ("2" if k > 1 else "1"), base + ("3" if k > 1 else "2"), out, hidden, 1)
    layer("features.18.0", "features.18.1", 9, 6, 1)
    t["classifier.1.weight"], t["classifier.1.bias"] = torch.randn(5, 9), torch.randn(5)
    return t


def run_mobilenet(t, x, same):
    def layer(x, name, norm, stride=1, groups=1, six=True):
        x = convolve(x, t[name + ".weight"], t.get(name + ".bias"), stride, same, groups)
        if norm + ".running_mean" in t:
            p = [t[norm + "." + key].double() for key in ("running_mean", "running_var", "weight", "bias")]
            x = F.batch_norm(x, p[0], p[1], p[2], p[3], False, 0, 1e-5)
        return F.relu6(x) if six else x

    x = layer(x, "features.0.0", "features.0.1", 2)
    for k, into, hidden, out, stride in BLOCKS:
        base, y = f"features.{k}.conv.", x
        if k > 1:
            y = layer(y, base + "0.0", base + "0.1")
        y = layer(y, base + ("1.0" if k > 1 else "0.0"), base + ("1.1" if k > 1 else "0.1"), stride, hidden)
        y = layer(y, base + ("2" if k > 1 else "1"), base + ("3" if k > 1 else "2"), six=False)
        x = x + y if stride == 1 and into == out else y
    return layer(x, "features.18.0", "features.18.1")


FIRES = [(3, 4, 2, 3), (4, 6, 2, 3), (6, 6, 3, 4), (7, 8, 3, 4), (9, 8, 2, 3), (10, 6, 2, 3), (11, 6, 3, 4), (12, 8, 3, 4)]


def squeezenet(whole):
    t = {"features.0.weight": 0.02 * weight(4, 3, 3, 3), "features.0.bias": 0.3 * torch.randn(4)}
    for k, into, squeeze, expand in FIRES:
        for name, out, i, side in (("squeeze", squeeze, into, 1), ("expand1x1", expand, squeeze, 1), ("expand3x3", expand, squeeze, 3)):
            t[f"features.{k}.{name}.weight"], t[f"features.{k}.{name}.bias"] = weight(out, i, side, side), 0.3 * torch.randn(out)
    if whole:
        t["classifier.1.weight"], t["classifier.1.bias"] = weight(5, 8, 1, 1), torch.randn(5)
    return t


def run_squeezenet(t, x, up):
    def layer(x, name, padding=0, stride=1):
        return F.relu(F.conv2d(x, t[name + ".weight"].double(), t[name + ".bias"].double(), stride, padding))

    x = layer(x, "features.0", 0, 2)
    for k, _, _, _ in FIRES:
        if k in (3, 6, 9):
            x = F.max_pool2d(x, 3, 2, ceil_mode=up)
        x = layer(x, f"features.{k}.squeeze")
        x = torch.cat([layer(x, f"features.{k}.expand1x1"), layer(x, f"features.{k}.expand3x3", 1)], 1)
    return x


def expect(name, t, rgb, features, logits):
    save(name, t)
    e = {"rgb": rgb, "features": features[0].permute(1, 2, 0)}
    if logits is not None:
        e["logits"] = logits
    save(name + ".expected", e)


for name, norms in (("mobilenet_folded", False), ("mobilenet_norms", True)):
    t, rgb = mobilenet(norms), picture(75, 54)
    features = run_mobilenet(t, pixels(rgb, "imagenet" if norms else "signed"), not norms)
    expect(name, t, rgb, features, t["classifier.1.weight"].double() @ features.mean((2, 3))[0] + t["classifier.1.bias"].double())
for name, whole in (("squeezenet_features", False), ("squeezenet_whole", True)):
    t, rgb = squeezenet(whole), picture(58, 45)
    features = run_squeezenet(t, pixels(rgb, "imagenet" if whole else "caffe"), whole)
    logits = None
    if whole:
        logits = F.relu(F.conv2d(features, t["classifier.1.weight"].double(), t["classifier.1.bias"].double())).mean((2, 3))[0]
    expect(name, t, rgb, features, logits)

# SPDX-License-Identifier: Apache-2.0
"""One or more sound files for every reader, small, so that mutations are many."""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

PROGRAM = os.environ["QUANTSCOPE"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(4, 2)

    def forward(self, x, scale):
        y = torch.relu(self.norm(self.conv(x))) * scale.reshape(-1, 1, 1, 1)
        y = torch.cat([y, y.flip(1)], 1)[:, :4]
        return self.fc(y.mean([2, 3])), (y.amax(1), y)


class Branches(nn.Module):
    """What a scripted file holds: loops, lists, conditions, text."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.steps = 3

    def forward(self, x):
        parts: list[torch.Tensor] = []
        for i in range(self.steps):
            x = self.fc(x) if x.sum() > 0 else self.fc(-x)
            if i % 2 == 0 and len(parts) < 8:
                parts.append(x[:, : 4 - i % 3])
        if x.dim() != 2:
            raise ValueError("wants rows")
        return torch.cat(parts, 1), x.size(0) // 2


class WithState(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        self.seen.add_(x.mean(0))
        return torch.cond(x.sum() > 0, lambda y: self.fc(y).sin(), lambda y: self.fc(y).cos(), (x,)) + self.seen


class Words(nn.Module):
    """Modules within modules, dictionaries, tuples, text, a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.table, self.cell = nn.Embedding(9, 4), nn.LSTM(4, 3, batch_first=True)
        self.heads = nn.ModuleList([nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 2), nn.ReLU())])

    def forward(self, x):
        found: dict[str, torch.Tensor] = {}
        y, (h, _) = self.cell(self.table(x))
        for number, head in enumerate(self.heads):
            found["head" + str(number)] = head(y[:, -1])
        best: tuple[torch.Tensor, int] = (found["head0"], len(found))
        return found["head1"] + best[0] * best[1], h


def run(*words):
    subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True)


@torch.no_grad()
def make_models(folder):
    x = (torch.randn(4, 3, 6, 6), torch.rand(4))
    batch = torch.export.Dim("batch", min=1, max=64)
    net = Net().eval()
    torch.export.save(torch.export.export(net, x, dynamic_shapes=({0: batch}, {0: batch})), folder / "net.pt2")
    torch.export.save(torch.export.export(WithState().eval(), (torch.randn(2, 4),)), folder / "state.pt2")
    torch.jit.save(torch.jit.trace(net, x, strict=False), folder / "traced.pt")
    torch.jit.save(torch.jit.script(Branches().eval()), folder / "scripted.pt")
    torch.jit.save(torch.jit.script(Words().eval()), folder / "words.pt")
    torch.export.save(torch.export.export(Words().eval(), (torch.randint(0, 9, (2, 5)),)), folder / "words.pt2")
    return x


def make_images(folder):
    rng = np.random.default_rng(0)
    pixels = Image.fromarray(rng.integers(0, 256, (9, 7, 3), dtype=np.uint8))
    files = []
    for name, kind in (("a.png", None), ("a.jpg", None), ("a.bmp", None), ("a.ppm", None), ("a.pgm", "L")):
        (pixels.convert(kind) if kind else pixels).save(folder / name)
        files.append((folder / name, "image"))
    return files


def packed(path, members, form):
    with tarfile.open(path, "w", format=form) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path, "tar"


def make_shards(folder, x):
    """Tar archives: arrays by input with labels, in the forms of pax and of GNU; images."""
    members = []
    for number, (image, scale) in enumerate(zip(*(t.numpy() for t in x))):
        for name, array in (("x", image), ("scale", scale)):
            out = io.BytesIO()
            np.save(out, array)
            members.append((f"{'p' * 120}/ä{number}.{name}.npy" if number == 3 else f"s{number}.{name}.npy", out.getvalue()))
        if number < 3:
            members.append((f"s{number}.json", json.dumps({"label": number}).encode()))
        else:
            members.append((f"{'p' * 120}/ä{number}.cls", b"3"))
    images = [(f"{number}.{name.split('.')[1]}", (folder / name).read_bytes()) for number, name in enumerate(("a.png", "a.jpg", "a.bmp"))]
    return [packed(folder / "pax.tar", members, tarfile.PAX_FORMAT), packed(folder / "gnu.tar", members, tarfile.GNU_FORMAT),
            packed(folder / "images.tar", images, tarfile.USTAR_FORMAT)]


RELU = {"module": "", "op": "aten.relu.default"}
EDITS = [{"do": "insert", "op": "aten.clamp.default", "at": RELU, "name": "clip", "args": {"max": 3.0}},
         {"do": "insert", "op": "aten.mul.Tensor", "at": {"input": "x"}, "name": "doubled", "args": {"self": {"value": "this"}, "other": {"value": "this"}},
          "readers": [{"node": {"module": "conv", "op": "aten.conv2d.default"}, "argument": "input"}]},
         {"do": "set", "at": {"module": "conv", "op": "aten.conv2d.default", "index": 0}, "args": {"padding": [1, 1]}},
         {"do": "constant", "at": {"stored": "fc.bias"}, "values": [0.5, 0.25]},
         {"do": "duplicate", "at": RELU, "name": "again", "readers": [{"node": {"added": "clip"}, "argument": "self"}]},
         {"do": "add_output", "at": {"added": "again"}}]


def mapping_dump():
    """A QConfigMapping of torch.ao, as JSON; without places in memory, which change from run to run."""
    from torch.ao.quantization import get_default_qconfig_mapping

    text = json.dumps(get_default_qconfig_mapping("x86").set_module_name("conv", None).set_module_name_regex("co.*", None).to_dict(), default=str)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def backend_dump():
    """A BackendConfig of torch.ao, as JSON."""
    import torch.ao.quantization.quantize_fx  # noqa: F401  loads what the next line takes for granted
    from torch.ao.quantization.backend_config import get_native_backend_config

    return json.dumps(get_native_backend_config().to_dict(), default=str)


def history(recipe):
    """A step, as a project keeps it."""
    return {"version": 1, "current": 1, "first": {**recipe, "backend": "onednn"},
            "steps": [{"text": "another backend", "change": [{"op": "replace", "path": "/backend", "value": "x86"}]}]}


def make_more(folder):
    """Recipes of edits, constants, packs, runs, certificates, labels: (path, form) by reader."""
    recipe = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86"}, "edits": EDITS}
    (folder / "edits.json").write_text(json.dumps(recipe))
    np.save(folder / "constant.npy", np.ones((2, 4), np.float32))
    pack = folder / "pack"
    pack.mkdir()
    shutil.copy(Path(os.environ["QUANTSCOPE_SOURCE"]) / "resources" / "extensions" / "scaled_linear" / "extension.json", pack)
    (pack / "libscaled_linear.so").write_bytes(b"is not loaded")
    project = folder / "work.project.json"
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": "net.pt2", "data": "data.npz", "device": "cpu", "result": "out",
                                   "recipe": {"format": "quantscope.recipe", "version": 1, "backend": "x86"}}))
    run("runs", project, "keep", "first")
    kept = next((folder / "work.project.runs").glob("*/run.json"))
    certificate = {"format": "quantscope.certificate", "version": 1, "passed": True, "model_sha256": "0" * 64, "recipe_sha256": "1" * 64, "date": "2026-11-24T10:00:00Z",
                   "files": {"result.json": "2" * 64, "model.int8.ts.pt": "3" * 64}, "runtimes": []}
    (folder / "certificate.json").write_text(json.dumps(certificate))
    subprocess.run([PROGRAM, "tune", folder / "net.pt2", "--data", "sample", "--no-guard", "--goal", "sqnr 150", "--device", "cpu", "--out", folder / "search.json"],
                   check=False, capture_output=True)  # misses the goal
    dump = json.loads(mapping_dump())
    (folder / "mapping.json").write_text(json.dumps(dump))
    inside = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": dump, "convert": {"qconfig_mapping": dump}}
    (folder / "inside.json").write_text(json.dumps(inside))
    (folder / "native.json").write_text(backend_dump())
    return {"edits": [(folder / "edits.json", "json")], "constant": [(folder / "constant.npy", "npy")], "extension": [(pack / "extension.json", "json")],
            "run": [(kept, "json")], "certificate": [(folder / "certificate.json", "json")],
            "search": [(folder / "search.tune.json", "json")]}


def make_seeds(folder):
    """{reader: [(path, form)]} and the model that data, nodes and statistics belong to."""
    torch.manual_seed(0)
    x = make_models(folder)
    np.savez(folder / "data.npz", x=np.concatenate([x[0].numpy()] * 3), scale=np.concatenate([x[1].numpy()] * 3), labels=np.arange(12))
    np.savez_compressed(folder / "packed.npz", x=np.asfortranarray(x[0].numpy()), scale=x[1].numpy())
    torch.save(x, folder / "data.pt")
    torch.save([x, (x[0][:2].double().float(), x[1][:2])], folder / "calls.pt")
    torch.save((x[0], nn.Parameter(x[1])), folder / "parameter.pt")
    recipe = {"format": "quantscope.recipe", "version": 1, "backend": "x86",
              "qconfigs": {"act7": {"activation": {"observer": "histogram", "dtype": "quint8", "qscheme": "per_tensor_affine", "quant_min": 0, "quant_max": 127},
                                    "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 0}}},
              "mapping": {"global": "x86", "object_type": [["torch.nn.Linear", "act7"]], "module_name_regex": [["co.*", "act7"], ["(fc|norm)$", None]],
                          "module_name": [["fc", None]], "module_name_object_type_order": [["", "torch.cat", 0, "act7"]], "node": [["relu", "act7"]]},
              "prepare": {}, "convert": {"lowering": {"add": [], "remove": []}},
              "calibration": {"batch_size": 2, "batches": 3, "preprocess": {"resize": 8, "crop": 6, "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]}}}
    (folder / "recipe.json").write_text(json.dumps(recipe))
    shown = subprocess.run([PROGRAM, "backends", "show", "x86", "--json"], check=True, capture_output=True, text=True).stdout
    (folder / "backend.json").write_text(shown)
    (folder / "project.json").write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": "net.pt2", "data": "data.npz", "device": "auto",
                                                     "result": "out", "recipe": recipe, "window": {"zoom": 1, "panels": [1, 2]},
                                                     "history": history(recipe)}))
    run("quantize", folder / "net.pt2", "--data", folder / "data.npz", "--device", "cpu", "--export", "none", "--out", folder / "out")
    result = folder / "out" / "result.json"
    statistics = folder / "statistics.npz"
    statistics.write_bytes((folder / "out" / "observations.npz").read_bytes())
    names = [node["name"] for node in json.loads(result.read_text())["nodes"]]
    (folder / "nodes.json").write_text(json.dumps({"net": {"results": {name: {"value": number, "bgColor": "#102030"} for number, name in enumerate(names)},
                                                           "thresholds": [{"value": 3, "bgColor": "red"}], "gradient": [{"stop": 0, "bgColor": "blue"}, {"stop": 1, "bgColor": "white"}]}}))
    forms = folder / "forms"  # of ours: quantized operators, packed weights, dequantizing ones
    run("quantize", folder / "net.pt2", "--data", folder / "data.npz", "--device", "cpu", "--export", "torchscript,pt2,pt2-reference", "--out", forms)
    seeds = {
        "pt2": [(path, "zip") for path in (folder / "net.pt2", folder / "state.pt2", folder / "words.pt2", forms / "model.int8.pt2", forms / "model.reference.pt2")],
        "torchscript": [(path, "zip") for path in (folder / "traced.pt", folder / "scripted.pt", folder / "words.pt", forms / "model.int8.ts.pt")],
        "samples": [(folder / "net.pt2", "zip")],
        "npz": [(folder / "data.npz", "zip"), (folder / "packed.npz", "zip")],
        "saved": [(folder / name, "zip") for name in ("data.pt", "calls.pt", "parameter.pt")],
        "recipe": [(folder / name, "json") for name in ("recipe.json", "mapping.json", "inside.json")],
        "backend": [(folder / name, "json") for name in ("backend.json", "native.json")],
        "project": [(folder / "project.json", "json")],
        "result": [(result, "json")],
        "statistics": [(statistics, "zip")],
        "nodes": [(folder / "nodes.json", "json")],
        "image": make_images(folder),
        "tar": make_shards(folder, x),
    }
    seeds.update(make_more(folder))
    return seeds, folder / "net.pt2"

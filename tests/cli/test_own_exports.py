# SPDX-License-Identifier: Apache-2.0
"""Every export opens again, and `compare --result FILE` measures what `quantize` told of it."""

import torch
from torch import nn

from harness import main, run_good, run_json, write_recipe


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.out = nn.Linear(8 * (2 if layer.bidirectional else 1), 4)

    def forward(self, x):
        return self.out(self.layer(x)[0])


class Embedded(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer, nn.Linear(16, 4)

    def forward(self, i):
        return self.out(self.layer(i))


class Block(nn.Module):
    """Modules in a tree, one of them called twice, functions with parameters of their own, a float layer."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.again = nn.Conv2d(4, 4, 1)
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        return self.norm(self.again(self.again(torch.relu(self.body(x) + x))))


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.weight = nn.Parameter(torch.randn(5, 4 * 36))

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return nn.functional.linear(torch.flatten(x, 1), self.weight)


class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 4)

    def forward(self, scale, x, flag=True, mask=None, shift=1.5):
        return self.out(x) * scale + shift if flag else x


def read_back(folder, model, calls, mapping=None, fixed=None):
    """`calls` hold tensors alone; `fixed` makes of one what the model is exported with."""
    path, data, out = folder / "model.pt2", folder / "calls.pt", folder / "out"
    example = fixed(*calls[0]) if fixed else calls[0]
    with torch.no_grad():
        torch.export.save(torch.export.export(model.eval(), example), path)
    torch.save(calls, data)
    recipe = ["--recipe", write_recipe(folder, mapping=mapping)] if mapping else []
    words = ["--data", data, "--device", "cpu", *recipe]
    told = run_json("quantize", path, *words, "--out", out, "--export", "torchscript,pt2-reference,pt2")["outputs"]
    assert told[0]["cumulative"]["sqnr_db"] < 100, "nothing was quantized"
    for name, term in (("model.int8.ts.pt", "lowered"), ("model.int8.pt2", "cumulative"), ("model.reference.pt2", "cumulative")):
        run_good("inspect", out / name)
        measured = run_json("compare", path, "--result", out / name, *words)["outputs"]
        for said, found in zip(told, measured, strict=True):
            assert abs(said[term]["sqnr_db"] - found["cumulative"]["sqnr_db"]) < 0.05, (name, said, found)


def of_torch_ao(model, example):
    """(quantized modules by path, root attributes) of what torch.ao makes of it."""
    from torch.ao.quantization import get_default_qconfig_mapping, quantize_fx

    prepared = quantize_fx.prepare_fx(model.eval(), get_default_qconfig_mapping("x86"), (example,))
    prepared(example)
    converted = quantize_fx.convert_fx(prepared)
    kernels = {name: module._get_name() for name, module in converted.named_modules() if module._get_name().startswith("Quantized")}
    return kernels, {name for name, _ in converted.named_buffers() if "." not in name}


def test_torchscript_has_the_names_that_torch_ao_gives(folder):
    """Modules by path with their quantized class; `stem_input_scale_0` and its like at the root."""
    model = Tree().eval()
    call = torch.randn(2, 3, 6, 6)
    read_back(folder, model, [(call,), (torch.randn(2, 3, 6, 6),)])
    loaded = torch.jit.load(folder / "out" / "model.int8.ts.pt")
    found = dict(loaded.named_modules())
    modules = {name: module.original_name for name, module in found.items()}
    kernels, attributes = of_torch_ao(model, call)
    called_once = {path: name for path, name in kernels.items() if not path.endswith("again")}
    convolutions = {"stem", "blocks.0.body.0", "blocks.1.body.0"}
    assert convolutions < set(called_once), kernels
    for path, name in called_once.items():
        assert modules[path] == name, (path, modules[path], name)
        kernel = found[path]
        assert kernel.scale > 0 and kernel.zero_point >= 0
        if path in convolutions:
            assert torch.ops.quantized.conv2d_unpack(kernel._packed_params)[0].dtype == torch.qint8
    assert torch.equal(found["blocks.1.norm"].weight, model.blocks[1].norm.weight)
    missing = {name for name in attributes if "again" not in name and not hasattr(loaded, name)}
    assert len(attributes) > 4 and not missing, (attributes, missing, loaded.code)
    told = {node["name"]: node for node in run_json("compare", folder / "model.pt2", "--result", folder / "out", "--data", folder / "calls.pt")["nodes"]}
    assert loaded.stem_input_scale_0 == told["x"]["output"]["scale"][0]
    assert loaded.stem.scale == told["conv2d"]["output"]["scale"][0], told["conv2d"]["output"]
    frozen = torch.jit.freeze(loaded.eval())
    assert torch.equal(frozen(call), loaded(call))


def test_recurrent_layers(folder):
    calls = [(torch.randn(2, 5, 8),) for _ in range(2)]
    layers = {"lstm": nn.LSTM(8, 8, batch_first=True), "two": nn.LSTM(8, 8, 2, bidirectional=True), "gru": nn.GRU(8, 8)}
    for name, layer in layers.items():
        (folder / name).mkdir()
        kind = f"torch.nn.{type(layer).__name__}"
        read_back(folder / name, Recurrent(layer), calls, {"global": None, "object_type": [[kind, "default_dynamic"]]})


def test_half_precision_weights(folder):
    mapping = {"global": None, "object_type": [["torch.nn.LSTM", "float16_dynamic"]]}
    path, data, out = folder / "model.pt2", folder / "calls.pt", folder / "out"
    calls = [(torch.randn(2, 5, 8),) for _ in range(2)]
    torch.export.save(torch.export.export(Recurrent(nn.LSTM(8, 8)).eval(), calls[0]), path)
    torch.save(calls, data)
    run_good("quantize", path, "--data", data, "--device", "cpu", "--recipe", write_recipe(folder, mapping=mapping), "--out", out)
    run_good("inspect", out / "model.int8.ts.pt")


def test_four_bit_embeddings(folder):
    calls = [(torch.randint(0, 20, (3, 4)),) for _ in range(2)]
    for layer in (nn.EmbeddingBag(20, 16, mode="sum"), nn.Embedding(20, 16)):
        kind = type(layer).__name__
        (folder / kind).mkdir()
        mapping = {"global": None, "object_type": [[f"torch.nn.{kind}", "float_qparams_weight_only_4bit"]]}
        read_back(folder / kind, Embedded(layer), calls, mapping)


def test_fixed_arguments(folder):
    read_back(folder, Fixed(), [(torch.randn(3, 8),) for _ in range(2)], fixed=lambda x: (2, x, True, None, 0.5))


if __name__ == "__main__":
    main(__name__)

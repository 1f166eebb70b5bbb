# SPDX-License-Identifier: Apache-2.0
"""Weights of linears in groups of a row (4 bits, symmetric and affine) and as plain int8: planned, quantized, compared, exported, reloaded."""
import json
import sys

import numpy
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers the operators of the exports
from harness import ALL, expect_bad, main, run, run_good, run_json, sqnr, write_recipe

FLOAT = {"observer": "placeholder", "dtype": "float32"}
DYNAMIC = {"observer": "placeholder", "dtype": "quint8", "is_dynamic": True}
GROUPS = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -8, "quant_max": 7, "group_size": 16}


class Net(torch.nn.Module):
    """Two linears in a row, one whose rows no group of 16 fills, and a convolution, for which groups are not."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv1d(3, 4, 3, padding=1)
        self.up, self.down, self.odd = torch.nn.Linear(64, 96), torch.nn.Linear(96, 20, bias=False), torch.nn.Linear(20, 5)

    def forward(self, x):
        x = torch.relu(self.up(self.conv(x)))
        return self.odd(self.down(x))


def written(folder):
    torch.manual_seed(6)
    model, x = Net().eval(), torch.randn(8, 3, 64)
    with torch.no_grad():  # a row of very different values: what groups are for
        model.up.weight[:, :16] *= 20
    torch.export.save(torch.export.export(model, (x,)), folder / "net.pt2")
    numpy.savez(folder / "x.npz", x=x.numpy())
    return model, x


def quantized(folder, name, weight, activation=FLOAT):
    recipe = write_recipe(folder, backend="x86", qconfigs={"own": {"activation": activation, "weight": weight}},
                          mapping={"global": None, "object_type": [["torch.nn.Linear", "own"]]})
    out = folder / name
    run_good("quantize", folder / "net.pt2", "--recipe", recipe, "--data", folder / "x.npz", "--device", "cpu", "--out", out,
             "--export", "torchscript,pt2,pt2-reference")
    return out, {node["module"]: node for node in json.loads((out / "result.json").read_text())["nodes"] if node["module"]}


def own_answer(weight, size, affine):
    """Scales, zero points and the weight that they leave, by the formulas of torch.ao's observers, group by group."""
    groups = weight.reshape(-1, size)
    low, high = groups.amin(1, True).clamp(max=0), groups.amax(1, True).clamp(min=0)
    eps = torch.tensor(torch.finfo(torch.float32).eps)
    if affine:
        scale = torch.maximum((high - low) / 15, eps)
        zero = (-8 - torch.round(low / scale)).clamp(-8, 7)
    else:
        scale = torch.maximum(torch.maximum(-low, high) / 7.5, eps)
        zero = torch.zeros_like(scale)
    integers = (groups * (1 / scale) + zero).round().clamp(-8, 7)
    return scale, zero, ((integers - zero) * scale).reshape(weight.shape)


def test_four_bits_in_groups(folder):
    model, x = written(folder)
    for name, affine, activation in (("symmetric", False, FLOAT), ("affine", True, FLOAT), ("dynamic", False, DYNAMIC)):
        weight = {**GROUPS, "qscheme": "per_channel_affine"} if affine else GROUPS
        out, nodes = quantized(folder, name, weight, activation)
        mode = "dynamic" if activation is DYNAMIC else "weight_only"
        for layer in (model.up, model.down):
            module = "up" if layer is model.up else "down"
            node = nodes[module]
            scale, zero, _ = own_answer(layer.weight.detach(), 16, affine)
            assert node["quantized"] and node["mode"] == mode and node["weight"]["group_size"] == 16, node
            assert numpy.allclose(node["weight"]["scale"], scale.flatten(), rtol=1e-6), f"{name}: other scales in {module}"
            assert node["weight"]["zero_point"] == zero.flatten().int().tolist(), f"{name}: other zero points in {module}"
        odd = nodes["odd"]
        assert not odd["quantized"] and "groups of 16 do not fill the rows of 20 values" in odd["reason"], odd["reason"]
        loaded = {kind: torch.export.load(out / file) for kind, file in (("pt2", "model.int8.pt2"), ("reference", "model.reference.pt2"))}
        stored = [tensor for tensor in loaded["pt2"].state_dict.values() if tensor.dtype == torch.int8]
        assert len(stored) == 2 and all(-8 <= int(t.min()) and int(t.max()) <= 7 for t in stored), "the file does not hold 4 bits"
        targets = [str(node.target) for node in loaded["pt2"].graph.nodes]
        assert targets.count("quantized_decomposed.dequantize_per_channel_group.default") == 2, targets
        made = {kind: program.module()(x) for kind, program in loaded.items()}
        made["script"] = torch.jit.load(out / "model.int8.ts.pt")(x)
        for kind, got in made.items():
            assert sqnr(made["reference"], got) > 100, f"{name}: {kind} computes something else, {sqnr(made['reference'], got):.1f} dB"
        if mode == "weight_only":
            with torch.no_grad():
                by_hand = Net().eval()
                by_hand.load_state_dict(model.state_dict())
                for layer in (by_hand.up, by_hand.down):
                    layer.weight.copy_(own_answer(layer.weight, 16, affine)[2])
                assert sqnr(by_hand(x), made["pt2"]) > 100, f"{name}: not the arithmetic of groups"
        told = json.loads((out / "result.json").read_text())["outputs"][0]["cumulative"]["sqnr_db"]
        assert abs(told - sqnr(model(x), made["pt2"])) < 0.1, (told, sqnr(model(x), made["pt2"]))
        again = run_json("compare", folder / "net.pt2", "--result", out, "--data", folder / "x.npz", "--device", "cpu")
        assert again["outputs"] == json.loads((out / "result.json").read_text())["outputs"], f"{name}: compare finds something else"


def test_groups_are_worth_it_and_shown(folder):
    """Smaller groups lose less; the other verbs that show a weight take them."""
    written(folder)
    rows = {key: value for key, value in GROUPS.items() if key != "group_size"}
    errors = {}
    for name, weight in (("rows", rows | {"dtype": "int8"}), ("32", GROUPS | {"group_size": 32}), ("8", GROUPS | {"group_size": 8})):
        out, nodes = quantized(folder, name, weight)
        errors[name] = nodes["up"]["error"]["isolated"]["sqnr_db"] if nodes["up"]["error"] else None
    assert errors["8"] > errors["32"] > errors["rows"], errors
    out = folder / "32"
    run_good("report", out, "--html", folder / "page.html", "--csv", folder / "layers.csv")
    assert "weight_scale_min" in (folder / "layers.csv").read_text()
    look = run_json("look", folder / "net.pt2", "--result", out, "--data", folder / "x.npz", "--node", "linear")
    assert "linear" in json.dumps(look)
    shown = run_json("inspect", out / "model.int8.pt2")
    assert "dequantize_per_channel_group" in json.dumps(shown)
    verified = run("verify", out, "--data", folder / "x.npz", "--python", sys.executable, "--runtime", "torch.jit,torch.export" + ",torch.compile" * ALL)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_presets_and_plain_int8(folder):
    model, x = written(folder)
    for preset, mode, bits in (("int8_weight_only", "weight_only", 8), ("int4_weight_only", "weight_only", 4),
                               ("int8_dynamic_activation_int4_weight", "dynamic", 4)):
        recipe = write_recipe(folder, backend="x86", mapping={"global": preset})
        out = folder / preset
        run_good("quantize", folder / "net.pt2", "--recipe", recipe, "--data", folder / "x.npz", "--device", "cpu", "--out", out, "--export", "pt2")
        nodes = {node["module"]: node for node in json.loads((out / "result.json").read_text())["nodes"] if node["module"]}
        assert nodes["up"]["quantized"] and nodes["up"]["mode"] == mode, nodes["up"]
        assert nodes["conv"]["quantized"] is False and nodes["conv"]["reason"], nodes["conv"]
        got = torch.export.load(out / "model.int8.pt2").module()(x)
        assert sqnr(model(x), got) > (30 if bits == 8 else 12), f"{preset}: {sqnr(model(x), got):.1f} dB"


def test_what_cannot_be_grouped_is_refused(folder):
    written(folder)
    for change, words in (({"group_size": 1}, ["at least 2"]), ({"ch_axis": 1}, ["ch_axis", "group_size"]),
                          ({"dtype": "int16", "quant_min": None, "quant_max": None}, ["8 bits"]),
                          ({"observer": "minmax", "qscheme": "per_tensor_symmetric"}, ["group_size"]),
                          ({"group_sise": 16}, ["group_size"])):
        weight = {key: value for key, value in {**GROUPS, **change}.items() if value is not None}
        recipe = write_recipe(folder, backend="x86", qconfigs={"own": {"activation": FLOAT, "weight": weight}}, mapping={"global": "own"})
        expect_bad("plan", folder / "net.pt2", "--recipe", recipe, contains=words)


if __name__ == "__main__":
    main(__name__)

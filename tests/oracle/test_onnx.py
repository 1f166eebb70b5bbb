# SPDX-License-Identifier: Apache-2.0
"""`--export onnx`: the file passes ONNX's checker, runs in ONNX Runtime and computes what the reference form does.

    python test_onnx.py [--all | NAME ...]      names as in families.py or onnx_models.py; --all: the networks of test_models.py
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import onnx
import torch

import families
import onnx_models
import test_models
from onnx_parting import HALFWAY, Parting, optimised

QUANTSCOPE = os.environ["QUANTSCOPE"]
QUICK = ["timm.lcnet_050"]
FLOOR = 60.0  # dB
EXACT = 100.0  # dB of every value between two quantizers


def export(folder, model, inputs, is_open, script=False, options=()):
    """Writes model and data, quantizes, returns the folder of the result."""
    model = model.eval()
    path = folder / ("model.pt" if script else "model.pt2")
    with torch.no_grad():
        if script:
            torch.jit.trace(model, inputs, check_trace=False).save(str(path))
        else:
            batch = torch.export.Dim("batch", min=2, max=64)
            shapes = tuple({0: batch} for _ in inputs) if is_open else None
            torch.export.save(torch.export.export(model, inputs, dynamic_shapes=shapes), path)
    inputs = [value.clone() for value in inputs]  # an export may leave notes on a tensor, which are saved with it
    torch.save([tuple(inputs), tuple(value.flip(0) if value.is_floating_point() else value for value in inputs)], folder / "calls.pt")
    done = subprocess.run([QUANTSCOPE, "quantize", path, "--data", folder / "calls.pt", "--out", folder / "out", "--export", "pt2-reference,onnx", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "does not read ONNX" in done.stderr, "that the file was not read back is not said"
    return folder / "out"


def check_file(path):
    """Weights are stored as integers, no float weight beside them; every node tells where it came from."""
    model = onnx.load(path)
    kinds = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear":
            assert node.input[0] not in kinds, f"{node.name} quantizes a stored tensor"
        if node.op_type != "Identity" and model.opset_import[0].version >= 21:
            assert any(entry.key == "quantscope.node" for entry in node.metadata_props), f"{node.name} has no origin"
    stored = [tensor for tensor in kinds.values() if tensor.data_type in (onnx.TensorProto.INT8, onnx.TensorProto.UINT8, onnx.TensorProto.INT4) and len(tensor.dims) > 1]
    assert stored, "no weight is stored as integers"
    named = [output["name"] for output in json.loads((path.parent / "result.json").read_text())["outputs"]]
    assert [output.name for output in model.graph.output] == named, f"outputs are named after no recipe: {named}"
    properties = {entry.key: entry.value for entry in model.metadata_props}
    assert len(properties["quantscope.model_sha256"]) == 64, properties
    assert properties["quantscope.recipe_sha256"] == hashlib.sha256((path.parent / "recipe.json").read_bytes()).hexdigest(), properties
    return model


def held(name, out, inputs, traced=False):
    """Holds the file to the reference form and prints one line; returns the worst output in dB."""
    check_file(out / "model.int8.onnx")
    parting = Parting(out, inputs)
    whole = parting.outputs()
    optimised = parting.outputs(optimised=True)
    worst, where, departed, count, farthest = parting.between_quantizers(traced)
    print(f"{name}: from quantizer to quantizer {worst:.1f} dB ({where or 'all equal'}), {departed} of {count} integers depart; outputs {whole:.1f} dB, "
          f"optimised {optimised:.1f} dB", flush=True)
    assert worst >= EXACT, f"{name}: {where} agrees to {worst:.1f} dB"
    assert farthest <= HALFWAY, f"{name}: an integer departs {farthest:.5f} steps from the middle"
    assert departed <= max(2, 0.02 * count), f"{name}: {departed} of {count} integers depart"
    return whole


def operators(script, opset=21):
    for name, (model, inputs, is_open) in onnx_models.cases().items():
        def one(name=name, model=model, inputs=inputs, is_open=is_open):
            with tempfile.TemporaryDirectory() as folder:
                out = export(pathlib.Path(folder), model, inputs, is_open, script, ("--onnx-opset", str(opset)))
                assert onnx.load(out / "model.int8.onnx").opset_import[0].version == opset
                held(name + (", traced" if script else "") + (f", operator set {opset}" if opset != 21 else ""), out, inputs, script)
        yield name, one


def refused():
    """All that has no form in one line, before anything is calibrated or written; other forms do not mind."""
    def strange(x):
        return torch.digamma(torch.erfinv(x.clamp(-0.9, 0.9)) + 9)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        torch.save(torch.ones(4, 8), folder / "data.pt")
        torch.export.save(torch.export.export(onnx_models.Step(strange).eval(), (torch.ones(4, 8),)), folder / "model.pt2")
        words = [QUANTSCOPE, "quantize", folder / "model.pt2", "--data", folder / "data.pt", "--out", folder / "out", "--export"]
        done = subprocess.run([*words, "pt2,onnx"], capture_output=True, text=True)
        lines = done.stderr.splitlines()
        assert done.returncode == 1 and len(lines) == 1, done.stderr
        for word in ("model.pt2: node 'erfinv'", "aten.erfinv.default, aten.digamma.default, 2 operators in all", "export another form"):
            assert word in lines[0], f"'{word}' is not in: {lines[0]}"
        assert not (folder / "out").exists(), "something was written"
        assert subprocess.run([*words, "pt2"], capture_output=True).returncode == 0, "pt2 alone"
        # What PyTorch itself can write in simpler operators.
        cell = torch.export.export(onnx_models.Step(torch.nn.GRUCell(8, 8)).eval(), (torch.ones(4, 8),))
        torch.export.save(cell, folder / "model.pt2")
        words[6] = folder / "cell"
        done = subprocess.run([*words, "onnx"], capture_output=True, text=True)
        assert done.returncode == 1 and "aten.gru_cell.default" in done.stderr and "run_decompositions()" in done.stderr, done.stderr
        torch.export.save(cell.run_decompositions(), folder / "model.pt2")
        done = subprocess.run([*words, "onnx"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def groups():
    """A weight in groups: blocks of four bits from operator set 21 on, else rows of their own; ONNX Runtime makes one kernel of it that reads the nibbles."""
    weight = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -8, "quant_max": 7, "group_size": 16}
    for number, scheme in enumerate(("per_channel_symmetric", "per_channel_affine")):
        recipe = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": None, "object_type": [["torch.nn.Linear", "groups"]]},
                  "qconfigs": {"groups": {"activation": {"observer": "placeholder", "dtype": "float32"}, "weight": {**weight, "qscheme": scheme}}}}
        torch.manual_seed(4)
        model = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.Tanh(), torch.nn.Linear(48, 5))
        for place, rows in enumerate((torch.randn(4, 64), torch.randn(2, 3, 64))):
            for opset in (21, 17) if "--all" in sys.argv else (21,) if number == place else (17,):
                with tempfile.TemporaryDirectory() as folder:
                    folder = pathlib.Path(folder)
                    (folder / "recipe.json").write_text(json.dumps(recipe))
                    out = export(folder, model, (rows,), False, options=("--recipe", folder / "recipe.json", "--onnx-opset", str(opset)))
                    file = onnx.load(out / "model.int8.onnx")
                    kinds = [tensor.data_type for tensor in file.graph.initializer if len(tensor.dims) == 2]
                    assert (onnx.TensorProto.INT4 in kinds) == (opset == 21), kinds
                    blocks = [a.i for node in file.graph.node for a in node.attribute if a.name == "block_size"]
                    assert blocks == ([16, 16] if opset == 21 else []), blocks
                    worst = Parting(out, (rows,)).outputs()
                    assert worst >= FLOOR, f"{scheme}, operator set {opset}: {worst:.1f} dB"
                    kernels = [node.op_type for node in optimised(out / "model.int8.onnx", folder)]
                    assert kernels.count("MatMulNBits") == (2 if opset == 21 else 0), f"{scheme}, operator set {opset}, {rows.dim()} dimensions: {kernels}"


def network(name):
    def one():
        model, example = families.make(name)
        with tempfile.TemporaryDirectory() as folder:
            out = export(pathlib.Path(folder), model, (example,), False)
            return held(name, out, (example,))
    return one


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))
    torch.backends.mha.set_fastpath_enabled(False)
    asked = [word for word in sys.argv[1:] if not word.startswith("--")]
    everything = "--all" in sys.argv
    small = dict(operators(False))
    todo = [(name, small.get(name) or network(name)) for name in asked]
    if not todo:
        todo = [(name, network(name)) for name in (test_models.ASKED if everything else QUICK)]
        todo += [(f"{name}, operator set {opset}", one) for opset in (13, 23) for name, one in operators(False, opset) if name in SETS]
        todo += list(small.items()) + [(name + ", traced", one) for name, one in operators(True)
                                         if name not in UNTRACEABLE and (everything or name in TRACED)]
    if not asked:
        todo += [("what has no ONNX form is refused", refused), ("weights in groups", groups)]
    outputs, failures = {}, []
    for name, one in todo:
        try:
            outputs[name] = one()
        except Exception as error:  # every network is tried
            print(f"FAIL {name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            failures.append(name)
    networks = {name: value for name, value in outputs.items() if value is not None}
    print(f"{len(todo) - len(failures)} of {len(todo)} export and compute what the reference form does; of {len(networks)} networks the outputs of "
          f"{sum(value >= FLOOR for value in networks.values())} agree to {FLOOR:.0f} dB and more, worst {min(networks.values(), default=200):.1f} dB")
    sys.exit(1 if failures else 0)


TRACED = ("attention", "convolutions")
UNTRACEABLE = ("branches",)  # torch.jit.trace refuses torch.cond
SETS = ("norms",)

if __name__ == "__main__":
    main()

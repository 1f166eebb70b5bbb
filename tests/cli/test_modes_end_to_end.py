# SPDX-License-Identifier: Apache-2.0
"""Recipes that need no statistics run from the model to its exports, which reload in PyTorch and compute what was promised."""
import json
import sys

import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  (registers the operators of the reference form)

import harness
from harness import SOURCE, run_good, run_json

sys.path[:0] = [str(SOURCE / "tests" / "engine" / "convert"), str(SOURCE / "tests" / "oracle")]
import conversion  # noqa: E402
import test_modes as modes  # noqa: E402

NAMES = {"linear_dynamic", "linear_float16_dynamic", "gru_dynamic", "lstm_float16_dynamic", "rnn_tanh_cell_dynamic", "embedding_byte",
         "bag_4bit", "all_modes"}


def signal_to_noise(wanted, got):
    return conversion.oracle.sqnr_db(conversion.flat(wanted), conversion.flat(got))


def check(network, folder):
    conversion.write(network, folder)
    place, out = folder / network.name, folder / network.name / "out"
    run_good("quantize", place / "model.pt2", "--recipe", place / "recipe.json", "--data", "sample", "--out", out, "--device", "cpu",
             "--export", "torchscript,pt2,pt2-reference")
    result = json.loads((out / "result.json").read_text())
    wanted = network.model(*network.inputs)
    made = {"torchscript": torch.jit.load(out / "model.int8.ts.pt")(*network.inputs)}
    for form, name in (("pt2", "model.int8.pt2"), ("pt2-reference", "model.reference.pt2")):
        made[form] = torch.export.load(out / name).module()(*network.inputs)
    assert signal_to_noise(made["pt2-reference"], made["pt2"]) > 100, f"{network.name}: int8 weights change the result"
    first = [output[0] if isinstance(output, (tuple, list)) else output for output in (wanted, made["torchscript"], made["pt2"])]
    promised = result["outputs"][0]
    for kind, got, told in (("lowered", first[1], promised["lowered"]), ("reference", first[2], promised["cumulative"])):
        measured = signal_to_noise(first[0], got)
        assert abs(measured - told["sqnr_db"]) < 0.1, f"{network.name} {kind}: {measured:.2f} dB, result.json says {told['sqnr_db']:.2f}"
    again = run_json("compare", place / "model.pt2", "--result", out, "--data", "sample", "--device", "cpu")
    assert again["outputs"] == result["outputs"], f"{network.name}: compare does not find the same again"
    return result


def networks(folder):
    torch.manual_seed(29)
    every = [*modes.linears(), *modes.recurrent(), *modes.weight_only(), *modes.mixed()]
    chosen = [one for one in every if one.name in NAMES]
    assert len(chosen) == len(NAMES)
    return chosen


def test_modes_run_to_their_exports(folder):
    results = {network.name: check(network, folder) for network in networks(folder)}
    nodes = {node["name"]: node for node in results["gru_dynamic"]["nodes"]}
    assert len(nodes["gru"]["weights"]) == 2 and nodes["gru"]["weight"]["dtype"] == "qint8"
    assert nodes["gru"]["mode"] == "dynamic"
    assert nodes["x"]["output"]["dynamic"] is True and nodes["x"]["output"]["scale"] == []
    table = next(node for node in results["embedding_byte"]["nodes"] if node["op"] == "aten.embedding.default")
    assert table["quantized"] and table["weight"]["qscheme"] == "per_channel_affine_float_qparams"


def test_dynamic_pairs_without_a_kernel_are_exported(folder):
    """Ranges chosen as the model runs, left in reference form: both exports choose the same."""
    torch.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(8, 12), torch.nn.ReLU(), torch.nn.Linear(12, 5)).eval()
    inputs = (torch.randn(16, 8),)
    torch.export.save(torch.export.export(model, inputs), folder / "model.pt2")
    rows = [{"pattern": ["torch.nn.Linear"]}, {"pattern": ["torch.nn.Linear", "torch.nn.ReLU"]}]
    symmetric = {"dyn": {"activation": {"observer": "placeholder", "dtype": "quint8", "qscheme": "per_tensor_symmetric", "is_dynamic": True},
                         "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}}
    for name, keys in {"affine": {"backend": "x86", "mapping": {"global": "default_dynamic"}, "convert": {"lowering": {"remove": rows}}},
                       "symmetric": {"backend": "x86", "qconfigs": symmetric, "mapping": {"global": "dyn"}}}.items():
        recipe, out = harness.write_recipe(folder, **keys), folder / name
        run_good("quantize", folder / "model.pt2", "--recipe", recipe, "--data", "sample", "--out", out, "--device", "cpu",
                 "--export", "torchscript,pt2-reference")
        script = torch.jit.load(out / "model.int8.ts.pt")
        assert "aminmax" in script.code, f"{name}: nothing is chosen as it runs"
        for scale in (1.0, 10.0):
            wanted, got = model(inputs[0] * scale), script(inputs[0] * scale)
            reference = torch.export.load(out / "model.reference.pt2").module()(inputs[0] * scale)
            assert torch.equal(got, reference), f"{name}: the exports differ"
            assert 25 < signal_to_noise(wanted, got) < 100, f"{name}: {signal_to_noise(wanted, got):.1f} dB"


if __name__ == "__main__":
    harness.main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""MultiheadAttention that the recipe asks for, against torch.ao's quantizable one: numbers of every observer, weights, outputs."""
import json
import pathlib
import sys

import torch
import torch.ao.quantization as tq
from torch import nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401  (registers the operators of the reference form)

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import attention_oracle  # noqa: E402
import harness  # noqa: E402
import oracle  # noqa: E402
from harness import by_name, expect_bad, run, run_good, run_json, write_recipe  # noqa: E402

WANTED = {"custom_modules": ["torch.nn.MultiheadAttention"]}
FLAT = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True},
        "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
FLAT_QCONFIG = tq.QConfig(activation=tq.MinMaxObserver.with_args(reduce_range=True), weight=tq.default_weight_observer)


class Self(nn.Module):
    """Attention between linear layers; `weights` asks for what the heads look at."""

    def __init__(self, weights=True, **form):
        super().__init__()
        self.first, self.att, self.last = nn.Linear(16, 16), nn.MultiheadAttention(16, 4, **form), nn.Linear(16, 8)
        self.weights = weights

    def forward(self, x):
        x = self.first(x)
        return self.last(self.att(x, x, x, need_weights=self.weights)[0])


class Cross(nn.Module):
    """Queries from one sequence, keys and values from another, of another width where `kdim` says so."""

    def __init__(self, **form):
        super().__init__()
        wide = form.get("kdim", 16)
        self.first, self.second = nn.Linear(16, 16), nn.Linear(16, wide)
        self.att, self.last = nn.MultiheadAttention(16, 4, **form), nn.Linear(16, 8)

    def forward(self, x, y):
        y = self.second(y)
        return self.last(self.att(self.first(x), y, y)[0])


class Apart(Cross):
    """Keys and values are different tensors."""

    def forward(self, x, y):
        return self.last(self.att(self.first(x), self.second(y), y)[0])


def ours(model, calls, folder, **keys):
    harness.export_model(model, calls[0], folder / "model.pt2", dynamic=False)
    torch.save(list(calls), folder / "data.pt")
    recipe = write_recipe(folder, calibration={"batch_size": 8, "batches": len(calls)}, **WANTED, **keys)
    run_good("quantize", folder / "model.pt2", "--recipe", recipe, "--data", folder / "data.pt", "--device", "cpu",
             "--export", "torchscript,pt2-reference", "--out", folder / "out")
    return (json.loads((folder / "out" / "result.json").read_text()), torch.jit.load(folder / "out" / "model.int8.ts.pt"),
            torch.export.load(folder / "out" / "model.reference.pt2").module())


def same(made, theirs):
    """One step of a float apart at most: a fused attention sums in another order."""
    return abs(made[0] / theirs[0] - 1) < 1e-6 and made[1] == theirs[1]


def flat(output):
    return output.detach().reshape(-1).numpy()


def compare(name, model, calls, folder, qconfig=None, **keys):
    folder = folder / name
    folder.mkdir()
    converted = attention_oracle.quantize(model, qconfig or tq.get_default_qconfig("x86"), calls)
    result, script, reference = ours(model.eval(), calls, folder, **keys)
    theirs = attention_oracle.parameters(converted)
    nodes = {node["module"]: node for node in result["nodes"] if node["op"] == "aten.linear.default"}
    layers = [f"att.{layer}" for layer in ("linear_Q", "linear_K", "linear_V", "out_proj")]
    for layer in layers:
        node = nodes[layer]
        made = (node["output"]["scale"][0], node["output"]["zero_point"][0])
        assert node["quantized"] and node["kernel"]["passed"] and same(made, theirs[layer]), f"{name} {layer}: {made} {theirs[layer]}"
        weight = converted.get_submodule("model." + layer).weight()
        scales = weight.q_per_channel_scales().tolist() if weight.qscheme() == torch.per_channel_affine else [weight.q_scale()]
        assert torch.allclose(torch.tensor(node["weight"]["scale"]), torch.tensor(scales, dtype=torch.float32), rtol=1e-6, atol=0), f"{name} {layer}"
    # What the second product gives is observed where out_proj reads it.
    read = next(node["output"] for node in result["nodes"] if node["module"] == "att" and node["output"])
    assert same((read["scale"][0], read["zero_point"][0]), theirs["att.quant_attn_output"]), f"{name}: {read} {theirs['att.quant_attn_output']}"
    figures = []
    with torch.no_grad():
        for call in calls[:2]:
            wanted, real = flat(converted(*call)), flat(model(*call))
            figures.append(oracle.sqnr_db(wanted, flat(script(*call))))
            # torch.ao has no reference form of it: ours is held to the same noise.
            apart = oracle.sqnr_db(real, wanted) - oracle.sqnr_db(real, flat(reference(*call)))
            assert abs(apart) < 0.5, f"{name}: {apart} dB"
    assert min(figures) >= 60, f"{name}: {figures}"
    print(f"  {name}: {len(layers) + 1} observers equal, TorchScript {min(figures):.0f} dB from torch.ao's", flush=True)
    return result


def test_forms(folder):
    torch.manual_seed(3)
    sequences = [(torch.randn(6, 3, 16),) for _ in range(4)]
    pairs = [(torch.randn(6, 3, 16), torch.randn(5, 3, 16)) for _ in range(4)]
    compare("plain", Self(), sequences, folder)
    compare("no_weights", Self(weights=False), sequences, folder)
    compare("no_bias", Self(bias=False), sequences, folder)
    compare("cross", Cross(), pairs, folder)
    compare("wide", Cross(kdim=12, vdim=12), pairs, folder)
    compare("apart", Apart(), pairs, folder)
    compare("flat", Self(), sequences, folder, FLAT_QCONFIG, qconfigs={"flat": FLAT}, mapping={"global": "flat"})


def test_batch_first_is_the_float_models(folder):
    """torch.ao's swapped module computes something else here: the float model is the judge."""
    torch.manual_seed(4)
    model, calls = Self(batch_first=True).eval(), [(torch.randn(3, 6, 16),) for _ in range(4)]
    result, script, reference = ours(model, calls, folder)
    with torch.no_grad():
        for call in calls:
            for made in (script(*call), reference(*call)):
                assert oracle.sqnr_db(flat(model(*call)), flat(made)) > 20
    assert sum(node["quantized"] for node in result["nodes"] if node["op"] == "aten.linear.default") == 6


def test_unasked_it_stays_as_it_is(folder):
    model, call = Self().eval(), (torch.randn(6, 3, 16),)
    harness.export_model(model, call, folder / "model.pt2", dynamic=False)
    nodes = run_json("plan", folder / "model.pt2")["nodes"]
    inside = [node for node in nodes if node["module"] == "att" and node["op"] == "aten.linear.default"]
    assert len(inside) == 2 and not any(node["quantized"] for node in inside), inside
    assert '"custom_modules": ["torch.nn.MultiheadAttention"]' in inside[0]["suggestion"], inside[0]
    # With it the model is another, whose float numbers are the same.
    recipe = write_recipe(folder, **WANTED)
    names = by_name(run_json("plan", folder / "model.pt2", "--recipe", recipe))
    assert {"linear_Q", "linear_K", "linear_V"} <= set(names) and names["linear_Q"]["module_class"] == "torch.nn.Linear", list(names)
    edit = {"do": "rename", "at": {"module": "first", "op": "aten.linear.default"}, "name": "renamed"}
    recipe = write_recipe(folder, edits=[edit], **WANTED)
    run_good("edit", folder / "model.pt2", "--recipe", recipe, "--out", folder / "written.pt2")
    with torch.no_grad():
        written = torch.export.load(folder / "written.pt2").module()(*call)
        assert torch.allclose(written, model(*call), rtol=1e-5, atol=1e-6)


def test_torch_aos_map_asks_for_it(folder):
    """The two maps of torch.ao, classes as Python prints them, say the same as "custom_modules"."""
    model, call = Self().eval(), (torch.randn(6, 3, 16),)
    harness.export_model(model, call, folder / "model.pt2", dynamic=False)
    words = ("plan", folder / "model.pt2", "--json", "--recipe")
    asked = run(*words, write_recipe(folder, **WANTED))
    maps = {"prepare": attention_oracle.PREPARE, "convert": attention_oracle.CONVERT}
    maps = {stage: {key: {"static": {str(a): str(b) for a, b in classes.items()}} for key, classes in block.items()}
            for stage, block in maps.items()}
    mapped = run(*words, write_recipe(folder, **maps))
    assert mapped.returncode == 0 and mapped.stderr == "", mapped.stderr
    planned = [(node["name"], node["quantized"]) for node in json.loads(asked.stdout)["nodes"]]
    assert planned == [(node["name"], node["quantized"]) for node in json.loads(mapped.stdout)["nodes"]], mapped.stdout
    assert ("linear_Q", True) in planned, planned
    maps["prepare"]["float_to_observed_custom_module_class"]["static"] = {"torch.nn.MultiheadAttention": "mine.Attention"}
    done = run(*words, write_recipe(folder, prepare=maps["prepare"]))
    assert done.returncode == 0 and "map it to torch.ao.nn.quantizable.MultiheadAttention" in done.stderr, done.stderr


def test_recipes_that_are_wrong(folder):
    model, call = Self().eval(), (torch.randn(6, 3, 16),)
    harness.export_model(model, call, folder / "model.pt2", dynamic=False)
    words = ("plan", folder / "model.pt2", "--recipe")
    expect_bad(*words, write_recipe(folder, custom_modules=["torch.nn.MultiheadAttentoin"]),
               contains=["custom_modules", "did you mean 'torch.nn.MultiheadAttention'?"])
    expect_bad(*words, write_recipe(folder, custom_modules="torch.nn.MultiheadAttention"), contains=["expected a list of names"])
    done = run(*words, write_recipe(folder, prepare={"custom_modules": ["torch.nn.modules.activation.MultiheadAttention"]}))
    assert done.returncode == 0 and done.stderr == "", done.stderr


if __name__ == "__main__":
    harness.main(__name__)

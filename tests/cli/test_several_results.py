# SPDX-License-Identifier: Apache-2.0
"""A pack's custom module that gives several tensors: each result has an observer, a scale and readers of its own; and what a pack has
observed in place of a module's own operators."""

import json
import typing

import numpy
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import nn
from torch.nn import functional as F

import harness
from harness import all_calls, by_name, expect_bad, keeping, observed, qparams, run_good, run_json, sqnr, write_recipe

MODES = {"static": {}, "dynamic": {"mapping": {"global": "default_dynamic"}}}
Pair = typing.Tuple[torch.Tensor, torch.Tensor]


class Cell(nn.Module):
    """Its state, which it computes first, and what it gives on."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, 2 * outputs)

    def forward(self, x: torch.Tensor) -> Pair:
        value, gate = self.linear(x).chunk(2, -1)
        state = value * torch.sigmoid(gate)
        return torch.tanh(state), state


class Largest(nn.Module):
    """Values and, in whole numbers, their places."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor) -> Pair:
        values, places = self.linear(x).topk(3, -1)
        return values, places


class Operators(nn.Module):
    def cell(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> Pair:
        value, gate = F.linear(x, weight.dequantize(), bias).chunk(2, -1)
        state = value * torch.sigmoid(gate)
        return state, torch.tanh(state)

    @torch.jit.export
    def cell_int8(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, state_scale: float, state_zero_point: int,
                  scale: float, zero_point: int) -> Pair:
        state, y = self.cell(x.dequantize(), weight, bias)
        return (torch.quantize_per_tensor(state, state_scale, state_zero_point, x.dtype),
                torch.quantize_per_tensor(y, scale, zero_point, x.dtype))

    @torch.jit.export
    def cell_dynamic(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> Pair:
        return self.cell(torch.quantize_per_tensor_dynamic(x, torch.quint8, False).dequantize(), weight, bias)

    @torch.jit.export
    def cell_doubled(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> Pair:
        state, y = self.cell(x, weight, bias)
        return 2 * state, y

    @torch.jit.export
    def cell_one(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
        return torch.quantize_per_tensor(self.cell(x.dequantize(), weight, bias)[0], scale, zero_point, x.dtype)

    @torch.jit.export
    def cell_list(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> typing.List[torch.Tensor]:
        return [x]

    @torch.jit.export
    def largest_int8(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float, zero_point: int) -> Pair:
        values, places = F.linear(x.dequantize(), weight.dequantize(), bias).topk(3, -1)
        return torch.quantize_per_tensor(values, scale, zero_point, x.dtype), places


class Stateful(nn.Module):
    """One result goes into a layer on eight bits, the other into one that stays float and out of the model."""

    def __init__(self):
        super().__init__()
        self.first, self.unit, self.last = nn.Linear(16, 12), Cell(12, 10), nn.Linear(10, 4)

    def forward(self, x):
        y, state = self.unit(self.first(x))
        return self.last(y), torch.cos(state), state


class OneRead(Stateful):
    def forward(self, x):
        return self.last(self.unit(self.first(x))[0])


class Places(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.unit, self.last = nn.Linear(16, 12), Largest(12, 10), nn.Linear(3, 4)

    def forward(self, x):
        values, places = self.unit(self.first(x))
        return self.last(values), places


METHODS = ("cell_int8", "cell_dynamic", "cell_doubled", "cell_one", "cell_list", "largest_int8")
READ = {"x": "input", "weight": {"weight": "linear.weight"}, "bias": {"parameter": "linear.bias"}}
GIVEN = {**READ, "state_scale": "output_scale", "state_zero_point": {"output_zero_point": 0},
         "scale": {"output_scale": 1}, "zero_point": {"output_zero_point": 1}}
CELL = {"class": f"{__name__}.Cell", "modes": {"static": {"to": "cells::cell_int8", "arguments": GIVEN},
                                               "dynamic": {"to": "cells::cell_dynamic", "arguments": READ}}}
LARGEST = {"class": f"{__name__}.Largest", "modes": {"static": {"to": "cells::largest_int8", "arguments": {
    **READ, "scale": "output_scale", "zero_point": "output_zero_point"}}}}


def pack_of(folder, *modules, place="pack"):
    pack = folder / place
    pack.mkdir()
    script = torch.jit.script(Operators())
    script.save(str(pack / "cells.pt"))
    document = {"format": "quantscope.extension", "version": 1, "name": "cells", "torch": "2.11.0",
                "scripts": {"cells.pt": {f"cells::{name}": name for name in METHODS}}, "custom_modules": list(modules)}
    (pack / "extension.json").write_text(json.dumps(document))
    return pack


def static(**arguments):
    return {**CELL, "modes": {"static": {"to": "cells::cell_int8", "arguments": {**GIVEN, **arguments}}}}


def register():
    """Lets this Python know the operators, with the schemas that the program gives them."""
    script = torch.jit.script(Operators())
    for name, numbers in (("cell_int8", ", float state_scale, int state_zero_point, float scale, int zero_point"), ("cell_dynamic", ""),
                          ("largest_int8", ", float scale, int zero_point")):
        if not hasattr(torch.ops.cells, name):
            torch.library.define(f"cells::{name}", f"(Tensor x, Tensor weight, Tensor bias{numbers}) -> (Tensor, Tensor)")
            torch.library.impl(f"cells::{name}", "CompositeExplicitAutograd", getattr(script, name))


def saved(folder, kind):
    """The model, its file and its data."""
    torch.manual_seed(5)
    model = kind().eval()
    torch.export.save(torch.export.export(model, (torch.randn(8, 16),)), folder / "m.pt2")
    torch.save([(torch.randn(8, 16),) for _ in range(6)], folder / "data.pt")
    return model, folder / "m.pt2", folder / "data.pt"


def quantized(folder, pack, file, data, mode="static", place="out"):
    """The result document, the lowered model's outputs as the program runs it, and the folder of the result."""
    out, outputs = folder / place, folder / f"{place}.npz"
    run_good("quantize", file, "--data", data, "--out", out, "--device", "cpu", "--extension", pack,
             "--recipe", write_recipe(folder, **MODES[mode]), "--eval", keeping(outputs), "--export", "torchscript,pt2-reference")
    arrays = numpy.load(outputs)
    return json.loads((out / "result.json").read_text()), [torch.from_numpy(arrays[name]) for name in arrays.files], out


def test_each_result_by_itself(folder):
    register()
    model, file, data = saved(folder, Stateful)
    calls = torch.load(data)
    pack = pack_of(folder, CELL)
    document, ours, out = quantized(folder, pack, file, data)
    unit = by_name(document)["unit"]
    assert unit["kernel"]["name"] == "cells.cell_int8.default" and unit["kernel"]["passed"] and unit["kernel"]["max_lsb"] <= 1, unit["kernel"]
    assert [left for left in document["residue"] if left["node"] == "unit"] == [], document["residue"]
    with torch.no_grad():
        results = [model.unit(model.first(x)) for (x,) in calls]
    state, y = unit["interior"]
    assert qparams(state) == observed([one for _, one in results]), state
    assert qparams(y) == observed([one for one, _ in results]), y
    assert state["scale"] != y["scale"]
    # One quantize for the model's input; each float reader's dequantize; nothing between layers on eight bits.
    reloaded = torch.jit.load(out / "model.int8.ts.pt")
    text = str(reloaded.inlined_graph)
    assert "cells::cell_int8(" in text and text.count("aten::quantize_per_tensor(") == 1, text
    assert text.count("aten::dequantize(") == 2, text
    theirs, wanted = all_calls(reloaded, calls), all_calls(model, calls)
    for mine, their, float_one in zip(ours, theirs, wanted):
        assert torch.equal(mine, their) and sqnr(float_one, their) > 25, sqnr(float_one, their)
    reference = all_calls(torch.export.load(out / "model.reference.pt2").module(), calls)
    assert (reference[2] - theirs[2]).abs().max() <= state["scale"][0] * 1.001, (reference[2] - theirs[2]).abs().max()
    assert sqnr(reference[0], theirs[0]) > 30


def test_dynamic_results_are_float(folder):
    register()
    model, file, data = saved(folder, Stateful)
    calls = torch.load(data)
    document, ours, out = quantized(folder, pack_of(folder, CELL), file, data, "dynamic")
    unit = by_name(document)["unit"]
    assert unit["kernel"]["name"] == "cells.cell_dynamic.default" and unit["kernel"]["passed"], unit["kernel"]
    reloaded = torch.jit.load(out / "model.int8.ts.pt")
    assert "aten::dequantize(" not in str(reloaded.inlined_graph)
    for mine, their, wanted in zip(ours, all_calls(reloaded, calls), all_calls(model, calls)):
        assert torch.equal(mine, their) and sqnr(wanted, their) > 30, sqnr(wanted, their)


def test_a_result_of_whole_numbers(folder):
    register()
    model, file, data = saved(folder, Places)
    calls = torch.load(data)
    document, ours, out = quantized(folder, pack_of(folder, LARGEST), file, data)
    unit = by_name(document)["unit"]
    assert unit["kernel"]["name"] == "cells.largest_int8.default" and unit["kernel"]["passed"], unit["kernel"]
    assert len(unit["interior"]) == 1, unit["interior"]
    theirs = all_calls(torch.jit.load(out / "model.int8.ts.pt"), calls)
    assert all(torch.equal(mine, their) for mine, their in zip(ours, theirs)) and theirs[1].dtype == torch.int64
    assert sqnr(all_calls(model, calls)[0], theirs[0]) > 20


def test_code_of_every_form(folder):
    _, file, _ = saved(folder, Stateful)
    pack = pack_of(folder, CELL)
    prepared = run_good("inspect", file, "--code", "--form", "prepared", "--extension", pack)
    assert "self.unit(" in prepared and prepared.count("self.unit(") == 1, prepared
    lowered = run_good("inspect", file, "--code", "--form", "lowered", "--extension", pack)
    assert "(unit): QuantizedCell(" in lowered and ", unit_3 = self.unit(first)" in lowered, lowered


def test_kernels_that_do_not_fit(folder):
    _, file, data = saved(folder, Stateful)
    # The scales changed places: of each result the numbers are told.
    swapped = static(state_scale={"output_scale": 1}, state_zero_point={"output_zero_point": 1},
                     scale={"output_scale": 0}, zero_point={"output_zero_point": 0})
    for number, (module, why) in enumerate(((swapped, "its result has scale"), (static(scale={"value": 0.5}), "its result has scale 0.5"))):
        pack = pack_of(folder, module, place=f"wrong{number}")
        document, _, _ = quantized(folder, pack, file, data, place=f"out{number}")
        unit = by_name(document)["unit"]
        assert unit["quantized"] and not unit["kernel"]["passed"], unit
        assert any(why in left["reason"] for left in document["residue"] if left["node"] == "unit"), document["residue"]
    # The number of results is known before anything runs.
    one = {**CELL, "modes": {"static": {"to": "cells::cell_one", "arguments": {**READ, "scale": "output_scale", "zero_point": "output_zero_point"}}}}
    unit = by_name(run_json("plan", file, "--extension", pack_of(folder, one, place="one")))["unit"]
    assert not unit["quantized"] and "the model reads 2 results of it, cells::cell_one gives 1" in unit["reason"], unit
    (folder / "less").mkdir()
    _, less, _ = saved(folder / "less", OneRead)
    unit = by_name(run_json("plan", less, "--extension", pack_of(folder, CELL, place="less_read")))["unit"]
    assert not unit["quantized"] and "the model reads 1 result of it, cells::cell_int8 gives 2" in unit["reason"], unit


def test_json_that_is_wrong(folder):
    def bad(place, module, *contains):
        expect_bad("extensions", "check", pack_of(folder, module, place=place), contains=["extension.json", *contains])

    bad("beyond", static(scale={"output_scale": 2}), "'scale' is of result 2", "cells::cell_int8 returns 2 tensors")
    bad("negative", static(scale={"output_scale": -1}), "scale.output_scale", "results are counted from 0")
    bad("word", static(scale={"output_scale": "y"}), "scale.output_scale")
    bad("two", static(scale={"output_scale": 0, "output_zero_point": 0}), "expected one source")
    bad("list", {**CELL, "modes": {"dynamic": {"to": "cells::cell_list", "arguments": READ}}}, "cells::cell_list returns Tensor[]")
    bad("dynamic", {**CELL, "modes": {"dynamic": {"to": "cells::cell_int8", "arguments": GIVEN}}}, "mode 'dynamic' gives float results")
    bad("observed", {**CELL, "observed": {"to": "cells::cell_list", "arguments": READ}}, "cells::cell_list returns Tensor[]")
    bad("packed", {**CELL, "observed": {"to": "cells::cell_dynamic", "arguments": {
        **READ, "weight": {"prepack": "cells::cell_dynamic", "arguments": READ}}}}, "nothing is packed for it")


def test_what_is_observed_instead(folder):
    """The pack's operator runs while calibrating and in the reference form: its values are observed, and the kernel is held to it."""
    register()
    _, file, data = saved(folder, Stateful)
    plain, outputs, _ = quantized(folder, pack_of(folder, CELL), file, data)
    watched = {**CELL, "observed": {"to": "cells::cell_doubled", "arguments": {**READ, "weight": {"parameter": "linear.weight"}}}}
    document, doubled, out = quantized(folder, pack_of(folder, watched, place="watched"), file, data, place="watched_out")
    before, after = (by_name(result)["unit"]["interior"] for result in (plain, document))
    assert abs(after[0]["scale"][0] / before[0]["scale"][0] - 2) < 1e-5 and after[1]["scale"] == before[1]["scale"], (before, after)
    # The kernel computes what the module does, not what was observed; the reference form runs instead.
    unit = by_name(document)["unit"]
    assert not unit["kernel"]["passed"], unit["kernel"]
    assert any("steps away" in left["reason"] for left in document["residue"] if left["node"] == "unit"), document["residue"]
    assert sqnr(2 * outputs[2], doubled[2]) > 25, sqnr(2 * outputs[2], doubled[2])
    code = run_good("inspect", file, "--code", "--form", "reference", "--extension", folder / "watched")
    assert "unit" in code, code
    # One that gives another number of results does not fit.
    one = {**CELL, "observed": {"to": "cells::cell_one", "arguments": {
        **READ, "weight": {"parameter": "linear.weight"}, "scale": {"value": 1.0}, "zero_point": {"value": 0}}}}
    unit = by_name(run_json("plan", file, "--extension", pack_of(folder, one, place="one")))["unit"]
    assert not unit["quantized"] and "cells::cell_one gives 1" in unit["reason"], unit


if __name__ == "__main__":
    harness.main(__name__)

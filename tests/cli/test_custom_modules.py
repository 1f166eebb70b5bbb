# SPDX-License-Identifier: Apache-2.0
"""A pack's custom module, its operators in TorchScript: from the plan to each mode's kernel and back into Python; what a pack may do wrong."""

import json
import shutil
import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

from harness import SOURCE, by_name, expect_bad, keeping, run, run_good, run_json, sqnr, write_recipe

sys.path.append(str(SOURCE / "resources" / "extensions" / "gated_unit"))
import gated_unit  # noqa: E402

import harness  # noqa: E402

WEIGHT = {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}
MODES = {"static": {}, "dynamic": {"mapping": {"global": "default_dynamic"}},
         "weight_only": {"qconfigs": {"weight": {"activation": {"observer": "placeholder", "dtype": "float32"}, "weight": WEIGHT}},
                         "mapping": {"global": None, "module_name": [["unit", "weight"]]}}}
ARGUMENTS = {"x": "input", "weight": {"weight": "linear.weight"}, "bias": {"parameter": "linear.bias"}}


class Negated(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return -x


def made(folder):
    """The folder of the pack, with a model and its data beside it."""
    gated_unit.main(folder / "pack")
    return folder / "pack"


def changed(pack, place, **changes):
    """A copy of the pack with keys of its JSON changed; None takes one out."""
    copy = pack.parent / place
    shutil.copytree(pack, copy)
    document = json.loads((copy / "extension.json").read_text())
    document.update(changes)
    (copy / "extension.json").write_text(json.dumps({key: value for key, value in document.items() if value is not None}))
    return copy


def module_of(pack):
    return json.loads((pack / "extension.json").read_text())["custom_modules"][0]


def with_module(pack, place, **changes):
    return changed(pack, place, custom_modules=[{**module_of(pack), **changes}])


def with_static(pack, place, **changes):
    """A copy whose static kernel is called otherwise."""
    static = {**module_of(pack)["modes"]["static"], **changes}
    return with_module(pack, place, modes={"static": static})


def quantized(folder, pack, mode, *words):
    """The result document, the lowered model's outputs as the program runs it, and the data."""
    import numpy

    out = folder / f"out_{mode}"
    outputs = folder / f"{mode}.npz"
    run_good("quantize", pack / "network.pt2", "--data", pack / "data.pt", "--out", out, "--device", "cpu", "--extension", pack,
             "--recipe", write_recipe(folder, **MODES[mode]), "--eval", keeping(outputs), "--export", "torchscript,pt2-reference", *words)
    arrays = numpy.load(outputs)
    return json.loads((out / "result.json").read_text()), torch.from_numpy(arrays[arrays.files[0]]), out


def test_check_tells_modules_and_scripts(folder):
    pack = made(folder)
    text = run_good("extensions", "check", pack)
    for word in ("script    gated_unit.pt (gated::unit_dynamic, gated::unit_int8, gated::unit_weight_only)",
                 "module    gated_unit.GatedUnit, static -> gated::unit_int8", "kernel    gated::unit_int8"):
        assert word in text, f"{word} is not in\n{text}"
    document = run_json("extensions", "check", pack)
    assert document["custom_modules"] == [{"class": "gated_unit.GatedUnit", "modes": {
        "static": "gated::unit_int8", "dynamic": "gated::unit_dynamic", "weight_only": "gated::unit_weight_only"}}]
    # A script is part of the pack's identity.
    before = document["sha256"]
    with open(pack / "gated_unit.pt", "ab") as file:
        file.write(b" ")
    assert run("extensions", "check", pack).stdout.find(before) < 0


def test_opening_loads_nothing(folder):
    pack = made(folder)
    nodes = by_name(run_json("plan", pack / "network.pt2"))
    assert "unit" not in nodes and nodes["mul"]["module"] == "unit", list(nodes)
    expect_bad("plan", pack / "network.pt2", "--recipe", write_recipe(folder, extensions=["gated_unit"]),
               contains=["'gated_unit' is not loaded", "--extension DIR"])


def test_plan_tells_the_mode(folder):
    pack = made(folder)
    for mode, keys in MODES.items():
        nodes = by_name(run_json("plan", pack / "network.pt2", "--extension", pack, "--recipe", write_recipe(folder, **keys)))
        unit = nodes["unit"]
        assert unit["quantized"] and unit["mode"] == mode and unit["module_class"] == "gated_unit.GatedUnit", unit
        assert ("interior" in unit) == (mode == "static"), unit
        assert unit["weight"]["dtype"] == "qint8", unit
    # By its class or its place a rule keeps it float: it then runs as the file's own operators.
    for rule in ({"object_type": [["gated_unit.GatedUnit", None]]}, {"module_name": [["unit", None]]}):
        recipe = write_recipe(folder, mapping={"global": "x86", **rule})
        unit = by_name(run_json("plan", pack / "network.pt2", "--extension", pack, "--recipe", recipe))["unit"]
        assert not unit["quantized"] and "keeps it float" in unit["reason"], unit


def test_a_mode_that_it_has_not(folder):
    pack = made(folder)
    only = with_module(pack, "only", modes={"static": module_of(pack)["modes"]["static"]})
    words = ("plan", pack / "network.pt2", "--extension", only, "--recipe")
    unit = by_name(run_json(*words, write_recipe(folder, **MODES["dynamic"])))["unit"]
    assert not unit["quantized"] and "by a static qconfig" in unit["reason"], unit
    maps = {"convert": {"observed_to_quantized_custom_module_class": {"dynamic": {"gated_unit.GatedUnit": "gated_unit.DynamicUnit"}}}}
    expect_bad(*words, write_recipe(folder, **maps), contains=["observed_to_quantized_custom_module_class.dynamic",
                                                               "gated_unit.GatedUnit is quantized as a whole in other modes: static"])
    wrong = {"prepare": {"float_to_observed_custom_module_class": {"dynamic": {"gated_unit.GatedUnit": "gated_unit.ObservedGatedUnit"}}}}
    expect_bad(*words, write_recipe(folder, **wrong), contains=["mode 'dynamic' has no observed class"])


def test_torch_ao_maps(folder):
    pack = made(folder)
    float_map = {"static": {"gated_unit.GatedUnit": "gated_unit.ObservedGatedUnit"}}
    quantized_map = {"static": {"gated_unit.ObservedGatedUnit": "gated_unit.QuantizedGatedUnit"}}
    for target, said in (("gated_unit.ObservedGatedUnit", ""), ("gated_unit.Other", "it becomes gated_unit.ObservedGatedUnit")):
        float_map["static"]["gated_unit.GatedUnit"] = target
        quantized_map["static"] = {target: "gated_unit.QuantizedGatedUnit"}
        recipe = write_recipe(folder, prepare={"float_to_observed_custom_module_class": float_map},
                              convert={"observed_to_quantized_custom_module_class": quantized_map})
        done = run("plan", pack / "network.pt2", "--extension", pack, "--recipe", recipe)
        assert done.returncode == 0 and (said in done.stderr if said else done.stderr == ""), (target, done.stderr)


def test_linear_custom_linear(folder):
    """One quantize and one dequantize, and Python computes the same to the bit once it knows the operators."""
    pack = made(folder)
    gated_unit.register(pack / "gated_unit.pt")
    model = torch.export.load(pack / "network.pt2").module()
    batches = torch.load(pack / "data.pt")
    with torch.no_grad():
        wanted = torch.cat([model(*batch) for batch in batches])
    for mode, least in (("static", 25), ("dynamic", 30), ("weight_only", 30)):
        document, ours, out = quantized(folder, pack, mode)
        unit = by_name(document)["unit"]
        kernel = {"static": "gated.unit_int8.default"}.get(mode, f"gated.unit_{mode}.default")
        assert unit["kernel"]["name"] == kernel and unit["kernel"]["passed"], (mode, unit["kernel"])
        assert [left for left in document["residue"] if left["node"] == "unit"] == [], document["residue"]
        reloaded = torch.jit.load(out / "model.int8.ts.pt")
        text = str(reloaded.inlined_graph)
        assert kernel.removesuffix(".default").replace(".", "::") + "(" in text, f"{mode}\n{text}"
        if mode == "static":
            assert (text.count("aten::quantize_per_tensor("), text.count("aten::dequantize(")) == (1, 1), text
        with torch.no_grad():
            theirs = torch.cat([reloaded(*batch) for batch in batches])
        assert torch.equal(theirs, ours), (mode, (theirs - ours).abs().max())
        assert sqnr(wanted, theirs) > least, (mode, sqnr(wanted, theirs))
        text = run_good("verify", out, "--data", pack / "data.pt", "--extension", pack, "--runtime",
                        ",".join(runtimes := ("torch.jit", "torch.export")[:1 + (harness.ALL or mode == "static")]))
        assert text.count("passed") == len(runtimes) and "FAILED" not in text, text
        reference = torch.export.load(out / "model.reference.pt2").module()
        with torch.no_grad():
            assert sqnr(wanted, torch.cat([reference(*batch) for batch in batches])) > least, mode


def leaf_keys(mode, leaf, printed="gated_unit.GatedUnit"):
    """A recipe of the user guide's form: the float class is a leaf, and the convert map names it under the mode."""
    prepare = {"non_traceable_module_name": ["unit"]} if leaf == "name" else {"non_traceable_module_class": [printed]}
    quantized_map = {mode: {printed: "gated_unit.Quantized"}}
    if mode == "static":
        prepare["float_to_observed_custom_module_class"] = {"static": {printed: "gated_unit.ObservedGatedUnit"}}
        quantized_map = {mode: {"gated_unit.ObservedGatedUnit": "gated_unit.QuantizedGatedUnit"}}
    return {**MODES[mode], "prepare": prepare, "convert": {"observed_to_quantized_custom_module_class": quantized_map}}


def test_every_form_of_the_user_guide(folder):
    """A leaf that the maps name is quantized in the mode of its qconfig; one of another mode, or inside another leaf, stays float."""
    pack = made(folder)

    def unit(keys):
        return by_name(run_json("plan", pack / "network.pt2", "--extension", pack, "--recipe", write_recipe(folder, **keys)))["unit"]

    for mode in MODES:
        for leaf, printed in (("class", "gated_unit.GatedUnit"), ("class", "<class 'gated_unit.GatedUnit'>"), ("name", "gated_unit.GatedUnit")):
            keys = leaf_keys(mode, leaf, printed)
            found = unit(keys)
            assert found["quantized"] and found["mode"] == mode, (mode, leaf, found)
            for other in set(MODES) - {mode}:
                found = unit({**keys, **{key: MODES[other].get(key) for key in ("qconfigs", "mapping") if key in MODES[other]}} if MODES[other] else
                             {key: value for key, value in keys.items() if key in ("prepare", "convert")})
                assert not found["quantized"] and f"in mode {mode}" in found["reason"] and f"is {other}" in found["reason"], (mode, other, found)
    several = leaf_keys("dynamic", "class")
    several["convert"]["observed_to_quantized_custom_module_class"]["weight_only"] = {"gated_unit.GatedUnit": "gated_unit.Quantized"}
    assert unit({**several, **MODES["weight_only"]})["mode"] == "weight_only" and unit(several)["mode"] == "dynamic"
    assert not unit({**several, "mapping": None or {"global": "default_dynamic", "module_name": [["unit", None]]}})["quantized"]
    plain = leaf_keys("dynamic", "class")
    assert "non_traceable_module_class" in unit({**plain, "convert": {}})["reason"]


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.last = torch.nn.LSTM(6, 5), torch.nn.GRU(5, 5), torch.nn.Linear(5, 3)

    def forward(self, x):
        return self.last(self.gru(self.lstm(x)[0])[0])


def test_leaves_of_pytorchs_own_classes(folder):
    """Recurrent layers as leaves with a dynamic map, as built in."""
    harness.export_model(Recurrent(), (torch.randn(4, 2, 6),), folder / "m.pt2", dynamic=False)
    dynamic = {f"torch.nn.{name}": f"torch.ao.nn.quantized.dynamic.{name}" for name in ("LSTM", "GRU")}
    keys = {"mapping": {"global": "default_dynamic"}, "prepare": {"non_traceable_module_class": list(dynamic)},
            "convert": {"observed_to_quantized_custom_module_class": {"dynamic": dynamic}}}
    for mapped, quantized_too in ((keys, True), ({**keys, "convert": {}}, False)):
        document = run_json("plan", folder / "m.pt2", "--recipe", write_recipe(folder, **mapped))
        nodes = by_name(document)
        assert all(nodes[name]["quantized"] == quantized_too for name in ("lstm", "gru")) and nodes["linear"]["quantized"], nodes
        assert not [w for w in document["warnings"] if "has no effect" in w], document["warnings"]


class DynamicUnit(torch.nn.Module):
    """What a user of torch.ao writes for the dynamic mode."""

    @classmethod
    def from_observed(cls, unit):
        made = cls()
        observer = unit.qconfig.weight()
        observer(unit.linear.weight)
        scale, zero_point = observer.calculate_qparams()
        made.weight = torch.quantize_per_tensor(unit.linear.weight, float(scale), int(zero_point), torch.qint8)
        made.bias = unit.linear.bias
        return made

    def forward(self, x):
        return gated_unit.Operators().unit_dynamic(x, self.weight, self.bias)


def test_a_dynamic_leaf_equals_torch_ao(folder):
    import numpy
    from torch.ao.quantization import QConfigMapping, default_dynamic_qconfig
    from torch.ao.quantization.fx.custom_config import ConvertCustomConfig, PrepareCustomConfig
    from torch.ao.quantization.quant_type import QuantType
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

    pack = made(folder)
    torch.manual_seed(5)
    model = gated_unit.Network().eval()
    batches = torch.load(pack / "data.pt")
    prepared = prepare_fx(model, QConfigMapping().set_global(default_dynamic_qconfig), batches[0],
                          PrepareCustomConfig().set_non_traceable_module_classes([gated_unit.GatedUnit]))
    theirs = convert_fx(prepared, ConvertCustomConfig().set_observed_to_quantized_mapping(gated_unit.GatedUnit, DynamicUnit, QuantType.DYNAMIC))
    with torch.no_grad():
        wanted = torch.cat([theirs(*batch) for batch in batches])
    run_good("quantize", pack / "network.pt2", "--data", pack / "data.pt", "--out", folder / "out", "--device", "cpu", "--extension", pack,
             "--recipe", write_recipe(folder, **leaf_keys("dynamic", "class")), "--eval", keeping(folder / "ours.npz"), "--export", "none")
    arrays = numpy.load(folder / "ours.npz")
    assert sqnr(wanted, torch.from_numpy(arrays[arrays.files[0]])) > 60, sqnr(wanted, torch.from_numpy(arrays[arrays.files[0]]))


def test_weights_alone_between_static_layers(folder):
    """A kernel that takes floats is checked on what its neighbours' integers stand for."""
    pack = made(folder)
    recipe = write_recipe(folder, **{**MODES["weight_only"], "mapping": {"global": "x86", "module_name": [["unit", "weight"]]}})
    run_good("quantize", pack / "network.pt2", "--data", pack / "data.pt", "--out", folder / "out", "--device", "cpu", "--extension", pack,
             "--recipe", recipe, "--export", "torchscript")
    document = json.loads((folder / "out" / "result.json").read_text())
    kernel = by_name(document)["unit"]["kernel"]
    assert kernel["name"] == "gated.unit_weight_only.default" and kernel["passed"], document["residue"]


def test_what_is_observed_instead(folder):
    """A pack may run an operator of its own while calibrating."""
    pack = made(folder)
    observed = with_module(pack, "observed", observed={"to": "gated::unit_weight_only", "arguments": {
        "x": "input", "weight": {"parameter": "linear.weight"}, "bias": {"parameter": "linear.bias"}}})
    code = run_good("inspect", pack / "network.pt2", "--code", "--form", "prepared", "--extension", observed)
    assert "(unit): ObservedGatedUnit()" in code and "self.unit(" in code, code
    document, _, _ = quantized(folder, observed, "static")
    assert by_name(document)["unit"]["kernel"]["passed"], by_name(document)["unit"]


def test_a_kernel_that_computes_otherwise_is_refused(folder):
    pack = made(folder)
    arguments = module_of(pack)["modes"]["static"]["arguments"]
    for place, wrong, why in (("bias", {"bias": {"prepack": "gated::negated", "arguments": {"x": {"parameter": "linear.bias"}}}}, "steps away"),
                              ("scale", {"output_scale": {"value": 0.5}}, "its result has scale 0.5")):
        copy = with_static(pack, place, arguments={**arguments, **wrong})
        torch.jit.script(Negated()).save(str(copy / "negated.pt"))
        scripts = json.loads((copy / "extension.json").read_text())["scripts"]
        copy = changed(copy, place + "_and_script", scripts={**scripts, "negated.pt": {"gated::negated": "forward"}})
        document, _, _ = quantized(folder, copy, "static")
        unit = by_name(document)["unit"]
        assert unit["quantized"] and not unit["kernel"]["passed"], unit
        reasons = [left["reason"] for left in document["residue"] if left["node"] == "unit"]
        assert any("kernel check: gated.unit_int8" in reason and why in reason for reason in reasons), document["residue"]


def test_modules_that_do_not_fit(folder):
    pack = made(folder)
    other = with_static(pack, "other", arguments={**module_of(pack)["modes"]["static"]["arguments"], "bias": {"parameter": "linear.bais"}})
    unit = by_name(run_json("plan", pack / "network.pt2", "--extension", other))["unit"]
    assert not unit["quantized"] and "needs its parameter 'linear.bais'" in unit["reason"], unit
    assert "linear.bias" in unit["suggestion"], unit
    second = with_static(pack, "second", arguments={**module_of(pack)["modes"]["static"]["arguments"], "x": {"input": 1}})
    unit = by_name(run_json("plan", pack / "network.pt2", "--extension", second))["unit"]
    assert not unit["quantized"] and "needs 2 inputs, this one reads 1" in unit["reason"], unit


def test_json_that_is_wrong(folder):
    pack = made(folder)

    def bad(copy, *contains):
        expect_bad("extensions", "check", copy, contains=["extension.json", *contains])

    bad(changed(pack, "files", scripts=None), "neither 'libraries' nor 'scripts'")
    bad(changed(pack, "outside", scripts={"../gated_unit.pt": {"gated::unit": "forward"}}), "is not a file beside extension.json")
    bad(changed(pack, "empty", scripts={"gated_unit.pt": {}}), "from operators to the script's methods")
    bad(changed(pack, "aten", scripts={"gated_unit.pt": {"aten::relu": "unit_int8"}}), "'aten::relu' is not the pack's operator")
    bad(with_module(pack, "torch", **{"class": "torch.nn.Linear"}), "'torch.nn.Linear' is not a class of the user's own")
    bad(with_module(pack, "mode", modes={"qat": {}}), "unknown key 'qat'", "static")
    bad(with_module(pack, "none", modes={}), "the mode is missing")
    bad(with_module(pack, "scale", modes={"dynamic": {"to": "gated::unit_int8", "arguments": {**ARGUMENTS, "output_scale": "output_scale"}}}),
        "mode 'dynamic' gives float results")
    bad(with_static(pack, "source", arguments={**ARGUMENTS, "weight": "weight"}), "'weight' is not a source of an argument", "parameter")
    bad(with_static(pack, "given", arguments=ARGUMENTS), "custom module gated_unit.GatedUnit", "gives nothing for 'output_scale'")
    bad(with_static(pack, "kernel", to="gated::unit_int"), "register no operator 'gated::unit_int'", "did you mean 'gated::unit_int8'?")


def test_scripts_that_are_wrong(folder):
    pack = made(folder)
    copy = changed(pack, "method", scripts={"gated_unit.pt": {"gated::unit_int8": "unit_int"}})
    expect_bad("extensions", "check", copy, contains=["gated_unit.pt", "it has no method 'unit_int'", "did you mean 'unit_int8'?"])
    copy = changed(pack, "broken")
    (copy / "gated_unit.pt").write_bytes(b"PK\x03\x04 and no more")
    expect_bad("extensions", "check", copy, contains=["gated_unit.pt", "is not TorchScript that can be loaded"])
    (copy / "gated_unit.pt").unlink()
    expect_bad("extensions", "check", copy, contains=["gated_unit.pt", "no such file"])
    twin = changed(pack, "twin", name="twin")
    expect_bad("plan", pack / "network.pt2", "--extension", pack, "--extension", twin,
               contains=["gated_unit.pt", "there is an operator gated::unit_dynamic already"])


if __name__ == "__main__":
    harness.main(__name__)

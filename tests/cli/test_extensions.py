# SPDX-License-Identifier: Apache-2.0
"""Extension packs: an operator of one's own from the plan to its kernel and back into Python; what a pack may do wrong."""

import json
import shutil
from pathlib import Path
from typing import Optional

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

from harness import PROGRAM, by_name, expect_bad, export_model, keeping, main, run, run_good, run_json, write_recipe

PACK = Path(PROGRAM).parent.parent / "extensions" / "scaled_linear"
HOSTILE = PACK.parent / "hostile"
torch.ops.load_library(str(PACK / "libscaled_linear.so"))


class Net(torch.nn.Module):
    """Operators of the pack between PyTorch's."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 16)
        self.relu = torch.nn.ReLU()
        self.weight = torch.nn.Parameter(torch.randn(8, 16) * 0.3)
        self.bias = torch.nn.Parameter(torch.randn(8) * 0.1)
        self.last = torch.nn.Linear(8, 4)

    def forward(self, x):
        x = torch.ops.mypack.swap_halves(self.relu(self.first(x)))
        return self.last(torch.ops.mypack.scaled_linear(x, self.weight, self.bias, 0.5))


class Shared(Net):
    """What the pack's operator reads is read again after it."""

    def __init__(self):
        super().__init__()
        self.beside = torch.nn.Linear(16, 4)

    def forward(self, x):
        x = torch.ops.mypack.swap_halves(self.relu(self.first(x)))
        made = self.last(torch.ops.mypack.scaled_linear(x, self.weight, self.bias, 0.5))
        return made + self.beside(x)


def network(folder, kind=Net):
    """The model in both file forms, data for it, and the model itself."""
    torch.manual_seed(7)
    model, x = kind().eval(), torch.randn(4, 16)
    export_model(model, (x,), folder / "m.pt2")
    torch.jit.save(torch.jit.trace(model, x), folder / "m.pt")
    torch.save([(torch.randn(8, 16),) for _ in range(6)], folder / "data.pt")
    return model, folder / "m.pt2", folder / "data.pt"


def copied(folder, place="pack", **changes):
    """A copy of the pack with keys of its JSON changed; None takes one out."""
    pack = folder / place
    shutil.copytree(PACK, pack)
    document = json.loads((pack / "extension.json").read_text())
    for key, value in changes.items():
        document[key] = value
        if value is None:
            del document[key]
    (pack / "extension.json").write_text(json.dumps(document))
    return pack


def test_check_tells_what_a_pack_adds(folder):
    text = run_good("extensions", "check", PACK)
    for word in ("name      scaled_linear", f"path      {PACK}", "operator  mypack::scaled_linear (input x, weight weight, bias bias)",
                 "moves values mypack::swap_halves", "kernel    mypack::scaled_linear_int8", "prepack   mypack::scaled_linear_prepack",
                 "pattern   torch.ops.mypack.scaled_linear", "lowering  mypack.scaled_linear -> mypack::scaled_linear_int8"):
        assert word in text, f"{word} is not in\n{text}"
    document = run_json("extensions", "check", PACK)
    assert document["name"] == "scaled_linear" and len(document["sha256"]) == 64 and document["torch"] == "2.11.0"
    assert document["sha256"] in text
    assert {entry["kind"] for entry in document["operators"]} == {"operator", "moves values", "kernel", "prepack"}
    # Its content is its identity.
    other = copied(folder, description="another")
    assert run_json("extensions", "check", other)["sha256"] != document["sha256"]


def test_nothing_is_loaded_unasked(folder):
    _, model, data = network(folder)
    node = by_name(run_json("plan", model))["scaled_linear"]
    assert not node["quantized"] and "is unknown to this LibTorch" in node["reason"], node
    recipe = write_recipe(folder, extensions=["scaled_linear"])
    expect_bad("plan", model, "--recipe", recipe, contains=["recipe.json", "'scaled_linear' is not loaded", "--extension DIR"])
    recipe = write_recipe(folder, extensions=["scaled_liner"])
    expect_bad("plan", model, "--recipe", recipe, "--extension", PACK, contains=["'scaled_liner'", "did you mean 'scaled_linear'?"])
    expect_bad("quantize", model, "--data", data, "--out", folder / "out", "--device", "cpu",
               contains=["m.pt2", "--extension DIR"], out=folder / "out")


def test_plan_names_the_packs_patterns(folder):
    _, model, _ = network(folder)
    for words in ([model, "--extension", PACK], ["--extension", PACK, model], [model, "--extension", PACK, "--extension", PACK]):
        nodes = by_name(run_json("plan", *words))
        node = nodes["scaled_linear"]
        assert node["quantized"] and node["pattern"] == ["torch.ops.mypack.scaled_linear"], node
        assert node["weight"]["qscheme"] == "per_channel_symmetric" and node["output"]["dtype"] == "quint8", node
        assert nodes["swap_halves"]["quantized"] and nodes["swap_halves"]["output"]["shared_with"] == "relu", nodes["swap_halves"]
    # Rules by the operator's name, in any of its spellings.
    for spelled in ("torch.ops.mypack.scaled_linear", "mypack::scaled_linear"):
        recipe = write_recipe(folder, mapping={"global": "x86", "object_type": [[spelled, None]]})
        nodes = by_name(run_json("plan", model, "--extension", PACK, "--recipe", recipe))
        assert not nodes["scaled_linear"]["quantized"] and spelled in nodes["scaled_linear"]["reason"], nodes["scaled_linear"]
    recipe = write_recipe(folder, mapping={"global": "x86", "object_type": [["mypack::scaled_liner", None]]})
    expect_bad("plan", model, "--extension", PACK, "--recipe", recipe, contains=["scaled_liner", "did you mean 'torch.ops.mypack.scaled_linear'?"])


def quantized(folder, model, data, *words):
    """The result document, and the lowered model's outputs as the program runs it."""
    out = folder / "out"
    run_good("quantize", model, "--data", data, "--out", out, "--device", "cpu", "--extension", PACK, "--eval", keeping(folder / "outputs.npz"), *words)
    import numpy

    arrays = numpy.load(folder / "outputs.npz")
    return json.loads((out / "result.json").read_text()), torch.from_numpy(arrays[arrays.files[0]])


def check_kernels(document):
    nodes = by_name(document)
    node = nodes["scaled_linear"]
    assert node["kernel"]["name"] == "mypack.scaled_linear_int8.default" and node["kernel"]["passed"], node["kernel"]
    assert nodes["relu"]["kernel"]["name"].startswith("quantized.linear_relu"), nodes["relu"]
    assert nodes["swap_halves"]["kernel"]["name"] == "mypack.swap_halves.default", nodes["swap_halves"]
    assert [left for left in document["residue"] if left["kind"] == "unlowered"] == [], document["residue"]


def test_the_whole_way(folder):
    model, file, data = network(folder)
    document, ours = quantized(folder, file, data, "--export", "torchscript,pt2,pt2-reference")
    check_kernels(document)
    assert document["extensions"] == [{"name": "scaled_linear", "sha256": run_json("extensions", "check", PACK)["sha256"]}]
    recipe = json.loads((folder / "out" / "recipe.json").read_text())
    assert recipe["extensions"] == ["scaled_linear"]
    batches = torch.load(folder / "data.pt")
    reloaded = torch.jit.load(folder / "out" / "model.int8.ts.pt")
    with torch.no_grad():
        theirs = torch.cat([reloaded(*batch) for batch in batches])
        wanted = torch.cat([model(*batch) for batch in batches])
    assert torch.equal(theirs, ours), (theirs - ours).abs().max()
    assert (theirs - wanted).abs().max() < 0.1 * wanted.abs().max()
    assert "scaled_linear_int8" in str(reloaded.graph)
    for name in ("model.int8.pt2", "model.reference.pt2"):
        program = torch.export.load(folder / "out" / name).module()
        with torch.no_grad():
            made = torch.cat([program(*batch) for batch in batches])
        assert (made - wanted).abs().max() < 0.1 * wanted.abs().max(), name


def test_a_traced_model(folder):
    model, _, data = network(folder)
    document, ours = quantized(folder, folder / "m.pt", data)
    check_kernels(document)
    reloaded = torch.jit.load(folder / "out" / "model.int8.ts.pt")
    with torch.no_grad():
        assert torch.equal(torch.cat([reloaded(*batch) for batch in torch.load(folder / "data.pt")]), ours)


def test_results_ask_for_their_packs(folder):
    _, file, data = network(folder)
    quantized(folder, file, data)
    expect_bad("compare", file, "--result", folder / "out", "--data", data, contains=["recipe.json", "'scaled_linear' is not loaded"])
    run_good("compare", file, "--result", folder / "out", "--data", data, "--extension", PACK)
    text = run_good("verify", folder / "out", "--data", data, "--extension", PACK)
    assert "torch.jit" in text and "FAILED" not in text, text


def test_code_of_every_form(folder):
    _, file, _ = network(folder)
    code = run_good("inspect", file, "--code", "--extension", PACK)
    assert "torch.ops.mypack.scaled_linear.default(" in code, code
    code = run_good("inspect", file, "--code", "--form", "lowered", "--extension", PACK)
    assert "torch.ops.mypack.scaled_linear_int8.default(" in code and "torch.ops.mypack.scaled_linear.default(" not in code, code


def test_rows_by_the_recipe(folder):
    _, file, data = network(folder)
    words = ["--extension", PACK]
    recipe = write_recipe(folder, convert={"lowering": {"remove": [{"pattern": ["mypack::scaled_linear"]}]}})
    document, _ = quantized(folder, file, data, "--recipe", recipe)
    node = by_name(document)["scaled_linear"]
    left = [entry for entry in document["residue"] if entry["node"] == "scaled_linear"]
    assert node["quantized"] and left and "no row of the lowering table for mypack.scaled_linear" in left[0]["reason"], left
    # Other operators may take the pack's kernel, and it is held to the reference form.
    recipe = write_recipe(folder, convert={"lowering": {"add": [{"pattern": ["torch.nn.Linear"], "to": "mypack::scaled_linear_int8"}]}})
    document, _ = quantized(folder, file, data, "--recipe", recipe)
    reasons = [entry["reason"] for entry in document["residue"]]
    assert any("has no argument 'factor'" in reason for reason in reasons), reasons
    # An operator of the pack that the pack itself has no row for gets one.
    pack = copied(folder, "bare", lowering=[])
    row = json.loads((PACK / "extension.json").read_text())["lowering"][1]
    words = ["--extension", pack]
    recipe = write_recipe(folder, convert={"lowering": {"add": [{"pattern": row["pattern"], "to": "same"}]}})
    assert run_json("plan", file, *words, "--recipe", recipe)["nodes"]
    words = ["--extension", PACK]
    for pattern, kernel, near in ((["mypack::scaled_linear"], "mypack::scaled_linear_int", "did you mean 'mypack::scaled_linear_int8'?"),
                                  (["mypack::scaled_liner"], "mypack::scaled_linear_int8", "did you mean 'mypack.scaled_linear'?")):
        recipe = write_recipe(folder, convert={"lowering": {"add": [{"pattern": pattern, "to": kernel}]}})
        expect_bad("plan", file, *words, "--recipe", recipe, contains=["convert.lowering.add", near])


def test_a_kernel_that_computes_otherwise_is_refused(folder):
    _, file, data = network(folder)
    wrong = json.loads((PACK / "extension.json").read_text())["lowering"]
    wrong[0]["arguments"]["packed"]["arguments"]["factor"] = {"value": 0.75}
    pack = copied(folder, lowering=wrong)
    out = folder / "wrong"
    run_good("quantize", file, "--data", data, "--out", out, "--device", "cpu", "--extension", pack)
    document = json.loads((out / "result.json").read_text())
    node = by_name(document)["scaled_linear"]
    assert node["quantized"] and not node["kernel"]["passed"], node
    assert any("kernel check: mypack.scaled_linear_int8" in entry["reason"] for entry in document["residue"]), document["residue"]


class Kernels(torch.nn.Module):
    """Kernels with the right values that the nodes beside them cannot live with."""

    def exact(self, x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], factor: float) -> torch.Tensor:
        return torch.nn.functional.linear(x.dequantize(), weight.dequantize(), bias) * factor

    @torch.jit.export
    def fits(self, x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], factor: float, scale: float, zero: int) -> torch.Tensor:
        return torch.quantize_per_tensor(self.exact(x, weight, bias, factor), scale, zero, x.dtype)

    @torch.jit.export
    def writes(self, x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], factor: float, scale: float, zero: int) -> torch.Tensor:
        made = self.fits(x, weight, bias, factor, scale, zero)
        x.copy_(torch.quantize_per_tensor(torch.zeros_like(x.dequantize()), x.q_scale(), x.q_zero_point(), x.dtype))
        return made

    @torch.jit.export
    def floats(self, x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], factor: float, scale: float, zero: int) -> torch.Tensor:
        return self.fits(x, weight, bias, factor, scale, zero).dequantize()

    @torch.jit.export
    def signed(self, x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], factor: float, scale: float, zero: int) -> torch.Tensor:
        return torch.quantize_per_tensor(self.exact(x, weight, bias, factor), scale, zero - 128, torch.qint8)


def test_a_kernel_that_spoils_its_neighbours_is_refused(folder):
    _, file, data = network(folder, Shared)
    arguments = {"x": "input", "weight": "weight", "bias": "bias", "factor": {"argument": "factor"}, "scale": "output_scale", "zero": "output_zero_point"}
    for name, why in (("fits", ""), ("writes", "it writes into its input"), ("floats", "its result is Float where QUInt8 is expected"),
                      ("signed", "its result is QInt8 where QUInt8 is expected")):
        pack = copied(folder, name, scripts={"kernels.pt": {f"kernels::{name}": name}},
                      lowering=[{"pattern": ["mypack::scaled_linear"], "to": f"kernels::{name}", "arguments": arguments}])
        torch.jit.script(Kernels()).save(str(pack / "kernels.pt"))
        out = folder / f"out_{name}"
        run_good("quantize", file, "--data", data, "--out", out, "--device", "cpu", "--extension", pack, "--export", "torchscript")
        nodes = by_name(json.loads((out / "result.json").read_text()))
        assert nodes["scaled_linear"]["kernel"]["passed"] == (not why), (name, nodes["scaled_linear"]["kernel"])
        assert why in run_good("compare", file, "--result", out, "--data", data, "--device", "cpu", "--extension", pack), name
        for neighbour in ("linear_1", "linear_2"):
            assert nodes[neighbour]["kernel"]["passed"], (name, nodes[neighbour]["kernel"])


def test_json_that_is_wrong(folder):
    def bad(place, *contains, **changes):
        expect_bad("extensions", "check", copied(folder, place, **changes), contains=["extension.json", *contains])

    base = json.loads((PACK / "extension.json").read_text())
    bad("version", "it is built against torch 2.10.0, this program has 2.11.0", "build it again", torch="2.10.0")
    bad("untold", "the key 'torch' is missing", torch=None)
    bad("key", "unknown key 'lowerings'", "did you mean 'lowering'?", lowerings=[])
    bad("format", "quantscope.extension", format="quantscope.recipe")
    bad("outside", "is not a file beside extension.json", libraries=["../libscaled_linear.so"])
    bad("operator", "register no operator 'mypack::scaled_liner'", "did you mean 'mypack::scaled_linear'?",
        operators={"mypack::scaled_liner": {}})
    bad("argument", "has no argument 'wieght'", "did you mean 'weight'?", operators={"mypack::scaled_linear": {"weight": "wieght"}})
    bad("twice", "'weight' is named twice", operators={"mypack::scaled_linear": {"weight": "weight", "carried": ["weight"]}})
    bad("aten", "'aten::relu' is not the pack's operator", operators={"aten::relu": {}})
    row = base["lowering"][0]
    bad("kernel", "register no operator 'mypack::scaled_linear_int'", "did you mean 'mypack::scaled_linear_int8'?",
        lowering=[{**row, "to": "mypack::scaled_linear_int"}])
    bad("given", "gives nothing for 'output_scale'",
        lowering=[{**row, "arguments": {k: v for k, v in row["arguments"].items() if k != "output_scale"}}])
    bad("source", "'outptu_scale' is not a source of an argument", lowering=[{**row, "arguments": {**row["arguments"], "output_scale": "outptu_scale"}}])
    bad("pattern", "'mypack::scaled_liner'", "did you mean 'mypack.scaled_linear'?", lowering=[{**row, "pattern": ["mypack::scaled_liner"]}])
    bad("backend", "torch.ops.mypack.scaled_liner", "did you mean 'mypack.scaled_linear'?",
        patterns=[{**base["patterns"][0], "pattern": ["torch.ops.mypack.scaled_liner"]}])
    pack = copied(folder, "broken")
    (pack / "extension.json").write_text('{"format": "quantscope.extension",')
    expect_bad("extensions", "check", pack, contains=["extension.json", "line 1"])
    (pack / "extension.json").unlink()
    expect_bad("extensions", "check", pack, contains=["extension.json", "no such file"])
    expect_bad("extensions", "check", folder / "nowhere", contains=["nowhere", "no such folder"])


def test_backends_of_packs(folder):
    """A backend of one's own may name a pack's operators; it is checked with the pack."""
    entry = json.loads((PACK / "extension.json").read_text())["patterns"][0]
    def chip(name, pattern):
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"format": "quantscope.backend", "version": 1, "name": name, "description": "", "patterns": [{**entry, "pattern": pattern}]}))
        return file

    good, wrong = chip("good", entry["pattern"]), chip("wrong", ["torch.ops.mypack.scaled_liner"])
    run_good("backends", "check", good, "--extension", PACK)
    for words, why in (((good,), "--extension DIR"), ((wrong, "--extension", PACK), "did you mean 'mypack.scaled_linear'?")):
        done = run("backends", "check", *words)
        assert done.returncode == 1 and why in done.stderr, done.stderr


def test_libraries_that_misbehave(folder):
    _, model, _ = network(folder)
    for kind, *words in (("throws", "raises while it is loaded", "no licence was found"), ("throws_number", "while it is loaded"),
                         ("crashes", "crashes while it is loaded (signal 11)"), ("exits", "ends the program while it is loaded"),
                         ("waits", "waits without end while it is loaded"), ("lacks", "undefined symbol", "build it against the LibTorch 2.11.0")):
        library = f"lib{kind}.so"
        pack = copied(folder, kind, libraries=[library])
        shutil.copy(HOSTILE / library, pack)
        expect_bad("extensions", "check", pack, contains=[library, *words])
    expect_bad("plan", model, "--extension", folder / "crashes", contains=["libcrashes.so", "crashes"])
    (folder / "lacks" / "liblacks.so").write_bytes(b"\x7fELF and no more")
    expect_bad("extensions", "check", folder / "lacks", contains=["liblacks.so", "cannot be loaded"])
    (folder / "lacks" / "liblacks.so").unlink()
    expect_bad("extensions", "check", folder / "lacks", contains=["liblacks.so", "no such file"])
    # Two packs cannot register the same operators.
    twin = copied(folder, "twin", name="twin")
    done = run("plan", model, "--extension", PACK, "--extension", twin)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "mypack" in done.stderr, done.stderr


if __name__ == "__main__":
    main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""Values that are objects of a pack's class: the field that the pack names is quantized, the others pass untouched."""

import json
import shutil
import warnings

import numpy
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

from harness import all_calls, by_name, expect_bad, fake_quantize, keeping, main, observed, qparams, run, run_good, run_json, sqnr
from site_models import PACK, Decides, Forked, Held, Methods, Named, Operators, Returned, SparseTensor, Whole, register_fake, scripted, sites

warnings.filterwarnings("ignore")


def quantized(folder, file, data, *words):
    """The result document, and the lowered model's outputs as the program runs it, in the model's order."""
    out = folder / "out"
    run_good("quantize", file, "--data", data, "--out", out, "--device", "cpu", "--extension", PACK, "--eval", keeping(folder / "outputs.npz"), *words)
    arrays = numpy.load(folder / "outputs.npz")
    return json.loads((out / "result.json").read_text()), [torch.from_numpy(arrays[name]) for name in arrays.files]


def changed(folder, place="pack", **changes):
    """A copy of the pack with keys of its JSON changed; None takes one out."""
    pack = folder / place
    shutil.copytree(PACK, pack)
    document = json.loads((pack / "extension.json").read_text())
    document.update(changes)
    (pack / "extension.json").write_text(json.dumps({key: value for key, value in document.items() if value is not None}))
    return pack


def test_check_tells_the_class(folder):
    text = run_good("extensions", "check", PACK)
    assert "class     sites::SparseTensor (features; get sites::SparseTensor_features, sites::features; replace " in text, text
    (told,) = run_json("extensions", "check", PACK)["classes"]
    assert told["class"] == "sites::SparseTensor" and told["field"] == "features", told
    assert told["replace"] == ["sites::SparseTensor_replace_feature", "sites::replace_feature"], told


def test_plan_goes_through_the_class(folder):
    for kind in (Methods, Operators):
        place = folder / kind.__name__
        place.mkdir()
        _, file, _ = scripted(place, kind)
        nodes = by_name(run_json("plan", file, "--extension", PACK, "--extension", PACK))
        assert nodes["linear"]["quantized"] and nodes["relu"]["quantized"], nodes["linear"]
        assert nodes["linear"]["pattern"] == ["torch.ops.sites.linear", "torch.nn.ReLU"], nodes["linear"]
        assert nodes["linear_1"]["quantized"] and nodes["linear_1"]["pattern"] == ["torch.ops.sites.linear"], nodes["linear_1"]
        assert nodes["linear"]["weight"]["qscheme"] == "per_channel_symmetric", nodes["linear"]["weight"]
        assert nodes["linear_1"]["output"]["dtype"] == "quint8", nodes["linear_1"]["output"]


def test_the_whole_way(folder):
    for kind in (Methods, Operators):
        place = folder / kind.__name__
        place.mkdir()
        model, file, data = scripted(place, kind)
        document, ours = quantized(place, file, data)
        nodes, calls = by_name(document), torch.load(data)
        # The field is observed as the tensor that it is.
        with torch.no_grad():
            first = [torch.nn.functional.linear(features, model.w1, model.b1).relu() for features, _ in calls]
            second = [torch.nn.functional.linear(features, model.w2) for features in first]
        made = next(node for node in document["nodes"] if node["op"] in ("sites.SparseTensor_new.default", "sites.make.default"))
        assert qparams(made["output"]) == observed([features for features, _ in calls]), made
        assert qparams(nodes["relu"]["output"]) == observed(first), nodes["relu"]["output"]
        assert qparams(nodes["linear_1"]["output"]) == observed(second), nodes["linear_1"]["output"]
        # The kernel takes whole objects, in the library's own way.
        kernel = nodes["relu"]["kernel"]
        assert kernel["name"].startswith("sites.linear_int8") and kernel["passed"], kernel
        left = [entry for entry in document["residue"] if entry["node"] == "linear_1"]
        assert left and "no row of the lowering table" in left[0]["reason"], document["residue"]
        # What the integers give, computed in Python from the document alone.
        with torch.no_grad():
            x = [fake_quantize(features, made["output"]) for features, _ in calls]
            x = [fake_quantize((torch.nn.functional.linear(one, fake_quantize(model.w1, nodes["linear"]["weight"]), model.b1)).relu(),
                               nodes["relu"]["output"]) for one in x]
            x = [fake_quantize(torch.nn.functional.linear(one, fake_quantize(model.w2, nodes["linear_1"]["weight"])),
                               nodes["linear_1"]["output"]) for one in x]
            images = [SparseTensor(one, places, [6, 6], 2).dense() for one, (_, places) in zip(x, calls)]
        wanted = all_calls(model, calls)
        assert sqnr(wanted[0], ours[0]) > 25 and nodes["linear_1"]["error"]["cumulative"]["sqnr_db"] > 25, nodes["linear_1"]["error"]
        told = nodes["linear_1"]["error"]["cumulative"]["sqnr_db"]
        assert abs(told - sqnr(torch.cat(second), torch.cat(x))) < 0.05, (told, sqnr(torch.cat(second), torch.cat(x)))
        assert images[0].shape == (2, 5, 6, 6)
        # The other fields are the same to the bit.
        assert torch.equal(ours[1], wanted[1]), "the places changed"
        # Python runs the file to the same bits.
        reloaded = torch.jit.load(place / "out" / "model.int8.ts.pt")
        assert "sites.linear_int8" in str(reloaded.inlined_graph).replace("::", "."), reloaded.inlined_graph
        assert "parts" not in str(reloaded.inlined_graph), reloaded.inlined_graph
        theirs = all_calls(reloaded, calls)
        assert torch.equal(theirs[0], ours[0]) and torch.equal(theirs[1], ours[1]), sqnr(ours[0], theirs[0])


def test_fusions_of_objects(folder):
    """Operators between which an object passes become one kernel, which gives the last one's."""
    model, file, data = scripted(folder, Whole)
    document = json.loads((PACK / "extension.json").read_text())
    row, pattern = document["lowering"][0], document["patterns"][0]
    pack = changed(folder, operators={**document["operators"], "sites::relu": {"input": "x"}},
                   patterns=[*document["patterns"], {**pattern, "pattern": ["torch.ops.sites.linear", "torch.ops.sites.relu"]}],
                   lowering=[{**row, "pattern": ["sites::linear", "sites::relu"]}])
    run_good("quantize", file, "--data", data, "--out", folder / "out", "--device", "cpu", "--extension", pack, "--eval", keeping(folder / "outputs.npz"))
    nodes = by_name(json.loads((folder / "out" / "result.json").read_text()))
    assert nodes["relu"]["kernel"]["name"].startswith("sites.linear_int8") and nodes["relu"]["kernel"]["passed"], nodes["relu"]
    arrays, calls = numpy.load(folder / "outputs.npz"), torch.load(data)
    ours, wanted = [torch.from_numpy(arrays[name]) for name in arrays.files], all_calls(model, calls)
    theirs = all_calls(torch.jit.load(folder / "out" / "model.int8.ts.pt"), calls)
    assert sqnr(wanted[0], ours[0]) > 25 and torch.equal(wanted[1], ours[1]), sqnr(wanted[0], ours[0])
    assert all(torch.equal(a, b) for a, b in zip(theirs, ours))


def test_verify_and_compare(folder):
    _, file, data = scripted(folder, Methods)
    quantized(folder, file, data)
    text = run_good("verify", folder / "out", "--data", data, "--extension", PACK)
    assert "torch.jit" in text and "FAILED" not in text, text
    document = run_json("compare", file, "--result", folder / "out", "--data", data, "--device", "cpu", "--extension", PACK)
    assert by_name(document)["linear_1"]["error"] == by_name(json.loads((folder / "out" / "result.json").read_text()))["linear_1"]["error"]
    expect_bad("compare", file, "--result", folder / "out", "--data", data,
               contains=["m.pt", "sites::SparseTensor", "--extension DIR"])


def test_objects_that_fork(folder):
    model, file, data = scripted(folder, Forked)
    document, ours = quantized(folder, file, data)
    nodes, calls = by_name(document), torch.load(data)
    assert nodes["linear"]["quantized"] and nodes["linear_1"]["quantized"] and nodes["pooled"]["quantized"], nodes
    for name in ("relu", "relu_1"):
        assert nodes[name]["kernel"]["name"].startswith("sites.linear_int8") and nodes[name]["kernel"]["passed"], nodes[name]
    wanted = all_calls(model, calls)
    assert sqnr(wanted[0], ours[0]) > 25 and sqnr(wanted[1], ours[1]) > 25 and torch.equal(wanted[2], ours[2])
    theirs = all_calls(torch.jit.load(folder / "out" / "model.int8.ts.pt"), calls)
    assert all(torch.equal(a, b) for a, b in zip(theirs, ours))


def test_objects_in_branches(folder):
    model, file, data = scripted(folder, Decides)
    document, ours = quantized(folder, file, data)
    nodes, calls = by_name(document), torch.load(data)
    assert nodes["linear"]["quantized"] and nodes["linear_1"]["quantized"], nodes["linear"]
    wanted = all_calls(model, calls)
    assert sqnr(wanted[0], ours[0]) > 25 and torch.equal(wanted[1], ours[1])
    theirs = all_calls(torch.jit.load(folder / "out" / "model.int8.ts.pt"), calls)
    assert all(torch.equal(a, b) for a, b in zip(theirs, ours))


def test_objects_that_are_returned(folder):
    model, file, data = scripted(folder, Returned)
    run_good("quantize", file, "--data", data, "--out", folder / "out", "--device", "cpu", "--extension", PACK)
    document = json.loads((folder / "out" / "result.json").read_text())
    assert by_name(document)["relu"]["kernel"]["passed"], by_name(document)["relu"]
    reloaded = torch.jit.load(folder / "out" / "model.int8.ts.pt")
    with torch.no_grad():
        for call in torch.load(data):
            wanted, found = model(*call), reloaded(*call)
            assert sqnr(wanted.features, found.features) > 25 and torch.equal(wanted.indices, found.indices)


def test_named_tuples(folder):
    """They are taken apart: each tensor in them is a value by itself."""
    model, file, data = scripted(folder, Named)
    document, ours = quantized(folder, file, data)
    nodes, calls = by_name(document), torch.load(data)
    assert nodes["linear"]["quantized"] and nodes["relu"]["quantized"] and nodes["linear_1"]["quantized"], nodes
    assert nodes["indices"]["output"] is None, nodes["indices"]
    wanted = all_calls(model, calls)
    assert sqnr(wanted[0], ours[0]) > 25 and torch.equal(wanted[1], ours[1])
    theirs = all_calls(torch.jit.load(folder / "out" / "model.int8.ts.pt"), calls)
    assert torch.equal(theirs[0], ours[0]) and torch.equal(theirs[1], ours[1])


def test_no_pt2_of_objects_that_calls_give(folder):
    _, file, data = scripted(folder, Methods)
    words = ["quantize", file, "--data", data, "--device", "cpu", "--extension", PACK]
    for form in ("pt2", "pt2-reference"):
        expect_bad(*words, "--out", folder / form, "--export", form, out=folder / form,
                   contains=["m.pt", "a .pt2 cannot hold a call that gives an object"])
    done = run(*words, "--out", folder / "out")
    assert done.returncode == 0 and "note: left out: no pt2: " in done.stderr, done.stderr
    assert not (folder / "out" / "model.int8.pt2").exists()


def test_code_shows_whole_objects(folder):
    _, file, data = scripted(folder, Methods)
    for words in ([], ["--form", "reference"], ["--form", "lowered"]):
        code = run_good("inspect", file, "--code", "--extension", PACK, *words)
        assert "torch.ops.sites.linear.default(" in code and ".parts" not in code and "_rest" not in code, code


def test_without_an_adapter(folder):
    model, file, data = scripted(folder, Methods)
    pack = changed(folder, classes=None)
    nodes = by_name(run_json("plan", file, "--extension", pack))
    for name in ("linear", "linear_1"):
        assert not nodes[name]["quantized"] and "objects of class sites::SparseTensor" in nodes[name]["reason"], nodes[name]
        assert nodes[name]["weight"] is None and "classes" in json.dumps(nodes[name]), nodes[name]
    out = folder / "out"
    run_good("quantize", file, "--data", data, "--out", out, "--device", "cpu", "--extension", pack)
    nodes = by_name(json.loads((out / "result.json").read_text()))
    assert not nodes["linear"]["quantized"] and nodes["last" if "last" in nodes else "linear_2"]["quantized"], nodes.keys()
    calls = torch.load(data)
    wanted, theirs = all_calls(model, calls), all_calls(torch.jit.load(out / "model.int8.ts.pt"), calls)
    assert sqnr(wanted[0], theirs[0]) > 25 and torch.equal(wanted[1], theirs[1])


def test_without_the_pack(folder):
    _, file, data = scripted(folder, Methods)
    for words in (["inspect", file], ["plan", file], ["quantize", file, "--data", data, "--out", folder / "out"]):
        expect_bad(*words, contains=["m.pt", "sites::SparseTensor", "--extension DIR"], out=folder / "out")


def test_an_object_in_a_pt2(folder):
    """torch.export holds objects as constants; their methods are calls."""
    register_fake()
    torch.manual_seed(7)
    features, places = sites(1)[0]
    model = Held(SparseTensor(features, places, [6, 6], 2)).eval()
    calls = [(torch.randn(12, 4),) for _ in range(4)]
    file = folder / "m.pt2"
    torch.export.save(torch.export.export(model, calls[0], strict=False), file)
    torch.save(calls, folder / "data.pt")
    document, ours = quantized(folder, file, folder / "data.pt", "--export", "torchscript,pt2-reference")
    wanted = all_calls(model, calls)
    assert sqnr(wanted[0], ours[0]) > 25 and torch.equal(wanted[1], ours[1]), sqnr(wanted[0], ours[0])
    assert by_name(document)["linear"]["quantized"], by_name(document)["linear"]
    theirs = all_calls(torch.jit.load(folder / "out" / "model.int8.ts.pt"), calls)
    assert torch.equal(theirs[0], ours[0]) and torch.equal(theirs[1], ours[1])
    reference = all_calls(torch.export.load(folder / "out" / "model.reference.pt2").module(), calls)
    assert sqnr(wanted[0], reference[0]) > 25 and torch.equal(wanted[1], reference[1])
    nodes = by_name(run_json("plan", file))
    assert any("sites::SparseTensor" in (node["reason"] or "") for node in nodes.values()), nodes
    expect_bad("quantize", file, "--data", folder / "data.pt", "--out", folder / "other", out=folder / "other",
               contains=["m.pt2", "SparseTensor", "--extension DIR"])


class Taking(torch.nn.Module):
    """An object is what the model is given."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: SparseTensor):
        return self.linear(x.get_features())


def test_an_object_as_input(folder):
    """No data hold objects: that is said whatever the data are."""
    register_fake()
    features, places = sites(1)[0]
    model = Taking().eval()
    exported = torch.export.export(model, (SparseTensor(features, places, [6, 6], 2),), strict=False)
    torch.export.save(exported, folder / "m.pt2")
    torch.jit.script(model).save(folder / "m.pt")
    torch.save([(features,)], folder / "data.pt")
    told = {"m.pt2": ["input 'x' is an object of class sites::SparseTensor", "takes the object's fields"],
            "m.pt": ["the model's argument 'x'", "SparseTensor, which no data file can give"]}  # read without its arguments' values
    for file, data in (("m.pt2", "sample"), ("m.pt2", folder / "data.pt"), ("m.pt", folder / "data.pt")):
        expect_bad("quantize", folder / file, "--data", data, "--out", folder / "out", "--extension", PACK, out=folder / "out",
                   contains=[file, *told[file]])


def test_classes_that_are_wrong(folder):
    (entry,) = json.loads((PACK / "extension.json").read_text())["classes"]

    def bad(place, *contains, **keys):
        classes = [{key: value for key, value in {**entry, **keys}.items() if value is not None}]
        expect_bad("extensions", "check", changed(folder, place, classes=classes), contains=["extension.json", *contains])

    bad("unknown", "register no class 'sites::SparseTensr'", **{"class": "sites::SparseTensr"})
    bad("plain", "'SparseTensor' is not a class of the pack's own", **{"class": "SparseTensor"})
    bad("own", "'quantized::LinearPackedParamsBase' is not a class of the pack's own", **{"class": "quantized::LinearPackedParamsBase"})
    bad("field", "has no method or property 'feature'", "did you mean 'features'?", field="feature", get=None)
    bad("operator", "register no operator 'sites::feature'", get="sites::feature")
    bad("getter", "sites::linear", "gets the field from an object", get="sites::linear")
    bad("replace", "sites::SparseTensor_dense", "gives an object with another field", replace="dense")
    bad("replacer", "sites::linear", "gives an object with another field", replace="sites::linear")
    bad("missing", "the key 'replace' is missing", replace=None)
    bad("empty", "the list is empty", replace=[])
    bad("key", "unknown key 'feild'", "did you mean 'field'?", feild="features")
    expect_bad("extensions", "check", changed(folder, "twice", classes=[entry, entry]), contains=["extension.json", "'sites::SparseTensor' is there twice"])
    expect_bad("extensions", "check", changed(folder, "number", classes=3), contains=["extension.json", "classes"])


if __name__ == "__main__":
    main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""`--saturate observer`: integers keep to the observers' own ranges, seven bits say. Held to
torch.ao's decomposed form, which is cut so, and to PyTorch's and ONNX Runtime's numbers on the files."""

import json

import numpy
import onnx
import onnxruntime
import torch
import torch.ao.quantization as ao
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import expect_bad, main, run, run_good, sqnr, write_recipe
from torch.ao.quantization import quantize_fx

FULL = {"backend": "x86", "qconfigs": {"full": {
    "activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine"},
    "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}}, "mapping": {"global": "full"}}


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.Conv2d(8, 8, 3, padding=1)
        self.fc = torch.nn.Linear(8, 5)

    def forward(self, x):
        y = torch.relu(self.first(x))
        return self.fc((y + self.second(y)).mean((2, 3)))


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.fc = torch.nn.LSTM(6, 8, batch_first=True), torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(self.lstm(x)[0])


def images(spread, seed, count=4):
    return torch.randn(count, 3, 8, 8, generator=torch.Generator().manual_seed(seed)) * spread


def saved(folder, model, example):
    torch.export.save(torch.export.export(model, (example,)), folder / "model.pt2")
    return folder / "model.pt2"


def batches(folder, name, values):
    numpy.savez(folder / f"{name}.npz", x=torch.cat(values).numpy())
    return folder / f"{name}.npz"


def steps(file):
    """(quantize nodes of a .pt2 and of the graphs inside it, module)."""
    program = torch.export.load(file)
    nodes = [node for module in program.graph_module.modules() if isinstance(module, torch.fx.GraphModule) for node in module.graph.nodes]
    return [node for node in nodes if "quantized_decomposed.quantize_per" in str(node.target)], program.module()


def bounds(nodes):
    """The ranges that quantize nodes of fixed parameters name: the two arguments before the element type."""
    return {(node.args[-3], node.args[-2]) for node in nodes}


def codes(module, *inputs):
    """All integers that the module quantizes activations to."""
    seen = []

    class Record(torch.fx.Interpreter):
        def run_node(self, node):
            out = super().run_node(node)
            if "quantize_per_tensor" in str(node.target) and isinstance(out, torch.Tensor) and out.dtype == torch.uint8:
                seen.append(out)
            return out

    Record(module).run(*inputs)
    assert seen
    return torch.cat([one.flatten() for one in seen])


def quantized(folder, spread=3.0):
    """A model whose ranges were found on quiet data and that is measured on loud ones, x86's own recipe."""
    torch.manual_seed(0)
    model = Block().eval()
    quiet = [images(1.0, seed) for seed in range(3)]
    loud = [images(spread, seed) for seed in range(10, 13)]
    out = folder / "out"
    words = ["quantize", saved(folder, model, quiet[0]), "--data", batches(folder, "quiet", quiet), "--device", "cpu", "--out", out, "--export", "torchscript,pt2-reference,pt2,onnx", "--saturate", "observer"]
    text = run_good(*words)
    batches(folder, "loud", loud)
    return model, quiet, loud, out, text


def test_the_files_say_the_ranges_and_keep_to_them(folder):
    model, quiet, loud, out, text = quantized(folder)
    result = json.loads((out / "result.json").read_text())
    told = {(entry["quant_min"], entry["quant_max"]) for node in result["nodes"] if (entry := node["output"])}
    assert told == {(0, 127)}, told
    own, module = steps(out / "model.int8.pt2")
    whole, reference = steps(out / "model.reference.pt2")
    assert {node.args[-1] for node in own} == {torch.uint8} and bounds(own) == {(0, 127)}, bounds(own)
    assert (0, 255) in bounds(whole) and (0, 127) not in bounds(whole), bounds(whole)
    with torch.no_grad():
        for batch in loud:
            assert codes(module, batch).max() == 127
            assert codes(reference, batch).max() > 127, "nothing was cut: the test shows nothing"
    session = onnxruntime.InferenceSession(out / "model.int8.onnx")
    file = onnx.load(out / "model.int8.onnx")
    cuts = [node for node in file.graph.node if node.op_type == "Clip" and {i.name: i for i in file.graph.initializer}[node.input[1]].data_type == onnx.TensorProto.UINT8]
    assert len(cuts) == len(own), "one Clip of integers a step"
    name = session.get_inputs()[0].name
    with torch.no_grad():
        for batch in loud:
            made = torch.from_numpy(session.run(None, {name: batch.numpy()})[0])
            # ONNX Runtime fuses and adds in another order; a whole range is further away than that.
            assert sqnr(module(batch), made) > 3 + sqnr(reference(batch), made)


def test_the_told_numbers_are_those_of_the_files(folder):
    model, quiet, _, out, text = quantized(folder)
    result = json.loads((out / "result.json").read_text())
    own = result["own_ranges"]
    steps_of_file, module = steps(out / "model.int8.pt2")
    assert own["files"] == ["model.int8.onnx", "model.int8.pt2"] and own["values"] == len(steps_of_file)
    with torch.no_grad():
        wanted = torch.cat([model(batch) for batch in quiet])
        measured = sqnr(wanted, torch.cat([module(batch) for batch in quiet]))
        reference = sqnr(wanted, torch.cat([steps(out / "model.reference.pt2")[1](batch) for batch in quiet]))
    assert abs(own["outputs"][0]["cumulative"]["sqnr_db"] - measured) < 0.01, (own, measured)
    assert abs(result["outputs"][0]["cumulative"]["sqnr_db"] - reference) < 0.01
    assert own["summary"] == [line for line in text.splitlines() if "model.int8.onnx and model.int8.pt2" in line] and f"{measured:.2f} dB in" in own["summary"][0]
    page = folder / "page.html"
    run_good("report", out, "--html", page)
    assert f"{measured:.2f} dB in model.int8.onnx and model.int8.pt2" in page.read_text()


def test_as_torch_ao_decomposed(folder):
    """torch.ao's own decomposed form of the same model, calibrated on the same data: equal to the bit, also where it is cut."""
    model, quiet, loud, out, _ = quantized(folder)
    prepared = quantize_fx.prepare_fx(model, ao.get_default_qconfig_mapping("x86"), (quiet[0],))
    with torch.no_grad():
        for batch in quiet:
            prepared(batch)
        theirs = quantize_fx._convert_to_reference_decomposed_fx(prepared)
        module = steps(out / "model.int8.pt2")[1]
        differs = False
        for batch in [*quiet, *loud]:
            assert torch.equal(theirs(batch), module(batch))
            differs |= not torch.equal(theirs(batch), steps(out / "model.reference.pt2")[1](batch))
    assert differs


def test_verify_holds_the_files_to_what_they_compute(folder):
    _, _, _, out, _ = quantized(folder)
    done = run("verify", out, "--data", folder / "loud.npz", "--json", "--runtime", "torch.export,onnxruntime,torch.jit")
    certificate = json.loads(done.stdout)
    assert done.returncode == 0 and certificate["passed"], [(v["file"], v["runtime"], v["outcome"], v["reason"]) for v in certificate["verdicts"]]
    by_file = {verdict["file"]: verdict for verdict in certificate["verdicts"] if verdict["runtime"]}
    for file in ("model.int8.pt2", "model.reference.pt2", "model.int8.ts.pt"):
        assert by_file[file]["outputs"][0]["agreement_db"] >= 60, by_file[file]
    alone = by_file["model.int8.onnx"]["steps_alone"]
    assert alone["more"] == 0 and alone["output_db"] >= 60, alone
    apart = by_file["model.int8.pt2"]["outputs"][0]["own_float_db"], by_file["model.reference.pt2"]["outputs"][0]["own_float_db"]
    assert abs(apart[0] - apart[1]) > 0.5, "both files tell one number"


def test_bodies_of_custom_modules(folder):
    """An LSTM's values too, those of fixed ranges excepted, which are whole."""
    torch.manual_seed(1)
    model = Recurrent().eval()
    data = [torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(seed)) for seed in range(3)]
    words = ["quantize", saved(folder, model, data[0]), "--data", batches(folder, "data", data), "--device", "cpu", "--export", "pt2-reference,pt2", "--saturate", "observer", "--out"]
    run_good(*words, folder / "out")
    own, whole = (bounds(steps(folder / "out" / name)[0]) for name in ("model.int8.pt2", "model.reference.pt2"))
    assert (0, 127) in own and (0, 127) not in whole and (0, 255) in whole, (own, whole)
    result = json.loads((folder / "out" / "result.json").read_text())
    with torch.no_grad():
        wanted, made = torch.cat([model(batch) for batch in data]), torch.cat([steps(folder / "out" / "model.int8.pt2")[1](batch) for batch in data])
    assert abs(result["own_ranges"]["outputs"][0]["cumulative"]["sqnr_db"] - sqnr(wanted, made)) < 0.01


def test_whole_ranges_are_as_they_were(folder):
    """Eight bits: nothing to cut, nothing told, and the plan of the ONNX file names no Clip."""
    torch.manual_seed(0)
    model, data = Block().eval(), [images(1.0, seed) for seed in range(3)]
    recipe = write_recipe(folder, **FULL)
    text = run_good("quantize", saved(folder, model, data[0]), "--data", batches(folder, "data", data), "--recipe", recipe, "--device", "cpu",
                    "--export", "pt2-reference,pt2,onnx", "--saturate", "observer", "--out", folder / "out")
    assert json.loads((folder / "out" / "result.json").read_text())["own_ranges"] is None and "observers' ranges" not in text
    own, module = steps(folder / "out" / "model.int8.pt2")
    with torch.no_grad():
        assert bounds(own) == {(0, 255)} and torch.equal(module(data[0]), steps(folder / "out" / "model.reference.pt2")[1](data[0]))
    assert not [node for node in onnx.load(folder / "out" / "model.int8.onnx").graph.node if node.op_type == "Clip"]


def test_it_is_asked_for(folder):
    """Without a word all files go on to the ends of the type, as the reference form does."""
    torch.manual_seed(0)
    model, quiet = Block().eval(), [images(1.0, seed) for seed in range(3)]
    text = run_good("quantize", saved(folder, model, quiet[0]), "--data", batches(folder, "quiet", quiet), "--device", "cpu", "--export", "pt2-reference,pt2", "--out", folder / "out")
    assert json.loads((folder / "out" / "result.json").read_text())["own_ranges"] is None and "observers' ranges" not in text
    module, reference = (steps(folder / "out" / name)[1] for name in ("model.int8.pt2", "model.reference.pt2"))
    with torch.no_grad():
        assert torch.equal(module(images(3.0, 10)), reference(images(3.0, 10)))
    expect_bad("quantize", folder / "model.pt2", "--data", "sample", "--saturate", "never", "--out", folder / "no", contains=("--saturate", "never"), code=2)


main(__name__)

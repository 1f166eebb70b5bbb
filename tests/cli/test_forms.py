# SPDX-License-Identifier: Apache-2.0
"""Simulated and real: what `quantize` says of the distance of both forms, computed again from the exported files by PyTorch alone."""

import json
from html import escape

import numpy
from harness import SOURCE, by_name, export_model, main, run_good, sqnr

SAMPLES = SOURCE / "resources" / "samples"
MODEL, DATA = SAMPLES / "digits.pt2", SAMPLES / "calib.npz"
BATCH, BATCHES = 8, 16


def quantized(folder, recipe=None, model=MODEL, data=DATA):
    out = folder / "out"
    words = ["--recipe", recipe] if recipe else []
    shown = run_good("quantize", model, "--data", data, "--device", "cpu", "--export", "torchscript,pt2-reference", "--out", out, *words)
    result = json.loads((out / "result.json").read_text())
    assert result["forms"]["summary"] == [line[7:] for line in shown.splitlines() if line.startswith("forms: ")], shown
    return out, result


def histogram(steps):
    """As the document writes it: -8 and less to 8 and more."""
    steps = steps.flatten().to(int).clamp(-8, 8)
    return [int((steps == apart).sum()) for apart in range(-8, 9)]


def reference_run(path, image):
    """The exported reference form's graph, and every value in it."""
    import torch
    import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

    program = torch.export.load(path)
    values = {}

    class Watched(torch.fx.Interpreter):
        def run_node(self, node):
            values[node.name] = super().run_node(node)
            return values[node.name]

    held = [program.state_dict.get(spec.target, program.constants.get(spec.target)) for spec in program.graph_signature.input_specs if spec.target]
    with torch.no_grad():
        Watched(program.graph_module).run(*held, image)
    return program, values


def test_the_whole_is_what_the_files_compute(folder):
    import torch

    import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

    out, result = quantized(folder)
    images = torch.from_numpy(next(iter(numpy.load(DATA).values()))[:BATCH * BATCHES])
    reference = torch.export.load(out / "model.reference.pt2").module()
    lowered = torch.jit.load(out / "model.int8.ts.pt")
    with torch.no_grad():
        pairs = [(reference(batch), lowered(batch)) for batch in images.split(BATCH)]
    wanted = sqnr(torch.cat([a for a, _ in pairs]), torch.cat([b for _, b in pairs]))
    told = result["outputs"][0]["forms"]["sqnr_db"]
    assert abs(told - wanted) < 0.01 * abs(wanted), (told, wanted)
    assert result["forms"]["sqnr_db"] == told and result["forms"]["samples"] == BATCH
    # The last value: what the file returns lies on the grid of its quantization.
    last = next(node for node in result["nodes"] if node["op"] == "aten.linear.default")
    steps = ((pairs[0][1] - pairs[0][0]) / last["output"]["scale"][0]).round()
    assert last["departure"]["histogram"] == histogram(steps), (last["departure"], histogram(steps))
    assert last["departure"]["max"] == float(steps.abs().max()) and last["departure"]["count"] == steps.numel()
    # The sum of all nodes, and the first where they part.
    departures = [(node["name"], node["departure"]) for node in result["nodes"] if "departure" in node]
    assert len(departures) > 5
    for key in ("count", "equal"):
        assert result["forms"][key] == sum(d[key] for _, d in departures), key
    assert result["forms"]["parting"] == next((name for name, d in departures if d["max"] > 1), None)


def test_a_kernel_alone_is_what_pytorch_computes(folder):
    import torch

    out, result = quantized(folder)
    image = torch.from_numpy(next(iter(numpy.load(DATA).values()))[:BATCH])
    program, values = reference_run(out / "model.reference.pt2", image)
    graph, checked = program.graph_module.graph, 0
    nodes = result["nodes"]
    for conv in graph.nodes:
        if "conv2d" not in str(conv.target):
            continue
        data, weight, bias = conv.args[0].args[0], conv.args[1].args[0], conv.args[2]
        last = conv
        while "quantize" not in str(last.target):  # conv, perhaps a relu, quantize
            (last,) = last.users
        relu = "relu" in str(last.args[0].target)
        bounds = {name: value for name, value in zip(("stride", "padding", "dilation", "groups"), (*conv.args[3:], *[None] * 4))}
        lists = [list(bounds[name] or default) for name, default in (("stride", [1, 1]), ("padding", [0, 0]), ("dilation", [1, 1]))]
        packed = torch.ops.quantized.conv2d_prepack(
            torch._make_per_channel_quantized_tensor(values[weight.name], values[weight.args[1].name], values[weight.args[2].name], weight.args[3]),
            values[bias.name], *lists, bounds["groups"] or 1)
        given = torch._make_per_tensor_quantized_tensor(values[data.name], data.args[1], data.args[2])
        kernel = torch.ops.quantized.conv2d_relu if relu else torch.ops.quantized.conv2d
        made = kernel(given, packed, last.args[1], last.args[2]).int_repr()
        apart = made.to(int) - values[last.name].to(int)
        # A fusion's numbers stand at its last member, whose result has these parameters.
        (told,) = [n for n in nodes if "conv2d" in n.get("kernel", {}).get("name", "") and n["output"] and n["output"]["scale"] == [last.args[1]]]
        steps = told["kernel"]["steps"]
        assert steps["histogram"] == histogram(apart), (told["name"], steps, histogram(apart))
        assert abs(steps["mean"] - float(apart.abs().double().mean())) < 1e-12 and steps["count"] == apart.numel()
        checked += 1
    assert checked >= 3, checked


def gated(folder):
    """A multilayer perceptron with a gate that exceeds the fixed range of its tanh, as in GELU by tanh: (float program, out, result)."""
    import torch

    class Gated(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.wide, self.narrow = torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)

        def forward(self, x):
            x = self.wide(x)
            return self.narrow(0.5 * x * (1 + torch.tanh(x)))

    torch.manual_seed(0)
    data = 2 * torch.randn(BATCH * BATCHES, 16)
    numpy.savez(folder / "data.npz", x=data.numpy())
    export_model(Gated().eval(), (data[:BATCH],), folder / "gated.pt2")
    return torch.export.load(folder / "gated.pt2"), data, *quantized(folder, model=folder / "gated.pt2", data=folder / "data.npz")


def test_each_form_is_held_to_the_float_model(folder):
    import torch

    program, data, out, result = gated(folder)
    real = {}

    class Watched(torch.fx.Interpreter):
        def run_node(self, node):
            real[node.name] = super().run_node(node)
            return real[node.name]

    held = [program.state_dict[spec.target] for spec in program.graph_signature.input_specs if spec.target]
    with torch.no_grad():
        Watched(program.graph_module).run(*held, data[:BATCH])
        made = torch.jit.load(out / "model.int8.ts.pt")(data[:BATCH])
    reference, values = reference_run(out / "model.reference.pt2", data[:BATCH])
    nodes = [node for node in result["nodes"] if "departure" in node]
    assert len(nodes) >= 6, [node["name"] for node in nodes]
    for node in nodes:
        quantize = next(user for user in next(n for n in reference.graph.nodes if n.name == node["name"]).users if "quantize" in str(user.target))
        simulated = (values[quantize.name].double() - quantize.args[2]) * quantize.args[1]
        assert abs(node["departure"]["reference_db"] - sqnr(real[node["name"]], simulated)) < 0.01, node
    assert abs(nodes[-1]["departure"]["lowered_db"] - sqnr(real[nodes[-1]["name"]], made)) < 0.01, nodes[-1]

    def is_gap(departure):
        one, other = departure["reference_db"], departure["lowered_db"]
        return min(max(one, other), 90) - min(one, other) > max(1, 26 / departure["count"] ** 0.5)

    assert result["forms"]["gap"] == next(node["name"] for node in nodes if is_gap(node["departure"])), result["forms"]


def test_what_a_kernel_adds_is_told_from_what_it_was_fed(folder):
    import torch

    _, data, out, result = gated(folder)
    reference, values = reference_run(out / "model.reference.pt2", data[:BATCH])
    add = next(node for node in reference.graph.nodes if node.name == "add")
    given = next(argument for argument in add.args if isinstance(argument, torch.fx.Node)).args  # of its dequantize
    tanh = torch._make_per_tensor_quantized_tensor(values[given[0].name], given[1], given[2])
    last = next(user for user in add.users if "quantize" in str(user.target))
    simulated = (values[last.name].double() - last.args[2]) * last.args[1]
    apart = (torch.ops.quantized.add(tanh, 1).dequantize().double() - simulated) / last.args[1]
    node = by_name(result)["add"]
    steps = node["kernel"]["steps"]
    assert node["kernel"]["passed"] and node["kernel"]["max_lsb"] <= 1, node["kernel"]  # of its own grid, around the float result
    assert steps["max"] > 30 and abs(steps["max"] - float(apart.abs().max())) < 1e-3, (steps, apart.abs().max())
    assert abs(steps["mean"] - float(apart.abs().mean())) < 1e-3, (steps, apart.abs().mean())
    assert result["forms"]["parting"] == "add" and any(
        line.startswith("the first node that differs by more than one step is 'add': mean ") and f"at most {numpy.ceil(steps['max'] * 1e4) / 1e4:.9g} steps" in line
        for line in result["forms"]["summary"]), result["forms"]


def test_kernels_that_are_wrong_do_not_part_the_forms(folder):
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 28, 3), nn.PReLU(28), nn.MaxPool2d(3, 2, ceil_mode=True), nn.Conv2d(28, 48, 3), nn.PReLU(48),
                          nn.MaxPool2d(3, 2, ceil_mode=True), nn.Conv2d(48, 64, 2), nn.PReLU(64), nn.Flatten(), nn.Linear(576, 128), nn.PReLU(128),
                          nn.Linear(128, 2), nn.Softmax(dim=1)).eval()
    data = torch.randn(64, 3, 24, 24)
    numpy.savez(folder / "data.npz", x=data.numpy())
    export_model(model, (data[:BATCH],), folder / "faces.pt2")
    _, result = quantized(folder, model=folder / "faces.pt2", data=folder / "data.npz")
    (output,) = result["outputs"]
    assert output["lowered"]["sqnr_db"] > output["cumulative"]["sqnr_db"] - 1, output
    reasons = [node["kernel"]["reason"] for node in result["nodes"] if not node.get("kernel", {"passed": True})["passed"]]
    assert all("steps away from the result it should have" in reason for reason in reasons), reasons


def test_the_page_and_what_stays_in_reference_form(folder):
    recipe = folder / "recipe.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "convert": {"lowering": {"add": [], "remove": [{"pattern": ["torch.nn.Linear"]}]}}}))
    out, result = quantized(folder, recipe)
    left = [entry for entry in result["residue"] if entry["kind"] == "unlowered"]
    assert left, "the linear layer has a row still"
    run_good("report", out, "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    assert "Simulated and real" in page and all(escape(line, quote=False) in page.replace("&#39;", "'") for line in result["forms"]["summary"])
    assert "Stayed in reference form" in page and left[0]["reason"].split("'")[0] in page
    share = 100 * result["forms"]["equal"] / result["forms"]["count"]
    assert f"{int(share * 1000) / 1000:.3f} % of all integers" in page, share
    rows = page.split("Simulated and real")[1].split("</table>")[0].count("<tr>") - 1
    assert rows == sum("departure" in node or "steps" in (node.get("kernel") or {}) for node in result["nodes"]), rows


def loud(folder, times=6.0):
    """The calibration data far louder than any observer saw them."""
    name, images = next(iter(numpy.load(DATA).items()))
    numpy.savez(folder / "loud.npz", **{name: images * numpy.float32(times)})
    return folder / "loud.npz", images * numpy.float32(times)


def test_other_data_run_through_the_model_that_was_written(folder):
    """Which kernels a model has was decided when it was written, not by the data that it is looked at with."""
    import torch

    out, result = quantized(folder)
    data, images = loud(folder)
    model, lowered = torch.export.load(MODEL).module(), torch.jit.load(out / "model.int8.ts.pt")
    with torch.no_grad():
        pairs = [(model(batch), lowered(batch)) for batch in torch.from_numpy(images).split(BATCH)]
    wanted = sqnr(torch.cat([a for a, _ in pairs]), torch.cat([b for _, b in pairs]))
    seen = json.loads(run_good("compare", MODEL, "--result", out, "--data", data, "--device", "cpu", "--json"))
    assert abs(seen["outputs"][0]["lowered"]["sqnr_db"] - wanted) < 0.01, (seen["outputs"], wanted)
    kernels = [{name: (node["kernel"]["name"], node["kernel"]["passed"]) for name, node in by_name(document).items() if "kernel" in node} for document in (result, seen)]
    assert kernels[0] == kernels[1], kernels
    assert seen["refused_kernels"] == result["refused_kernels"]


def test_the_kernels_that_a_result_refused(folder):
    """They are read from it: with all of them refused, both forms are the same."""
    import torch

    out, result = quantized(folder)
    words = ("compare", MODEL, "--result", out, "--data", DATA, "--device", "cpu", "--json")
    program = torch.export.load(out / "model.reference.pt2")
    result["refused_kernels"] = [{"site": node.name, "kernel": "quantized.none", "reason": "the test says so"}
                                 for node in program.graph.nodes if "quantized_decomposed.quantize_per_tensor" in str(node.target)]
    assert len(result["refused_kernels"]) > 5
    (out / "result.json").write_text(json.dumps(result))
    seen = json.loads(run_good(*words))
    refused = [node["kernel"] for node in seen["nodes"] if "kernel" in node]
    assert refused and all(not kernel["passed"] and kernel["reason"] == "the test says so" for kernel in refused), refused
    assert seen["outputs"][0]["forms"]["sqnr_db"] > 60 and abs(seen["outputs"][0]["lowered"]["sqnr_db"] - seen["outputs"][0]["cumulative"]["sqnr_db"]) < 0.01
    # A recipe that was changed since is lowered anew.
    recipe = json.loads((out / "recipe.json").read_text())
    (out / "recipe.json").write_text(json.dumps(recipe, indent=4))
    seen = json.loads(run_good(*words))
    assert any(node["kernel"]["passed"] for node in seen["nodes"] if "kernel" in node)


if __name__ == "__main__":
    main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""The sparse network of resources/extensions/sparse_conv, from its script through everything and back into Python."""

import json
import subprocess
import sys
from pathlib import Path

import numpy
import torch

from harness import PROGRAM, SOURCE, by_name, keeping, main, run_good, run_json, write_recipe

PACK = Path(PROGRAM).parent.parent / "extensions" / "sparse_conv"
LIBRARY = PACK / "libsparse_conv.so"
torch.ops.load_library(str(LIBRARY))


def top1(outputs, labels):
    return float((torch.cat(outputs).argmax(1) == labels).float().mean())


def test_one_command_takes_it_through_everything(folder):
    script = SOURCE / "resources" / "extensions" / "sparse_conv" / "sparse_conv.py"
    subprocess.run([sys.executable, script, LIBRARY, folder], check=True, timeout=300)
    model, data = folder / "sparse.pt2", folder / "data.pt"
    recipe = write_recipe(folder, backend="tensorrt", mapping={"global": "tensorrt"}, extensions=["sparse_conv"])
    words = ["--recipe", recipe, "--extension", PACK]

    planned = run_json("plan", model, *words)
    assert not [line for line in planned["warnings"] if "no module of that class" in line], planned["warnings"]  # fusing makes it
    plan = by_name(planned)
    convolutions = [node for node in plan.values() if node["op"] == "sparse_conv.conv2d.default"]
    assert len(convolutions) == 6 and all(node["quantized"] for node in convolutions), convolutions
    assert [node["pattern"] for node in convolutions[:5]] == 5 * [["sparse_conv.SparseConv2d", "torch.nn.ReLU"]], convolutions
    assert convolutions[5]["pattern"] == ["sparse_conv.SparseConv2d"] and convolutions[5]["module"] == "net.10"

    out, outputs = folder / "out", folder / "outputs.npz"
    run_good("quantize", model, "--data", data, "--out", out, "--device", "cpu", "--eval", keeping(outputs),
             "--export", "torchscript,pt2-reference", *words)
    document = json.loads((out / "result.json").read_text())
    nodes = by_name(document)
    names = [node["name"] for node in convolutions]
    for name in names[:5]:
        kernel = nodes[name.replace("conv2d", "relu")]["kernel"]
        assert kernel["name"] == "sparse_conv.conv2d_relu_int8.default" and kernel["passed"], (name, kernel)
        assert nodes[name]["weight"]["qscheme"].startswith("per_channel"), nodes[name]["weight"]
    observed = [node["output"] for node in document["nodes"] if node["output"]]
    assert observed and all(output["dtype"] == "qint8" and output["zero_point"] == [0] for output in observed), observed
    # Places are never quantized.
    assert nodes["indices"]["output"] is None, nodes["indices"]

    unlowered = [left for left in document["residue"] if left["kind"] == "unlowered"]
    dead = [left for left in document["residue"] if left["kind"] == "dead_pair"]
    assert [left["node"] for left in unlowered] == names[5:], document["residue"]
    assert "no row of the lowering table for sparse_conv.conv2d" in unlowered[0]["reason"], unlowered
    assert [left["node"] for left in dead] == names[5:], dead  # before `dense`
    assert nodes["flatten"]["kernel"]["passed"] and not nodes["log_softmax"]["quantized"], nodes["flatten"]

    batches, labels = torch.load(data), torch.load(folder / "labels.pt")
    script = torch.jit.load(out / "model.int8.ts.pt")
    floating = torch.export.load(model).module()
    with torch.no_grad():
        theirs = [script(*batch) for batch in batches]
        wanted = [floating(*batch) for batch in batches]
    arrays = numpy.load(outputs)
    assert torch.equal(torch.cat(theirs), torch.from_numpy(arrays[arrays.files[0]])), "other bits than ours"
    assert top1(theirs, labels) >= top1(wanted, labels) - 0.02 and top1(wanted, labels) > 0.8, (top1(theirs, labels), top1(wanted, labels))

    code = run_good("inspect", model, "--code", "--form", "lowered", *words)
    body = code[code.index("def forward"):]
    # All modules are called: the fused ones, and the last convolution, which has no kernel and no fused class.
    assert body.count("torch.ops.sparse_conv.conv2d_relu_int8.default(") == 0 and body.count("torch.ops.sparse_conv.conv2d.default(") == 0, code
    assert "(10): QuantizedSparseConv2d(Reference)(16, 10, kernel_size=(8, 8), stride=(8, 8))" in code, code
    assert body.count('net_10 = getattr(self.net, "10")(dequantize_5, indices)') == 1, code
    assert body.count('= getattr(self.net, "0")(quantize_per_tensor, ') == 1, code
    assert body.count("= torch.quantize_per_tensor(") == 3, code
    assert body.count(".dequantize()") == 3, code
    plain = run_good("inspect", model, "--code", *words)
    listed = [line.strip() for line in plain.splitlines() if ": SparseConv2d(" in line]
    assert len(listed) == 6 and listed[0] == "(0): SparseConv2d(1, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))", plain
    assert "torch.ops.sparse_conv.conv2d" not in plain and plain.count('getattr(self.net, "0")(features, indices)') == 1, plain

    calibrated = run_good("inspect", out, "--code", "--form", "lowered", "--extension", PACK)
    fused = [line.strip() for line in calibrated.splitlines() if "QuantizedSparseConvReLU(" in line]
    assert len(fused) == 5 and fused[0].startswith("(0): QuantizedSparseConvReLU(1, 8, kernel_size=(3, 3), stride=(1, 1), scale="), calibrated
    assert all(", zero_point=0, padding=(1, 1))" in line for line in fused), calibrated
    reference = run_good("inspect", model, "--code", "--form", "reference", *words)
    assert reference.count("SparseConvReLU(\n") == 5 and reference.count("(0): QuantizedSparseConv2d(Reference)(") == 5, reference


if __name__ == "__main__":
    main(__name__)

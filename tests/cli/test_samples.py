# SPDX-License-Identifier: Apache-2.0
"""The samples beside digits: small, float accuracy that means something, quantized with the default recipe, and what each shows."""

import json

from harness import SOURCE, by_name, main, run_good

SAMPLES = SOURCE / "resources" / "samples"


def compared(folder, name):
    """The result document of the sample with the default recipe, compared on its test data."""
    model, out = SAMPLES / f"{name}.pt2", folder / name
    if not out.exists():
        run_good("quantize", model, "--data", SAMPLES / f"{name}.calib.npz", "--device", "cpu", "--out", out)
    return json.loads(run_good("compare", model, "--result", out, "--data", SAMPLES / f"{name}.test.npz", "--device", "cpu", "--json"))


def test_files_are_small(folder):
    for name in ("sequences", "shapes"):
        assert sum(path.stat().st_size for path in SAMPLES.glob(f"{name}.*")) < 300_000, name
    told = (SAMPLES / "README.md").read_text()
    for path in SAMPLES.glob("*.pt2"):
        assert path.name in told, path


def test_a_transformer(folder):
    """Attention needs the marker: float is right, and int8 stays so, though softmax, layer norm and gelu stay float on x86."""
    result = compared(folder, "sequences")
    assert result["labels"]["float_top1"] > 0.99 and result["labels"]["int8_top1"] > 0.98, result["labels"]
    assert 15 < result["outputs"][0]["cumulative"]["sqnr_db"] < 60, result["outputs"]
    nodes = by_name(result)
    for name in ("softmax", "gelu"):
        assert not nodes[name]["quantized"] and nodes[name]["reason"], nodes[name]
    for name in ("linear", "matmul"):
        assert nodes[name]["quantized"], nodes[name]


def test_a_detector(folder):
    """Boxes and scores share one range: the scores lose most of all, which is what the sample is there to show."""
    result = compared(folder, "shapes")
    nodes = by_name(result)
    measured = {name: node["error"]["born_here"]["sqnr_db"] for name, node in nodes.items()
                if (node.get("error") or {}).get("born_here") and node["error"]["born_here"]["sqnr_db"] is not None}
    assert min(measured, key=measured.get) == "sigmoid_2", measured
    assert nodes["sigmoid_2"]["output"]["shared_with"] and nodes["sigmoid_2"]["output"]["scale"][0] > 0.2
    assert result["outputs"][0]["cumulative"]["sqnr_db"] > 25, result["outputs"]


main(__name__)

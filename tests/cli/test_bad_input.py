# SPDX-License-Identifier: Apache-2.0
"""Bad input: each gives exit 1, one line that names the file and the cause, and no file."""

import json

import numpy as np
import torch
from harness import export_model, expect_bad, main, run
from models import LogOfInput, residual


def quantize_words(model, data, out, *more):
    return ("quantize", model, "--data", data, "--device", "cpu", "--out", out, *more)


def test_models_that_are_none(folder):
    _, good, npz, _ = residual(folder)
    content = good.read_bytes()
    files = {"missing.pt2": None, "empty.pt2": b"", "truncated.pt2": content[: len(content) // 2],
             "foreign.pt2": b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "text.pt2": b"hello, I am no model\n"}
    for name, data in files.items():
        if data is not None:
            (folder / name).write_bytes(data)
        expect_bad("inspect", folder / name, contains=[name])
        expect_bad("plan", folder / name, contains=[name])
        expect_bad(*quantize_words(folder / name, npz, folder / "out"), contains=[name], out=folder / "out")
    expect_bad("inspect", folder, contains=[folder])


def test_python_pickle_is_refused_with_a_recipe(folder):
    torch.save(torch.nn.Linear(2, 2), folder / "pickle.pt")
    expect_bad("inspect", folder / "pickle.pt", contains=["pickle.pt", "torch.export"])


def test_data_that_does_not_fit(folder):
    _, model, _, x = residual(folder)
    x = x.numpy()
    cases = {
        "rank.npz": ({"x": x[:, 0]}, ["rank.npz", "x"]),
        "size.npz": ({"x": x[:, :, :, :5]}, ["size.npz", "x"]),
        "dtype.npz": ({"x": x.astype(np.complex64)}, ["dtype.npz", "x", "complex64", "float32"]),
        "count.npz": ({"x": x, "y": x}, ["count.npz"]),
        "none.npz": ({}, ["none.npz"]),
        "nan.npz": ({"x": np.where(x > 2, np.nan, x).astype(np.float32)}, ["nan.npz", "x", "NaN"]),
        "inf.npz": ({"x": np.where(x > 2, np.inf, x).astype(np.float32)}, ["inf.npz", "x", "Inf"]),
    }
    for name, (arrays, contains) in cases.items():
        np.savez(folder / name, **arrays)
        expect_bad(*quantize_words(model, folder / name, folder / "out"), contains=contains, out=folder / "out")
    (folder / "text.npz").write_text("no arrays here")
    for name in ("text.npz", "missing.npz", "data.csv"):
        expect_bad(*quantize_words(model, folder / name, folder / "out"), contains=[name], out=folder / "out")


def test_nan_at_a_node_is_named(folder):
    torch.manual_seed(1)
    export_model(LogOfInput(), (torch.rand(2, 4) + 1,), folder / "log.pt2")
    np.savez(folder / "negative.npz", x=-np.ones((16, 4), np.float32))
    expect_bad(*quantize_words(folder / "log.pt2", folder / "negative.npz", folder / "out"), contains=["log", "NaN"],
               out=folder / "out")


def test_recipes_with_a_mistake(folder):
    _, model, npz, _ = residual(folder)
    base = {"format": "quantscope.recipe", "version": 1, "backend": "x86"}
    activation = {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine"}
    weight = {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}
    cases = {
        "key.json": ({"qconfig": {}}, "qconfig"),
        "observer.json": ({"qconfigs": {"a": {"activation": {**activation, "observer": "median"}, "weight": weight}}},
                          "median"),
        "dtype.json": ({"qconfigs": {"a": {"activation": {**activation, "dtype": "quint3"}, "weight": weight}}},
                       "quint3"),
        "name.json": ({"mapping": {"global": "nobody"}}, "nobody"),
        "type.json": ({"mapping": {"global": "x86", "object_type": [["torch.nn.Konv2d", None]]}}, "torch.nn.Konv2d"),
        "backend.json": ({"backend": "tpu9"}, "tpu9"),
    }
    for name, (change, word) in cases.items():
        (folder / name).write_text(json.dumps({**base, **change}))
        words = ("--recipe", folder / name)
        expect_bad("plan", model, *words, contains=[name, word])
        expect_bad(*quantize_words(model, npz, folder / "out", *words), contains=[name, word], out=folder / "out")
    (folder / "twice.json").write_text(json.dumps(base)[:-1] + ', "mapping": {"global": null}, "mapping": {"global": "x86"}}')
    expect_bad("plan", model, "--recipe", folder / "twice.json", contains=["twice.json", "duplicate key 'mapping'"])
    (folder / "broken.json").write_text("{")
    expect_bad("plan", model, "--recipe", folder / "broken.json", contains=["broken.json"])
    expect_bad("plan", model, "--recipe", folder / "absent.json", contains=["absent.json"])


def test_rule_that_matches_nothing_is_a_warning(folder):
    _, model, _, _ = residual(folder)
    recipe = {"format": "quantscope.recipe", "version": 1, "backend": "x86",
              "mapping": {"global": "x86", "module_name": [["layer9.conv", None]]}}
    (folder / "recipe.json").write_text(json.dumps(recipe))
    done = run("plan", model, "--recipe", folder / "recipe.json", "--json")
    assert done.returncode == 0 and "layer9.conv" in done.stderr, done.stderr
    assert any("layer9.conv" in warning for warning in json.loads(done.stdout)["warnings"])


def test_cuda_without_a_device(folder):
    if torch.cuda.is_available():
        return
    _, model, npz, _ = residual(folder)
    expect_bad("quantize", model, "--data", npz, "--device", "cuda", "--out", folder / "out", contains=["CUDA"],
               out=folder / "out")


def test_folder_that_cannot_be_written(folder):
    _, model, npz, _ = residual(folder)
    (folder / "file").write_text("in the way")
    for out in (folder / "file", folder / "file" / "out", "/proc/quantscope"):
        expect_bad(*quantize_words(model, npz, out), contains=[out])
    assert (folder / "file").read_text() == "in the way"
    (folder / "full" / "result.json").mkdir(parents=True)
    expect_bad(*quantize_words(model, npz, folder / "full"), contains=["full/result.json", "is a folder"])
    assert [p.name for p in (folder / "full").iterdir()] == ["result.json"], "a part of the result was written"


def test_nothing_would_be_quantized(folder):
    _, model, npz, _ = residual(folder)
    (folder / "null.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                                  "mapping": {"global": None}}))
    expect_bad(*quantize_words(model, npz, folder / "out", "--recipe", folder / "null.json"),
               contains=["residual.pt2", "no node would be quantized"], out=folder / "out")
    half = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).half()
    torch.export.save(torch.export.export(half, (torch.randn(2, 8).half(),)), folder / "half.pt2")
    np.savez(folder / "half.npz", input=np.zeros((4, 8), np.float16))
    expect_bad(*quantize_words(folder / "half.pt2", folder / "half.npz", folder / "out"),
               contains=["half.pt2", "only float32 is quantized", "model.float() before torch.export"], out=folder / "out")


def test_words_that_say_nothing(folder):
    """An unset variable of the shell is not a choice."""
    _, model, npz, _ = residual(folder)
    for option in ("--recipe", "--eval"):
        expect_bad(*quantize_words(model, npz, folder / "out", option, ""), contains=[option, "empty"], out=folder / "out", code=2)


def test_labels_of_no_class_are_told(folder):
    net, model, npz, x = residual(folder, labels=True)
    classes = net(x[:1]).shape[1]
    with np.load(npz) as data:
        arrays = {name: data[name] for name in data.files}
    arrays["labels"][:3] = 99
    np.savez(folder / "labels.npz", **arrays)
    done = run(*quantize_words(model, folder / "labels.npz", folder / "out", "--export", "none"))
    assert done.returncode == 0 and "3 labels of" in done.stderr, done.stderr
    assert f"classes 0 to {classes - 1}" in done.stderr, done.stderr


def test_results_that_were_changed(folder):
    _, model, npz, _ = residual(folder)
    out = folder / "out"
    done = run(*quantize_words(model, npz, out, "--export", "none"))
    assert done.returncode == 0, done.stderr
    words = ("compare", model, "--result", out, "--data", npz)
    told = run(*words)
    assert told.returncode == 0 and "changed" not in told.stderr, told.stderr
    (out / "recipe.json").write_text((out / "recipe.json").read_text() + "\n")
    told = run(*words)
    assert told.returncode == 0 and "recipe.json was changed since" in told.stderr, told.stderr
    document = json.loads((out / "result.json").read_text())
    del document["recipe_sha256"]  # of a result that does not tell, nothing is known
    (out / "result.json").write_text(json.dumps(document))
    told = run(*words)
    assert told.returncode == 0 and "changed" not in told.stderr, told.stderr
    next(node for node in document["nodes"] if node["name"] == "relu")["output"]["scale"] = [-0.1]
    (out / "result.json").write_text(json.dumps(document))
    expect_bad(*words, contains=["result.json", "relu", "a scale is not above zero"])


main(__name__)

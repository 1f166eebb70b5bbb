# SPDX-License-Identifier: Apache-2.0
"""`train`: a training lowers the loss of the quantized model against the original one, the recipe that it writes gives in every verb
what the training measured, the same command gives the same bytes, and what cannot be trained is refused in one line."""

import functools
import json
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy
import torch
from torch import nn

from harness import SOURCE, expect_bad, export_model, interrupted, main, run, run_good, run_json, write_recipe

SAMPLES = SOURCE / "resources" / "samples"
MODEL, DATA, OTHER = SAMPLES / "digits.pt2", SAMPLES / "calib.npz", SAMPLES / "test.npz"
CPU = ("--device", "cpu")
FOUR_BITS = {"backend": "x86", "mapping": {"global": "w4"}, "qconfigs": {"w4": {
    "activation": {"observer": "histogram", "reduce_range": True},
    "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -8, "quant_max": 7}}}}
SHARED = tempfile.TemporaryDirectory()


class Layers(nn.Module):
    """Two layers; the names of the second and its width are the caller's."""

    def __init__(self, second="head", width=16, norm=False):
        super().__init__()
        self.body = nn.Linear(8, width)
        self.norm = nn.BatchNorm1d(width) if norm else nn.Identity()
        self.relu, self.drop = nn.ReLU(), nn.Dropout(0.5)
        self.second = second
        self.add_module(second, nn.Linear(width, 4))

    def forward(self, x):
        return getattr(self, self.second)(self.drop(self.relu(self.norm(self.body(x)))))


class Classes(Layers):
    def forward(self, x):
        return super().forward(x).argmax(1)


class Recurrent(nn.ModuleList):
    def forward(self, x):
        return self[1](self[0](x.reshape(-1, 4, 2))[1][0][-1])


def given(folder, network=None, samples=64, name="model.pt2", train=False):
    """The words of a small network and of its data, with labels of its own scores."""
    folder.mkdir(exist_ok=True)
    torch.manual_seed(3)
    network, x = network or Layers(), torch.randn(samples, 8)
    export_model(network, (torch.randn(2, 8),), folder / name, train=train)
    numpy.savez(folder / "data.npz", x=x.numpy())
    return [folder / name, "--data", folder / "data.npz", *CPU]


def train(words, out, *more):
    """What a training says in JSON, which is the document that it writes."""
    document = run_json("train", *words, "--out", out, *more)
    assert document == json.loads((out / "training.json").read_text())
    assert {path.name for path in out.iterdir()} == {"model.pt2", "recipe.json", "training.json"}, list(out.iterdir())
    return document


def best(document):
    return document["points"][document["best"]]


def stored(path):
    """Parameters and buffers of a .pt2."""
    return torch.export.load(path).state_dict


def quantized(folder, recipe, *more, model=MODEL, data=DATA, compared=OTHER):
    """The document of a result on these data."""
    run_good("quantize", model, "--recipe", recipe, "--data", data, "--compare-on", compared, *CPU, "--export", "none", "--out", folder, "--strict", *more)
    return json.loads((folder / "result.json").read_text())


def decibels(document):
    return document["outputs"][0]["cumulative"]["sqnr_db"]


def guard(data, folder):
    """The samples that a training only measures: every fourth batch of eight."""
    arrays = numpy.load(data)
    numpy.savez(folder / "guard.npz", **{name: arrays[name][numpy.arange(len(arrays[name])) // 8 % 4 == 3] for name in arrays.files})
    return folder / "guard.npz"


def variant(folder, **changes):
    """A copy of the shared training in which the cure has these values; without the keys that are None."""
    shutil.copytree(trained()[0], folder)
    recipe = json.loads((folder / "recipe.json").read_text())
    recipe["cures"][0] = {key: value for key, value in {**recipe["cures"][0], **changes}.items() if value is not None}
    (folder / "recipe.json").write_text(json.dumps(recipe))
    return folder / "recipe.json"


@functools.cache
def plain():
    """The recipe before the training, with weights of four bits."""
    return write_recipe(Path(SHARED.name), **FOUR_BITS)


@functools.cache
def trained():
    """(folder, document) of one training of the sample, which the tests share."""
    out = Path(SHARED.name) / "trained"
    return out, train([MODEL, "--recipe", plain(), "--data", DATA, *CPU], out, "--steps", 300)


@functools.cache
def measured():
    """The documents of the untrained and of the trained recipe on data that neither has seen."""
    return [quantized(Path(SHARED.name) / name, recipe) for name, recipe in (("before", plain()), ("after", trained()[0] / "recipe.json"))]


def test_the_loss_against_the_original_model(folder):
    before, after = measured()
    assert decibels(after) > decibels(before) + 4, (decibels(before), decibels(after))
    # The first point is before the training.
    _, document = trained()
    assert (document["trained_samples"], document["guard_samples"]) == (96, 32), document
    for recipe, point in ((plain(), document["points"][0]), (trained()[0] / "recipe.json", best(document))):
        got = decibels(quantized(folder / "guard", recipe, compared=guard(DATA, folder)))
        print(f"guard {point['guard_db']:.3f} dB, quantized {got:.3f}")
        assert abs(got - point["guard_db"]) < 0.05, (got, point)
    assert best(document)["guard_db"] == max(point["guard_db"] for point in document["points"])


def test_ranges_inside_a_module_are_kept(folder):
    train(given(folder, Recurrent([nn.LSTM(2, 16, batch_first=True), nn.Linear(16, 4)])), folder / "out", "--learn-scales", "--steps", 10)
    with zipfile.ZipFile(folder / "out" / "model.pt2") as file:
        record = next(file.read(name) for name in file.namelist() if name.endswith("quantscope_ranges.json"))
    assert sum("interior" in one for one in json.loads(record)["ranges"]) == 7, record


def test_what_is_written(folder):
    out, document = trained()
    assert (document["format"], document["version"], document["steps"], document["stopped"], document["notes"]) == ("quantscope.training", 1, 300, "all steps", []), document
    assert document["points"][0] == {**document["points"][0], "step": 0, "loss": None} and document["points"][-1]["step"] == 300
    assert 20 <= len(document["points"]) <= 22 and document["points"][-1]["loss"] < document["points"][1]["loss"], document["points"]
    recipe = json.loads((out / "recipe.json").read_text())
    (cure,) = recipe["cures"]
    assert (cure["cure"], cure["file"], cure["by"]) == ("train", "model.pt2", "train") and re.fullmatch("[0-9a-f]{64}", cure["sha256"]), cure
    assert recipe["mapping"]["global"] == "w4"
    was, now = stored(MODEL), stored(out / "model.pt2")
    assert was.keys() == now.keys() and all(was[name].shape == now[name].shape for name in was)
    # Batch norms keep their statistics unless --freeze-bn says otherwise; all else that an operator reads is trained.
    same = {name for name in was if torch.equal(was[name], now[name])}
    assert same == {name for name in was if re.search("running_|num_batches", name)}, same
    done = run("train", *given(folder), "--steps", 4, "--out", folder / "out")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0].split() == ["step", "loss", "dB", "on", "guard", "s"], done
    assert [line.split()[0] for line in lines[2:7]] == ["0", "1", "2", "3", "4"] and sum(line.endswith(" best") for line in lines) == 1, lines
    assert re.fullmatch(r"4 steps on 32 samples; all steps; \d+\.\d\d to \d+\.\d\d dB on 16 guard samples", lines[8]), lines
    assert lines[-1] == f"quantize the model with {folder / 'out' / 'recipe.json'}, which holds the training", lines


def test_the_cure_in_other_verbs(folder):
    recipe, out = trained()[0] / "recipe.json", folder / "out"
    document = run_json("plan", MODEL, "--recipe", recipe, "--strict")
    assert all(node["qconfig"] in ("w4", None) for node in document["nodes"]) and not document["findings"], document["findings"]
    run_good("quantize", MODEL, "--recipe", recipe, "--data", DATA, *CPU, "--export", "pt2,onnx", "--strict", "--out", out)
    kept = json.loads((out / "recipe.json").read_text())["cures"]
    assert [cure["cure"] for cure in kept] == ["train"], kept
    again = run_json("compare", MODEL, "--result", out, "--data", OTHER, *CPU)
    assert decibels(again) == decibels(measured()[1]), (decibels(again), decibels(measured()[1]))
    run_good("verify", out, "--data", OTHER, "--runtime", "torch.export")
    run_good("check", out, "--min-sqnr", f"{decibels(measured()[0]) + 4:.1f}")
    search = run_json("tune", MODEL, "--recipe", recipe, "--data", DATA, *CPU, "--goal", "sqnr 22", "--out", folder / "tuned.json")
    assert search["reached"] and len(search["trials"]) == 1, search["trials"]  # against the original model too
    why = run_json("why", MODEL, "--recipe", recipe, "--data", DATA, *CPU)
    assert why["causes"] and why["causes"][0]["cause"] == "weight_rounding", why["causes"][:1]


def test_edit_writes_the_trained_model(folder):
    out, _ = trained()
    document = run_json("edit", MODEL, "--recipe", out / "recipe.json", "--out", folder / "edited.pt2", "--strict")
    assert [cure["problem"] for cure in document["cures"]] == [None], document
    edited, taught = stored(folder / "edited.pt2"), stored(out / "model.pt2")
    assert edited.keys() == taught.keys() and all(torch.equal(edited[name], taught[name]) for name in edited)
    first, second = (quantized(folder / name, plain(), model=path) for name, path in (("one", folder / "edited.pt2"), ("two", out / "model.pt2")))
    assert first["nodes"] == second["nodes"] and decibels(first) == decibels(second)
    wanted = {node["name"]: [node["output"], node["weight"]] for node in measured()[1]["nodes"]}
    assert wanted == {node["name"]: [node["output"], node["weight"]] for node in first["nodes"]}


def test_the_folder_can_be_moved(folder):
    recipe = variant(folder / "moved")
    document = quantized(folder / "out", recipe)
    assert document["nodes"] == measured()[1]["nodes"] and decibels(document) == decibels(measured()[1])
    # The result is whole without the training's folder.
    shutil.rmtree(folder / "moved")
    (folder / "out").rename(folder / "elsewhere")
    again = run_json("compare", MODEL, "--result", folder / "elsewhere", "--data", OTHER, *CPU)
    assert decibels(again) == decibels(document)
    (folder / "elsewhere" / "trained.pt2").rename(folder / "gone.pt2")  # without it the result is another one
    expect_bad("compare", MODEL, "--result", folder / "elsewhere", "--data", OTHER, *CPU, contains=["trained.pt2", "no such file"])
    (folder / "gone.pt2").rename(folder / "elsewhere" / "trained.pt2")
    quantized(folder / "elsewhere", plain())
    assert {path.name for path in (folder / "elsewhere").iterdir()} == {"observations.npz", "recipe.json", "result.json"}


def left_out(model, recipe, *words):
    """The cure is left out, with one warning that has these words; --strict fails with them."""
    done = run("plan", model, "--recipe", recipe)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("warning: the cure ")]
    assert done.returncode == 0 and "left out" in line, done
    strict = run("plan", model, "--recipe", recipe, "--strict")
    assert strict.returncode == 1 and strict.stdout == "" and len(strict.stderr.splitlines()) == 1, strict
    for text in (line, strict.stderr):
        assert all(str(word) in text for word in words), (words, text)


def test_what_does_not_belong_is_left_out(folder):
    recipe = variant(folder / "changed")
    with (folder / "changed" / "model.pt2").open("ab") as file:
        file.write(b"\0")
    left_out(MODEL, recipe, folder / "changed" / "model.pt2", "content differs")
    (folder / "changed" / "model.pt2").unlink()
    left_out(MODEL, recipe, folder / "changed" / "model.pt2", "no such file")
    words = given(folder / "small")
    train(words, folder / "small" / "out", "--steps", 2)
    for name, network, problem in (("names", Layers("other"), "has no parameter 'other.weight'"), ("shapes", Layers(width=12), "'body.weight' has another shape")):
        other = given(folder / name, network)
        left_out(other[0], folder / "small" / "out" / "recipe.json", "trained model", problem)


def test_switched_off_it_is_absent(folder):
    document = quantized(folder / "out", variant(folder / "off", off=True))
    assert document["nodes"] == measured()[0]["nodes"] and document["outputs"] == measured()[0]["outputs"]


def test_training_again(folder):
    """From the trained weights, towards the original model; the new recipe has the new training alone. Also into the same folder."""
    recipe = variant(folder / "again")
    words = [MODEL, "--recipe", recipe, "--data", DATA, *CPU]
    for out in (folder / "next", folder / "again"):
        document = train(words, out, "--steps", 40)
        assert abs(document["points"][0]["guard_db"] - best(trained()[1])["guard_db"]) < 0.3, document["points"][0]
        assert best(document)["guard_db"] >= document["points"][0]["guard_db"]
        (cure,) = json.loads((out / "recipe.json").read_text())["cures"]
        assert (cure["cure"], cure["file"]) == ("train", "model.pt2"), cure
    assert decibels(quantized(folder / "out", folder / "next" / "recipe.json")) > decibels(measured()[1]) - 0.3


def test_the_same_command_gives_the_same_bytes(folder):
    words = [MODEL, "--recipe", plain(), "--data", DATA, *CPU, "--steps", 12]

    def made(name, *more):
        document = train(words, folder / name, *more)
        return (folder / name / "model.pt2").read_bytes(), [{**point, "seconds": 0} for point in document["points"]]

    first, second, seeded, other = made("a", "--seed", 7), made("b", "--seed", 7), made("c"), made("d", "--seed", 8)
    assert first == second
    assert first[1][0] == seeded[1][0] == other[1][0] and first[0] != seeded[0] != other[0] != first[0]


def test_the_time_is_used_up(folder):
    words, out = given(folder), folder / "out"
    document = train(words, out, "--steps", 10_000_000, "--time", 1)
    assert document["stopped"] == "the time is used up" and 0 < document["steps"] < 10_000_000 and document["settings"]["seconds"] == 1, document
    assert len(document["points"]) > 5 and 0.9 < document["points"][-1]["seconds"] < 20, document["points"]
    assert document["points"][-1]["step"] == document["steps"]
    run_good("plan", words[0], "--recipe", out / "recipe.json", "--strict")
    assert "the best so far" in " ".join(run_good("train", "--help").split("--timeout")[1].split())


def test_an_interrupted_training_is_resumed(folder):
    """Its best state so far is written; resumed, it ends as if it had never stopped, to the bit."""
    words, out = [MODEL, "--recipe", plain(), "--data", DATA, *CPU, "--steps", 80, "--seed", 5], folder / "out"
    code, line = interrupted(["train", *words, "--out", out], r"train: step [12]\d of")
    document = json.loads((out / "training.json").read_text())
    assert code == 1 and "--resume" in line, line
    assert document["stopped"] == "cancelled" and 10 <= document["steps"] < 80 and len(document["points"]) > 1, document
    assert {path.name for path in out.iterdir()} == {"model.pt2", "recipe.json", "training.json", "training.partial.npz"}, list(out.iterdir())
    run_good("plan", MODEL, "--recipe", out / "recipe.json", "--strict")
    kept = (out / "training.partial.npz").read_bytes()
    for other in ([*words[:-1], 6], [*words, "--freeze", "stem"], [OTHER if word == DATA else word for word in words]):
        expect_bad("train", *other, "--resume", "--out", out, contains=["training.partial.npz"])
    assert (out / "training.partial.npz").read_bytes() == kept
    document, whole = train(words, out, "--resume"), train(words, folder / "whole")
    measured_anew = {"points": None, "peak_rss_bytes": None}
    assert {**document, **measured_anew} == {**whole, **measured_anew}
    assert [{**point, "seconds": 0} for point in document["points"]] == [{**point, "seconds": 0} for point in whole["points"]]
    assert (out / "model.pt2").read_bytes() == (folder / "whole" / "model.pt2").read_bytes()
    expect_bad("train", *words, "--resume", "--out", out, contains=["training.partial.npz"])


def test_a_project(folder):
    words = given(folder)
    project = folder / "work.project.json"
    recipe = {"format": "quantscope.recipe", "version": 1, **FOUR_BITS}
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": "model.pt2", "data": "data.npz", "recipe": recipe}))
    document = train([project, *CPU], folder / "out", "--steps", 3)
    assert Path(document["model"]).name == "model.pt2" and Path(document["data"]["path"]).name == "data.npz", document
    assert json.loads((folder / "out" / "recipe.json").read_text())["mapping"]["global"] == "w4"
    run_good("plan", words[0], "--recipe", folder / "out" / "recipe.json", "--strict")


def test_input_files_are_spared(folder):
    words = given(folder)
    read = {path: path.read_bytes() for path in folder.iterdir()}
    expect_bad("train", *words, "--steps", 2, "--out", folder, contains=[folder / "model.pt2", "--out would overwrite an input file"], code=2)
    assert {path: path.read_bytes() for path in folder.iterdir()} == read


def test_where_it_writes_is_checked_first(folder):
    (folder / "file").write_text("")
    gone = [folder / "none.pt2", "--data", folder / "none.npz", *CPU]  # is not looked for
    for out in (folder / "file", folder / "file" / "below", Path("/proc/out")):
        expect_bad("train", *gone, "--out", out, contains=[out, "output folder"])


def test_bad_input(folder):
    words, out = given(folder / "good"), folder / "out"

    def bad(network, *contains, more=(), code=1, name="bad", **options):
        made = given(folder / name, network, **options) if network else words
        expect_bad("train", *made, "--steps", 9, *more, "--out", out, contains=contains, out=out, code=code)

    bad(Layers(), "'drop'", "training mode", "call model.eval() before", train=True, name="trains")
    bad(Classes(), "no derivative", name="classes")
    bad(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), "too few samples for a guard", "the data give 3", "--no-guard", samples=3, name="few")
    bad(None, "labels", "--loss distill", more=("--loss", "labels"))
    bad(None, "'nothing'", "state dict", more=("--freeze", "nothing"), code=2)
    bad(None, "--freeze", more=("--freeze", "body", "--freeze", "head"), code=2)
    bad(None, "--optimizer sgd needs --lr", more=("--optimizer", "sgd"), code=2)
    bad(None, "--momentum", "sgd", more=("--momentum", 0.9), code=2)
    bad(None, "--optimizer", "adam", more=("--optimizer", "lion"), code=2)
    bad(None, "--lr", "'0' is not a number above 0", more=("--lr", 0), code=2)
    for option in ("--freeze-bn", "--freeze-observers"):
        for word in ("soon", "-1", "1.5"):
            bad(None, option, f"'{word}'", "'never'", more=(f"{option}={word}",), code=2)
    bad(None, "--steps", more=("--steps", 0), code=2)
    bad(None, "'soon'", "10m", more=("--time", "soon"), code=2)
    bad(None, "histogram", "--from-scratch", more=("--from-scratch", "--recipe", plain()), code=2)
    expect_bad("train", words[0], "--out", out, contains=["--data"], out=out, code=2)
    expect_bad("train", *words, contains=["--out"], code=2)
    data = numpy.load(words[2])["x"]
    data[30, 2] = numpy.nan
    numpy.savez(folder / "nan.npz", x=data)
    expect_bad("train", words[0], "--data", folder / "nan.npz", *CPU, "--out", out, contains=["nan.npz", "NaN", "[30, 2]"], out=out)
    # A layer that stays float multiplies without a bound.
    unbound = write_recipe(folder, backend="x86", mapping={"global": "x86", "module_name": [["head", None]]})
    bad(None, "not finite at step 2", "--lr", more=("--recipe", unbound, "--lr", "1e30"))
    run_good("quantize", *words, "--export", "pt2-reference", "--out", folder / "int8")
    expect_bad("train", folder / "int8" / "model.reference.pt2", *words[1:], "--out", out, contains=["already quantized", "float model"], out=out)


if __name__ == "__main__":
    main(__name__)

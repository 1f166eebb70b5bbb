# SPDX-License-Identifier: Apache-2.0
"""`train`'s options: what is trained and measured, which values the loss compares, where the ranges come from, how much memory it takes."""

import json

import numpy
import torch
from torch import nn

from harness import expect_bad, export_model, main, run, run_good, write_recipe
from test_train import CPU, FOUR_BITS, Layers, best, decibels, given, guard, quantized, stored, train


def points(document):
    return [{**point, "seconds": 0} for point in document["points"]]


def test_frozen_ones_stay(folder):
    words, out = given(folder, Layers(norm=True)), folder / "out"
    was = stored(words[0])

    def changed(*more):
        train(words, out, "--steps", 12, "--lr", 0.001, "--no-guard", *more)
        now = stored(out / "model.pt2")
        return {name for name in now if not torch.equal(was[name], now[name])}

    weights = {"body.weight", "body.bias", "norm.weight", "norm.bias", "head.weight", "head.bias"}
    statistics = {"norm.running_mean", "norm.running_var"}
    assert changed() == weights
    assert changed("--freeze", "body", "--freeze", "head.weight") == {"norm.weight", "norm.bias", "head.bias"}
    assert changed("--freeze-bn", "never") == changed("--freeze-bn", 2) == weights | statistics
    assert changed("--freeze-bn", "never", "--freeze", "norm") == {"body.weight", "body.bias", "head.weight", "head.bias"}


def test_options(folder):
    words, out = given(folder), folder / "out"
    network, data = Layers(), numpy.load(folder / "data.npz")["x"]
    network.load_state_dict(stored(words[0]))
    with torch.no_grad():
        labels = network.eval()(torch.from_numpy(data)).argmax(1)
    numpy.savez(folder / "labelled.npz", x=data, labels=(labels + 1).numpy() % 4)  # others than the network's: there is much to learn
    labelled = [words[0], "--data", folder / "labelled.npz", *CPU]
    document = train(labelled, out, "--loss", "labels", "--steps", 60, "--lr", 0.01, "--no-guard")
    assert document["settings"]["loss"] == "labels" and document["points"][-1]["loss"] < 0.5 * document["points"][1]["loss"], document["points"]
    assert document["guard_samples"] == 0 and document["best"] == len(document["points"]) - 1 and document["points"][-1]["guard_db"] is None, document["points"][-1]
    document = train(words, out, "--optimizer", "sgd", "--lr", 0.01, "--momentum", 0.9, "--schedule", "constant", "--steps", 8, "--freeze-observers", 3)
    wanted = {"optimizer": "sgd", "lr": 0.01, "momentum": 0.9, "schedule": "constant", "steps": 8, "freeze_observers": 3, "freeze_bn": 0, "from": "calibration"}
    assert document["settings"] == {**document["settings"], **wanted}, document["settings"]
    four = write_recipe(folder, **FOUR_BITS)
    document = train([*words, "--recipe", four], out, "--learn-scales", "--steps", 60)
    assert document["settings"]["learn_scales"] and best(document)["guard_db"] > document["points"][0]["guard_db"], document["points"]
    got = decibels(quantized(folder / "result", out / "recipe.json", model=words[0], data=words[2], compared=guard(words[2], folder)))
    assert abs(got - best(document)["guard_db"]) < 0.3, (got, best(document))
    training = write_recipe(folder, backend="x86", mapping={"global": "x86_qat"})
    document = train([*words, "--recipe", training], out, "--from-scratch", "--steps", 20)
    assert document["settings"]["from"] == "scratch" and document["points"][0]["step"] == 1, document["points"][0]
    done = run("train", *words, "--recipe", training, "--steps", 2, "--out", out)
    assert done.returncode == 0 and "train" not in done.stderr, done.stderr  # the note that `train` would train for such qconfigs is for others


def test_the_share_of_the_guard(folder):
    words, out = given(folder), folder / "out"
    for share, samples in (("50%", 32), ("12.5", 8), ("2%", 1)):
        document = train(words, out, "--steps", 3, "--guard", share)
        assert document["guard_samples"] == samples, document
    assert document["settings"]["guard"] == 0.02 and document["settings"]["batch_size"] == 1, document["settings"]  # 2 % needs 50 batches
    assert points(train(words, out, "--steps", 3)) == points(train(words, out, "--steps", 3, "--guard", "25%"))
    expect_bad("train", *words, "--guard", "1%", "--out", folder / "bad", contains=["needs 100 batches", "give 64"], out=folder / "bad")
    for wrong in ("0", "0%", "91%", "some", "25%%", "-5"):
        expect_bad("train", *words, f"--guard={wrong}", "--out", folder / "bad", contains=["--guard", "1% to 90%"], code=2)
    expect_bad("train", *words, "--guard", "25%", "--no-guard", "--out", folder / "bad", contains=["--guard", "--no-guard"], code=2)


def test_values_that_the_loss_compares(folder):
    """Each adds its noise divided by its signal; a node of a fused group stands for the group's result."""
    words, out = [*given(folder), "--recipe", write_recipe(folder, **FOUR_BITS), "--steps", 1, "--no-guard"], folder / "out"

    def first_loss(*names):
        return train(words, out, *(word for name in names for word in ("--match", name)))["points"][-1]["loss"]

    plain, relu, head = first_loss(), first_loss("relu"), first_loss("head")
    assert abs(head - 2 * plain) < 1e-6 * plain, (plain, head)  # the output once more
    assert relu > 1.1 * plain and first_loss("body") == first_loss("relu", "body") == relu, (plain, relu)
    assert abs(first_loss("relu", "head") - relu - plain) < 1e-6 * plain
    document = train(words[:-3], out, "--steps", 40, "--match", "body")
    before, after = document["points"][0], best(document)
    assert document["settings"]["match"] == ["body"] and after["guard_db"] > before["guard_db"], document["points"]
    measured = train(words[:-3], out, "--steps", 1)["points"][0]  # the guard is measured on the outputs alone
    assert measured["guard_db"] == before["guard_db"], (measured, before)
    expect_bad("train", *words, "--match", "bodi", "--out", out, contains=["'bodi'", "body"], code=2)
    expect_bad("train", *words, "--match", "body", "--loss", "labels", "--out", out, contains=["--match", "distill"], code=2)


def test_from_a_result(folder):
    """Training from a result's ranges is training after the same calibration; without --data, on the data of the calibration."""
    words, out = given(folder), folder / "out"
    recipe, result = write_recipe(folder, **FOUR_BITS), folder / "result"
    run_good("quantize", *words, "--recipe", recipe, "--export", "none", "--out", result)
    wanted = train([*words, "--recipe", recipe], out, "--steps", 30)
    model, written = (out / "model.pt2").read_bytes(), json.loads((out / "recipe.json").read_text())
    for more in ((), words[1:3]):
        document = train([words[0], *more, *CPU, "--from", result], out, "--steps", 30)
        assert points(document) == points(wanted) and (out / "model.pt2").read_bytes() == model
        assert json.loads((out / "recipe.json").read_text()) == written
    assert document["settings"]["from"] == str(result), document["settings"]
    other = numpy.load(words[2])["x"][::-1] * 3
    numpy.savez(folder / "other.npz", x=other)
    document = train([words[0], "--data", folder / "other.npz", *CPU, "--from", result], out, "--steps", 3)
    calibrated = train([words[0], "--data", folder / "other.npz", *CPU, "--recipe", recipe], out, "--steps", 3)
    assert document["points"][0]["guard_db"] < calibrated["points"][0]["guard_db"], "ranges of the result, of values three times smaller"
    got = decibels(quantized(folder / "again", out / "recipe.json", model=words[0], data=words[2], compared=guard(words[2], folder)))
    assert got > 0
    model = [words[0], *CPU, "--from", result]
    expect_bad("train", *model, "--recipe", recipe, "--out", folder / "bad", contains=["--from", "--recipe"], code=2)
    expect_bad("train", *model, "--from-scratch", "--out", folder / "bad", contains=["--from", "--from-scratch"], code=2)
    expect_bad("train", *model, "--out", result, contains=["recipe.json", "--out would overwrite an input file"], code=2)
    expect_bad("train", words[0], *CPU, "--from", folder, "--out", folder / "bad", contains=[folder], out=folder / "bad")
    given(folder / "another", Layers(width=12))
    expect_bad("train", folder / "another" / "model.pt2", *CPU, "--from", result, "--out", folder / "bad", contains=["another"], out=folder / "bad")


def test_learned_scales_by_the_recipe(folder):
    """`learnable_fake_quantize` of a recipe is --learn-scales for its observers."""
    words = given(folder)
    learned = {**FOUR_BITS, "qconfigs": {"w4": {part: {"observer": "learnable_fake_quantize", "inner": inner}
                                               for part, inner in FOUR_BITS["qconfigs"]["w4"].items()}}}
    made = []
    for name, recipe, more in (("a", FOUR_BITS, ["--learn-scales"]), ("b", learned, [])):
        (folder / name).mkdir()
        document = train([*words, "--recipe", write_recipe(folder / name, **recipe)], folder / name / "out", "--steps", 20, *more)
        made.append((points(document), (folder / name / "out" / "model.pt2").read_bytes()))
    assert made[0] == made[1]
    shown = run_good("inspect", words[0], "--recipe", folder / "b" / "recipe.json", "--code", "--form", "prepared")
    assert shown.count("_LearnableFakeQuantize(") == 6, shown  # the input, the results of relu, dropout and head, two weights
    expect_bad("train", *words, "--recipe", folder / "b" / "recipe.json", "--from-scratch", "--out", folder / "bad",
               contains=["learnable_fake_quantize", "--from-scratch"], code=2)


class Stopped(Layers):
    """A node without a derivative between the layers."""

    def forward(self, x):
        x = self.relu(self.body(x))
        return self.head(torch.nextafter(x, x + 1))


def test_what_does_not_train(folder):
    """Parameters before a node without a derivative stay, and are named with it."""
    words, out = given(folder, Stopped()), folder / "out"
    document = train(words, out, "--steps", 5, "--lr", 0.001, "--no-guard")
    assert len(document["notes"]) == 1, document["notes"]
    for word in ("'body.weight'", "'body.bias'", "do not train", "'nextafter' has no derivative"):
        assert word in document["notes"][0], document["notes"]
    was, now = stored(words[0]), stored(out / "model.pt2")
    assert {name for name in now if not torch.equal(was[name], now[name])} == {"head.weight", "head.bias"}


class Wide(nn.Module):
    """Convolutions whose values need much more memory than their weights."""

    def __init__(self):
        super().__init__()
        layers = [[nn.Conv2d(3 if i == 0 else 16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()] for i in range(8)]
        self.body, self.head = nn.Sequential(*sum(layers, [])), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def test_memory(folder):
    """A step that needs more than --memory runs by segments, with the same result, then in smaller batches; the peak stays below."""
    torch.manual_seed(3)
    x = torch.randn(32, 3, 64, 64)
    export_model(Wide(), (x[:2],), folder / "model.pt2")
    numpy.savez(folder / "data.npz", x=x.numpy())
    words = [folder / "model.pt2", "--data", folder / "data.npz", *CPU, "--recipe",
             write_recipe(folder, backend="x86", mapping={"global": "x86_qat"}, calibration={"batch_size": 16}),
             "--steps", 2, "--no-guard", "--freeze-bn", "never"]
    whole = train(words, folder / "whole")
    megabytes = {name: whole[name] / 2**20 for name in ("predicted_bytes", "peak_rss_bytes")}
    assert 240 < megabytes["peak_rss_bytes"] < megabytes["predicted_bytes"] * 1.1 < 1000, megabytes
    limit = int(0.75 * megabytes["predicted_bytes"])
    parts = train(words, folder / "parts", "--memory", f"{limit}M")
    assert parts["settings"]["batch_size"] == 16 and parts["predicted_bytes"] <= limit * 2**20 and not parts["notes"], parts
    assert parts["peak_rss_bytes"] < limit * 2**20 and parts["peak_rss_bytes"] < 0.85 * whole["peak_rss_bytes"], parts
    assert points(parts) == points(whole)
    assert (folder / "parts" / "model.pt2").read_bytes() == (folder / "whole" / "model.pt2").read_bytes()
    small = train(words, folder / "small", "--memory", "220M")
    assert small["settings"]["batch_size"] < 16 and "--memory gives 220 MB" in small["notes"][0], small
    assert small["peak_rss_bytes"] < 220 * 2**20, small
    expect_bad("train", *words, "--memory", "150M", "--out", folder / "bad", contains=["--memory"], out=folder / "bad")


if __name__ == "__main__":
    main(__name__)

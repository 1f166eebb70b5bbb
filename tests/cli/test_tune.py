# SPDX-License-Identifier: Apache-2.0
"""`tune`: each goal, what limits and forbids, what is reported and written: the recipe gives in `quantize` what the search measured, and
a model that is good is left as it is."""

import json
import os
import subprocess
import sys

import cure_models
import numpy
import torch
from harness import expect_bad, main, run, run_good, write_recipe
from torch import nn
from tune_searches import LIMITS, best, given, sick, tuned


def measured(folder, words, recipe, data):
    """The SQNR that `quantize` reports of the first output with this recipe, on these data."""
    given = [recipe if word == words[2] else word for word in words]
    run_good("quantize", *given, "--compare-on", data, "--export", "none", "--out", folder)
    return json.loads((folder / "result.json").read_text())["outputs"][0]["cumulative"]["sqnr_db"]


def test_a_goal_is_reached_and_the_recipe_gives_what_was_measured(folder):
    words, out = sick(folder), folder / "tuned.json"
    search = tuned(words, out, "--goal", "sqnr 20")
    first, last = search["trials"][0], best(search)
    assert search["reached"] and last["guard"]["sqnr_db"] >= 20 > first["guard"]["sqnr_db"], (first, last)
    assert last["int8_macs"] >= search["keep_int8"] and search["cures"], search["cures"]
    assert (search["search_samples"], search["guard_samples"]) == (48, 16)
    # The guard is every fourth batch of eight; searched are the others.
    data = numpy.load(words[4])["x"]
    ways = {"search": numpy.ones(64, bool), "guard": numpy.zeros(64, bool)}
    for start in (24, 56):
        ways["search"][start:start + 8], ways["guard"][start:start + 8] = False, True
    for name, chosen in ways.items():
        numpy.savez(folder / f"{name}.npz", x=data[chosen])
        got = measured(folder / name, words, out, folder / f"{name}.npz")
        assert abs(got - last[name]["sqnr_db"]) < 1e-9, (name, got, last[name])


def test_a_missed_goal_leaves_the_best_recipe(folder):
    words, out = sick(folder), folder / "tuned.json"
    search = tuned(words, out, "--goal", "sqnr 90", "--keep-int8", 60, code=1)
    assert not search["reached"] and search["stopped"] and search["remaining"], search["stopped"]
    assert best(search)["guard"]["sqnr_db"] == max(one["guard"]["sqnr_db"] for one in search["trials"] if one["int8_macs"] >= 0.6)
    assert any("weights alone" in note for note in search["notes"]), search["notes"]
    done = run("tune", *words, "--goal", "sqnr 90", "--keep-int8", 60, *LIMITS, "--out", out)
    assert done.returncode == 1 and "Missed: best" in done.stdout and "What is left of the noise" in done.stdout, done.stdout
    assert done.stderr.splitlines()[-1].endswith("was not reached; the best recipe is written"), done.stderr
    run_good("plan", words[0], "--recipe", out)


def test_a_good_model_is_left_as_it_is(folder):
    words, out = cure_models.outlier_channel().healthy.write(folder / "healthy"), folder / "tuned.json"
    search = tuned(words, out, "--goal", "sqnr 25")
    assert search["reached"] and len(search["trials"]) == 1 and not search["cures"]
    assert "nothing was changed" in search["stopped"], search["stopped"]
    assert not json.loads(out.read_text()).get("cures")


def test_other_goals(folder):
    words = sick(folder)
    near = tuned(words, folder / "cosine.json", "--goal", "cosine 0.99")
    assert near["reached"] and best(near)["guard"]["cosine"] >= 0.99 > near["trials"][0]["guard"]["cosine"]
    agree = tuned(words, folder / "top1.json", "--goal", "top1-drop 5")
    assert agree["reached"] and best(agree)["guard"]["top1_drop"] <= 5
    # The command gets the outputs of all data: here how near their mean square is to the float model's.
    numpy.savez(folder / "float.npz", y=reference(words))
    command = f"{sys.executable} -c \"import numpy, sys; a = numpy.load(sys.argv[1]); a = a[a.files[0]]; " \
              f"b = numpy.load('{folder / 'float.npz'}')['y']; print(1 - float(((a - b) ** 2).sum() / (b ** 2).sum()))\""
    scored = tuned(words, folder / "metric.json", "--goal", "metric 0.99", "--eval", command)
    assert scored["reached"] and best(scored)["guard"]["metric"] >= 0.99, best(scored)
    expect_bad("tune", *words, "--goal", "metric 0.9", "--out", folder / "none.json", contains=["--eval"], code=2)


def reference(words):
    program = torch.export.load(words[0])
    with torch.no_grad():
        made = program.module()(torch.from_numpy(numpy.load(words[4])["x"]))
    return (made if isinstance(made, torch.Tensor) else made[0]).numpy()


def test_limits_and_what_is_forbidden(folder):
    words = sick(folder)
    one = tuned(words, folder / "one.json", "--goal", "sqnr 90", "--trials", 1, code=1)
    assert len(one["trials"]) == 1 and "trials are used up" in one["stopped"]
    few = tuned(words, folder / "few.json", "--goal", "sqnr 90", "--forwards", 3, code=1)
    assert "forward passes are used up" in few["stopped"]
    whole = tuned(words, folder / "whole.json", "--goal", "sqnr 90", "--keep-int8", 100, code=1)
    assert best(whole)["int8_macs"] == 1 and best(whole)["guard"]["sqnr_db"] > whole["trials"][0]["guard"]["sqnr_db"]
    free = tuned(words, folder / "free.json", "--goal", "sqnr 20")
    kinds = {cure["cure"] for cure in free["cures"]}
    assert "float" in kinds, kinds
    held = tuned(words, folder / "held.json", "--goal", "sqnr 90", "--allow", "range,float_result", code=1)
    assert {cure["cure"] for cure in held["cures"]} <= {"range", "float_result"}
    expect_bad("tune", *words, "--forbid", "float@nowhere", "--out", folder / "x.json", contains=["--forbid", "nowhere"], code=2)
    expect_bad("tune", *words, "--forbid", "melt@add", "--out", folder / "x.json", contains=["melt"], code=2)
    barred = tuned(words, folder / "barred.json", "--goal", "sqnr 90", "--forbid", "float@layer_norm", code=1)
    assert all("layer_norm" not in json.dumps(cure) for cure in barred["cures"] if cure["cure"] == "float"), barred["cures"]


def test_where_it_writes_is_checked_first(folder):
    """Before the model is opened: one line, and nothing is left."""
    words, file = sick(folder), folder / "file"
    file.write_text("")
    os.mkfifo(folder / "pipe")
    (folder / "place.tune.json").mkdir()
    gone = [folder / "none.pt2", *words[1:]]  # is not looked for
    for out in (folder / "missing" / "tuned.json", file / "tuned.json", folder, "/proc/tuned.json", folder / "pipe", folder / "place.json"):
        expect_bad("tune", *gone, "--out", out, contains=[out if out != folder / "place.json" else "place.tune.json"])
    for read in (words[0], words[2], words[4]):
        before = read.read_bytes()
        expect_bad("tune", *words, "--out", read, contains=[read, "--out would replace what is read"], code=2)
        assert read.read_bytes() == before
    left = {path.name for path in folder.rglob("*")}
    assert left == {"sick", "model.pt2", "data.npz", "recipe.json", "file", "pipe", "place.tune.json"}, left
    place = folder / "ro"
    place.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", place], capture_output=True, check=False).returncode:
        print("no file system can be mounted here")
        return
    try:
        expect_bad("tune", *gone, "--out", place / "tuned.json", contains=["tuned.json", "cannot be written", "Read-only"])
    finally:
        subprocess.run(["umount", place], check=True)


class Counts(nn.Module):
    """Its one output holds integers."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, x):
        return (self.fc(x) > 0).sum(1)


class Split(nn.Module):
    """NaN where the first value of a sample is negative."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, x):
        return torch.sqrt(self.fc(x)[:, 1:].abs()) + torch.sqrt(x[:, :1])


class Pooled(nn.Module):
    """NaN in all that a batch gives where it is in one sample."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, x):
        return self.fc(x) + torch.sqrt(x[:, :1]).mean()


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def test_bad_input(folder):
    torch.manual_seed(3)
    data = cure_models.values(32, 16)
    out = folder / "tuned.json"
    linear = given(folder / "linear", nn.Sequential(nn.Linear(16, 16), nn.ReLU()), data)
    numpy.savez(folder / "one.npz", x=data[:1].numpy())
    expect_bad("tune", linear[0], "--data", folder / "one.npz", "--device", "cpu", "--out", out, contains=["1 sample", "--no-guard"])
    expect_bad("tune", *given(folder / "counts", Counts(), data), "--out", out, contains=["no noise"])
    expect_bad("tune", *linear, "--goal", "sqnr", "--out", out, contains=["goal"], code=2)
    expect_bad("tune", *linear, "--keep-int8", 120, "--out", out, contains=["--keep-int8"], code=2)
    expect_bad("tune", *linear, "--goal", "top1-drop 1", "--eval", "true", "--out", out, contains=["--eval"], code=2)
    expect_bad("tune", *linear, "--out", folder / "missing" / "tuned.json", contains=["missing"])
    assert not out.exists()
    split = given(folder / "split", Split(), data.abs())
    some, every = data.abs(), data.abs()
    some[3, 0], every[:, 0] = -1, -1
    for name, values in (("some", some), ("every", every)):
        numpy.savez(folder / f"{name}.npz", x=values.numpy())
    # Data to calibrate by are refused as by `quantize`; of those to compare on, what is not finite is left out.
    expect_bad("tune", split[0], "--data", folder / "some.npz", "--device", "cpu", "--out", out, contains=["sqrt_1", "NaN", "batch 1"])
    expect_bad("tune", *split, "--compare-on", folder / "every.npz", "--out", out, contains=["every.npz", "finite"])
    assert not out.exists()
    done = run("tune", *split, "--compare-on", folder / "some.npz", "--goal", "sqnr 20", "--keep-int8", 0, "--out", out, "--json")
    assert done.returncode in (0, 1), done.stderr
    search = json.loads(done.stdout)
    assert (search["search_samples"], search["guard_samples"]) == (23, 8), search["notes"]
    assert any(note.startswith("sample 3 is left out: ") and "not finite" in note for note in search["notes"]), search["notes"]
    tied = json.loads(run("tune", *given(folder / "tied", Tied(), data), "--goal", "sqnr 60", "--out", folder / "tied.json", "--json").stdout)
    assert tied["trials"]


def test_samples_that_are_not_finite(folder):
    """Only they are left out, and only what is left is counted, for the guard as well."""
    torch.manual_seed(3)
    good = cure_models.values(64, 16).abs()

    def searched(name, network, bad, *more, dynamic=True, count=64):
        data = good[:count].clone()
        data[bad, 0] = -1
        words = given(folder / name, network, good, dynamic)
        numpy.savez(folder / name / "other.npz", x=data.numpy())
        return ["tune", *words, "--compare-on", folder / name / "other.npz", "--goal", "sqnr 90", "--trials", 1, *more, "--out",
                folder / name / "tuned.json"]

    def counts(words):
        done = run(*words, "--json")
        search = json.loads(done.stdout)
        return search["search_samples"], search["guard_samples"], [note for note in search["notes"] if "left out" in note or "go with" in note]

    # The fourth, the last and two more; the guard is the fourth and the eighth batch of what is left.
    some = counts(searched("some", Split(), [3, 24, 31, 63]))
    assert some[:2] == (47, 13) and len(some[2]) == 1 and some[2][0].startswith("samples 3, 24, 31 and 63 are left out: "), some
    # As many as are asked for are taken where there are more.
    fewer = counts(searched("fewer", Split(), [0, 1], "--samples", 32))
    assert fewer[0] + fewer[1] == 32 and fewer[1] == 8, fewer
    # A batch that goes whole is not a batch of the guard.
    mixed = counts(searched("mixed", Pooled(), [24]))
    assert mixed[:2] == (48, 8) and "8 samples, 24 the first of them, are left out" in mixed[2][0], mixed
    fixed = counts(searched("fixed", Split(), [24], dynamic=False))
    assert fixed[:2] == (48, 14) and "sample 24 is left out" in fixed[2][0] and "1 other sample " in fixed[2][1], fixed
    # Where no guard is left, what to give is true: four samples that are finite are one, with sixteen there is one as well.
    left = list(range(3, 16))
    expect_bad(*searched("none", Split(), left, count=16), contains=["other.npz", "3 samples with finite outputs: no guard", "give 16 or more"])
    four = counts(searched("four", Split(), left[1:], count=16))
    assert four[:2] == (3, 1), four
    sixteen = counts(searched("sixteen", Split(), [], count=16))
    assert sixteen[:2] == (12, 4), sixteen
    expect_bad(*searched("asked", Split(), [], "--samples", 3), contains=["3 samples: no guard", "--samples 16 or more"])


def test_a_start_with_a_cure_that_does_not_fit(folder):
    data = cure_models.values(32, 16)
    words = given(folder / "linear", nn.Sequential(nn.Linear(16, 16), nn.ReLU()), data)
    recipe = write_recipe(folder, backend="x86", mapping={"global": "x86"},
                          cures=[{"cure": "float", "at": {"module": "gone", "op": "aten.linear.default"}}])
    done = run("tune", *words, "--recipe", recipe, "--goal", "sqnr 10", "--out", folder / "tuned.json", "--json")
    assert done.returncode == 0 and "gone" in done.stderr, done.stderr


class Positions(nn.Module):
    """Adds to a value the embedding of its place, which is counted in floats that do not depend on the data."""

    def __init__(self, fixed):
        super().__init__()
        self.fixed, self.table, self.fc = fixed, nn.Embedding(200, 16), nn.Linear(16, 16)

    def forward(self, x):
        ones = torch.ones(1, 150) if self.fixed else x.new_ones(x.shape[:2])
        places = torch.cumsum(ones, 1) * ones - 1
        return self.fc(x + self.table(places.long()))


def test_positions_are_blamed_where_they_are_quantized(folder):
    for fixed in (True, False):
        words = given(folder / f"places {fixed}", Positions(fixed), cure_models.values(32, 150, 16))
        first = json.loads(run_good("why", *words, "--json"))["sites"][0]
        assert "mul" in (first["node"], *first["at"]), first
        search = tuned(words, folder / f"tuned {fixed}.json", "--goal", "sqnr 25")
        assert search["reached"] and best(search)["guard"]["sqnr_db"] > search["trials"][0]["guard"]["sqnr_db"] + 5, search["trials"]


if __name__ == "__main__":
    main(__name__)

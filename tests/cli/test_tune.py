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
from harness import EIGHT_BITS, expect_bad, main, mounted, run, run_good, write_recipe
from torch import nn
from tune_searches import LIMITS, UNSCALED, best, given, sick, tuned


def measured(folder, words, recipe, data):
    """The SQNR that `quantize` reports of the first output with this recipe, on these data."""
    given = [recipe if word == words[2] else word for word in words]
    run_good("quantize", *given, "--compare-on", data, "--export", "none", "--out", folder)
    return json.loads((folder / "result.json").read_text())["outputs"][0]["cumulative"]["sqnr_db"]


def check_measured(folder, bound, *more):
    """The best trial, whose figures `quantize` gives again to so many dB with the recipe."""
    words, out = sick(folder), folder / "tuned.json"
    search = tuned(words, out, "--goal", "sqnr 20", *more)
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
        assert abs(got - last[name]["sqnr_db"]) < bound, (name, got, last[name])
    return last


def test_a_goal_is_reached_and_the_recipe_gives_what_was_measured(folder):
    check_measured(folder, 1e-9, "--allow", "range,float,float_result,bound")


def test_an_outlier_channel_is_split_off(folder):
    """The split model's float outputs are the model's to rounding: `quantize` measures against the one, the search against the other."""
    last = check_measured(folder, 1e-4)
    assert any(cure["cure"] == "split" and cure["channels"] == [5] for cure in last["cures"]), last["cures"]
    assert last["stage"] == "split" and last["int8_macs"] > 0.9, last


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


def test_cures_that_keep_int8_does_not_allow(folder):
    """They are listed with what each would gain, which the first one does, and cost."""
    words, out = sick(folder), folder / "tuned.json"
    search = tuned(words, out, "--goal", "sqnr 40", "--keep-int8", 100, *UNSCALED, code=1)
    assert best(search)["int8_macs"] == 1 and len(search["barred"]) == 2, search["barred"]
    head, up = search["barred"]
    assert (head["cure"], up["cure"]["at"]["module"]) == ({"cure": "float", "at": {"module": "head", "op": "aten.linear.default"}}, "up"), search["barred"]
    # 24 x 32, 32 x 24 and 24 x 8 multiplications.
    assert abs(head["int8_macs"] - 1 / 9) < 1e-9 and abs(up["int8_macs"] - 4 / 9) < 1e-9
    assert head["gain_db"] > up["gain_db"] > 0.1
    recipe = json.loads(out.read_text())
    for cures in ([], [head["cure"]]):
        (folder / f"{len(cures)}.json").write_text(json.dumps({**recipe, "cures": recipe["cures"] + cures}))
    before, after = (measured(folder / f"out{n}", words, folder / f"{n}.json", words[4]) for n in (0, 1))
    assert abs(after - before - head["gain_db"]) < 1, (before, after, head)
    done = run("tune", *words, "--goal", "sqnr 40", "--keep-int8", 100, *UNSCALED, *LIMITS, "--out", out)
    lines = done.stdout.splitlines()
    at = lines.index("Cures that --keep-int8 100 does not allow, each by itself")
    assert lines[at + 4].split() == ["float", f"+{head['gain_db']:.2f}", "-11.1", "%", "head", "·", "linear"], lines[at:at + 6]
    # What is forbidden anyway is not listed, nor what the bound allows; a goal that is reached lists nothing.
    assert [one["cure"]["at"]["module"] for one in
            tuned(words, out, "--goal", "sqnr 40", "--keep-int8", 100, *UNSCALED, "--forbid", "float@head · linear", code=1)["barred"]] == ["up"]
    assert tuned(words, out, "--goal", "sqnr 40", "--keep-int8", 100, "--allow", "range,float_result", code=1)["barred"] == []
    assert [one["cure"]["at"]["module"] for one in tuned(words, out, "--goal", "sqnr 90", "--keep-int8", 60, "--allow", "range,float,float_result,bound",
                                                         code=1)["barred"]] == ["up"]
    assert tuned(words, out, "--goal", "sqnr 20")["barred"] == []


def test_nothing_left_to_quantize_is_not_a_recipe(folder):
    """With no multiplication to keep the goal asks for all of them in floats: such a trial is not possible, one with fewer is."""
    torch.manual_seed(3)
    words, out = given(folder / "tied", Tied(), cure_models.values(64, 16)), folder / "tuned.json"
    search = tuned(words, out, "--goal", "sqnr 90", "--keep-int8", 0, code=1)
    assert any("nothing is quantized" in note for note in search["notes"]), search["notes"]
    assert 0 < best(search)["int8_macs"] < 1, search["trials"]
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
    late = tuned(words, folder / "late.json", "--goal", "sqnr 90", "--time", "0.001", code=1)
    assert len(late["trials"]) == 1 and "time is used up" in late["stopped"], (late["stopped"], len(late["trials"]))
    assert late["remaining"] and json.loads((folder / "late.json").read_text())["format"] == "quantscope.recipe"
    expect_bad("tune", *words, "--time", "soon", "--out", folder / "x.json", contains=["soon", "10m"], code=2)
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


def test_time_as_the_cost(folder):
    """Each trial has the sum of its operators' times: as integers, or as floats where a cure keeps them float."""
    words, out = sick(folder), folder / "tuned.json"
    search = tuned(words, out, "--goal", "sqnr 40", "--keep-int8", 30, "--cost", "ms", "--trials", 5, code=None)
    times, trials = {one["name"]: one for one in search["times"] if one["name"]}, search["trials"]
    assert times and all(one["float_ms"] > 0 and one["int8_ms"] > 0 for one in times.values()), times
    assert all(trial["ms"] > 0 for trial in trials) and len({trial["ms"] for trial in trials}) > 1, trials
    start = sum(one["int8_ms"] for one in search["times"])
    assert abs(trials[0]["ms"] - start) < 1e-6 * start, (trials[0]["ms"], start)
    done = run("tune", *words, "--goal", "sqnr 40", "--cost", "ms", "--trials", 1, *LIMITS, "--out", out)
    assert "int8 MACs  " in done.stdout and "  ms  " in done.stdout, done.stdout
    expect_bad("tune", *words, "--cost", "joules", "--out", out, contains=("--cost", "macs"), code=2)


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
        expect_bad("tune", *words, "--out", read, contains=[read, "--out would overwrite an input file"], code=2)
        assert read.read_bytes() == before
    left = {path.name for path in folder.rglob("*")}
    assert left == {"sick", "model.pt2", "data.npz", "recipe.json", "file", "pipe", "place.tune.json"}, left
    place = folder / "ro"
    place.mkdir()
    with mounted(place, "ro") as is_mounted:
        if is_mounted:
            expect_bad("tune", *gone, "--out", place / "tuned.json", contains=["tuned.json", "cannot be written", "Read-only"])


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
    linear[0] = folder / "int8" / "model.reference.pt2"
    run_good("quantize", folder / "linear" / "model.pt2", *linear[1:], "--export", "pt2-reference", "--out", folder / "int8")
    expect_bad("tune", *linear, "--out", folder / "none.json", contains=[linear[0].name, "already quantized", "float model"])
    assert not (folder / "none.json").exists() and not (folder / "none.tune.json").exists()


def test_tied_weights(folder):
    """Two layers with one weight: each gets its cures, and the recipe gives what was measured."""
    torch.manual_seed(3)
    words, out = given(folder / "tied", Tied(), cure_models.values(64, 16)), folder / "tuned.json"
    search = tuned(words, out, "--goal", f"sqnr {(goal := 40 if EIGHT_BITS else 36)}")
    assert search["reached"] and best(search)["guard"]["sqnr_db"] >= goal > search["trials"][0]["guard"]["sqnr_db"], search["trials"]
    assert {"first", "second"} == {cure["at"]["module"] for cure in search["cures"] if cure["cure"] == "float_result"}, search["cures"]
    data = numpy.load(words[2])["x"]
    numpy.savez(folder / "guard.npz", x=numpy.concatenate([data[24:32], data[56:64]]))
    run_good("quantize", *words, "--recipe", out, "--compare-on", folder / "guard.npz", "--export", "none", "--out", folder / "out")
    got = json.loads((folder / "out" / "result.json").read_text())["outputs"][0]["cumulative"]["sqnr_db"]
    assert abs(got - best(search)["guard"]["sqnr_db"]) < 1e-9, (got, best(search))


class Quiet(nn.Module):
    """Its second output is always zero."""

    def __init__(self):
        super().__init__()
        self.fc, self.other = nn.Linear(16, 16), nn.Linear(16, 4)

    def forward(self, x):
        return torch.tanh(self.fc(x)), torch.relu(self.other(x) - 100)


def test_an_output_without_signal(folder):
    """It is said, and does not count: the other one is held to the goal, and its noise is blamed."""
    torch.manual_seed(3)
    words = given(folder / "quiet", Quiet(), cure_models.values(64, 16))
    search = tuned(words, folder / "tuned.json", "--goal", f"sqnr {(goal := 36 if EIGHT_BITS else 35)}")
    assert search["reached"] and goal <= best(search)["guard"]["sqnr_db"] < 200, search["trials"]
    assert any("'relu' is not measured: it is zero" in note for note in search["notes"]), search["notes"]
    for trial in search["trials"]:
        assert trial["guard"]["by_output"][0] > 0 and trial["guard"]["by_output"][1] is None, trial
    assert all(site["share"] == 0 for site in search["blame"] if site["node"] == "linear_1"), search["blame"]


def test_front_and_blame_of_the_document(folder):
    words = sick(folder)
    search = tuned(words, folder / "tuned.json", "--goal", "sqnr 90", "--keep-int8", 30, code=1)
    points = [(trial["guard"]["sqnr_db"], trial["int8_macs"]) for trial in search["trials"]]
    wanted = [i for i, (db, macs) in enumerate(points)
              if not any(d >= db and m >= macs and (d, m) != (db, macs) for d, m in points)]
    assert search["front"] == wanted and len(wanted) > 1 and len(wanted) < len(points), (search["front"], points)
    assert search["best"] in wanted
    # Who makes the noise of the recipe that it began with: the same as `why` says of the searched samples.
    numpy.savez(folder / "searched.npz", x=numpy.delete(numpy.load(words[4])["x"], numpy.r_[24:32, 56:64], 0))
    why = json.loads(run_good("why", *words, "--compare-on", folder / "searched.npz", "--samples", 64, "--json"))
    ours = {(site["node"], site["kind"], site["readers"]): site["share"] for site in search["blame"]}
    theirs = {(site["node"], site["kind"], site["readers"]): site["expected"] for site in why["sites"]}
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    for key, share in theirs.items():
        assert abs(ours[key] - share) <= 1e-6 * share, (key, ours[key], share)
    shares = [site["share"] for site in search["blame"]]
    assert shares == sorted(shares, reverse=True)
    assert [cause["cause"] for cause in search["causes"]] == [cause["cause"] for cause in why["causes"]]


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

# SPDX-License-Identifier: Apache-2.0
"""The last stage of `tune`, a training: when it runs, what it gains on the guard, and the one file that it leaves."""

import hashlib
import json
import os
import shutil
import signal

import torch

import tune_searches
from harness import expect_bad, interrupted, main, run, run_good, write_recipe
from test_train import CPU, DATA, FOUR_BITS, MODEL, SAMPLES, decibels, guard, quantized
from tune_searches import LIMITS, best, tuned

INT8 = ("--keep-int8", 100)
UNTRAINED = "range,float,float_result,bound,split,equalize,smooth,bias"  # what does not reach 26 dB
MINMAX = {"backend": "x86", "mapping": {"global": "minmax"}, "qconfigs": {"minmax": {
    "activation": {"observer": "minmax", "reduce_range": True},
    "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -127, "quant_max": 127}}}}


def given(folder):
    """The words of the sample with weights of four bits."""
    folder.mkdir(exist_ok=True)
    return [MODEL, "--recipe", write_recipe(folder, **FOUR_BITS), "--data", DATA, *CPU]


def exact_weights(folder):
    """The words of a network whose weights are whole numbers of steps: only its values have noise."""
    network = torch.nn.Linear(16, 8)
    torch.manual_seed(5)
    with torch.no_grad():
        network.weight.copy_(torch.randint(-127, 128, (8, 16)) / 127)
        network.weight[:, 0] = 1
    return [*tune_searches.given(folder / "exact", network, torch.rand(64, 16)), "--recipe", write_recipe(folder, **MINMAX)]


def state(out):
    return out.with_suffix(".tune.json")


def trained(out):
    return out.with_suffix(".trained.pt2")


def stages(search):
    return [trial["stage"] for trial in search["trials"]]


def searched_guard(folder):
    """The samples that a search of 64 only measures."""
    import numpy

    arrays = numpy.load(guard(DATA, folder))
    numpy.savez(folder / "two.npz", **{name: arrays[name][:16] for name in arrays.files})
    return folder / "two.npz"


def test_a_training_reaches_what_other_cures_do_not(folder):
    words, out = given(folder), folder / "tuned.json"
    free = tuned(words, folder / "free.json", "--goal", "sqnr 26", *INT8, "--allow", UNTRAINED, code=1)
    assert "train" not in stages(free) and not trained(folder / "free.json").exists(), stages(free)
    search = tuned(words, out, "--goal", "sqnr 26", *INT8, "--allow", UNTRAINED + ",train")
    last = search["trials"][-1]
    print(f"guard {best(free)['guard']['sqnr_db']:.2f} dB without, {last['guard']['sqnr_db']:.2f} dB with; predicted {last['predicted_db']:.2f} dB")
    assert search["reached"] and search["best"] == len(search["trials"]) - 1 and stages(search)[:-1] == stages(free), stages(search)
    assert last["stage"] == "train" and last["guard"]["sqnr_db"] > best(free)["guard"]["sqnr_db"] + 5, last
    assert abs(last["predicted_db"] - last["search"]["sqnr_db"]) < 3, last
    # 300 steps on six batches of the searched samples, each of which counts three.
    assert last["forwards"] - search["trials"][-2]["forwards"] > 150
    cure = last["cures"][-1]
    assert cure == {"cure": "train", "file": "tuned.trained.pt2", "sha256": hashlib.sha256(trained(out).read_bytes()).hexdigest()}, cure
    assert {path.name for path in folder.glob("tuned*")} == {"tuned.json", "tuned.tune.json", "tuned.trained.pt2"}
    # The recipe gives what was measured, also where its folder was moved; each cure names the trial that took it.
    recipe = json.loads(out.read_text())
    assert recipe["cures"][-1]["by"].endswith(f", trial {len(search['trials'])}") and recipe["cures"][-1]["by"][:5] == "tune ", recipe["cures"][-1]
    base = search["trials"][last["base"]]
    assert recipe["cures"][-1]["gain_db"] == last["guard"]["sqnr_db"] - base["guard"]["sqnr_db"]
    (folder / "moved").mkdir()
    for file in (out, trained(out)):
        file.rename(folder / "moved" / file.name)
    got = decibels(quantized(folder / "result", folder / "moved" / out.name, compared=searched_guard(folder)))
    assert abs(got - last["guard"]["sqnr_db"]) < 1e-4, (got, last["guard"])


def test_in_words(folder):
    words, out = given(folder), folder / "tuned.json"
    done = run("tune", *words, "--goal", "sqnr 26", *INT8, "--allow", "train", *LIMITS, "--out", out)
    row = next(line for line in done.stdout.splitlines() if " train " in line).split()
    assert done.returncode == 0 and row[:2] == ["2", "train"] and abs(float(row[2]) - float(row[3])) < 3 and row[-2:] == ["reached,", "best"], done.stdout
    assert "  train  the model\n" in done.stdout, done.stdout
    text = " ".join(run_good("tune", "--help").split())
    assert "train, or all; without it all but train" in text, text


def test_when_it_does_not_run(folder):
    words, out = given(folder), folder / "tuned.json"

    def untrained(*more, words=words, code=1):
        search = tuned(words, out, *more, code=code)
        assert "train" not in stages(search) and not trained(out).exists(), stages(search)
        return search

    untrained("--goal", "sqnr 26", *INT8, "--allow", "range,float,float_result")
    untrained("--goal", "sqnr 15", "--allow", "all", code=0)
    assert "time is used up" in untrained("--goal", "sqnr 26", "--allow", "train", "--time", "0.001")["stopped"]
    assert "trials are used up" in untrained("--goal", "sqnr 26", "--allow", "train", "--trials", 1)["stopped"]
    assert "forward passes are used up" in untrained("--goal", "sqnr 26", "--allow", "train", "--forwards", 9)["stopped"]
    exact = untrained("--goal", "sqnr 80", "--allow", "train", words=exact_weights(folder))
    assert any("predicted to gain less than 0.1 dB" in note for note in exact["notes"]), exact["notes"]
    # Few forward passes allow few steps, and so does little time.
    short = tuned(words, out, "--goal", "sqnr 60", "--allow", "train", "--forwards", 40, code=1)
    assert stages(short)[-1] == "train" and short["trials"][-1]["forwards"] <= 40, short["trials"][-1]["forwards"]


def test_the_same_seed_gives_the_same_bytes(folder):
    """Also interrupted or killed in its training and resumed; another seed gives others."""
    words, limits = given(folder), ("--goal", "sqnr 60", *INT8, "--allow", UNTRAINED + ",train")
    places = {name: folder / name / "tuned.json" for name in ("whole", "again", "stopped", "killed", "seeded")}
    for place in places.values():
        place.parent.mkdir()
    tuned(words, places["whole"], *limits, code=1)
    tuned(words, places["again"], *limits, code=1)
    tuned(words, places["seeded"], *limits, "--seed", 3, code=1)
    for name, how in (("stopped", signal.SIGINT), ("killed", signal.SIGKILL)):
        out = places[name]
        code, line = interrupted(["tune", *words, *limits, *LIMITS, "--out", out], r"train: step 1\d\d of", how)
        if how == signal.SIGINT:
            assert code == 1 and "--resume" in line, (code, line)
            left = {path.name for path in out.parent.iterdir()} - {"tuned.cures"}
            assert left == {"tuned.json", "tuned.tune.json", "tuned.trained.pt2.partial.npz"}, left
        assert "train" not in stages(json.loads(state(out).read_text()))
        tuned(words, out, *limits, "--resume", code=1)
        left = {path.name for path in out.parent.iterdir() if not path.name.startswith(".")} - {"tuned.cures"}
        assert left == {"tuned.json", "tuned.tune.json", "tuned.trained.pt2"}, left
    whole = [file(places["whole"]).read_bytes() for file in (lambda out: out, state, trained)]
    for name in ("again", "stopped", "killed"):
        assert [file(places[name]).read_bytes() for file in (lambda out: out, state, trained)] == whole, name
    assert trained(places["seeded"]).read_bytes() != whole[2]


def test_a_resumed_search_takes_the_training(folder):
    words, out, limits = given(folder), folder / "out" / "tuned.json", ("--goal", "sqnr 60", *INT8, "--allow", "train", "--resume")
    out.parent.mkdir()
    tuned(words, out, *limits[:-1], code=1)
    whole = [file(out).read_bytes() for file in (lambda out: out, state, trained)]
    made = trained(out).stat().st_mtime_ns

    def check(place):
        assert [file(place).read_bytes() for file in (lambda out: out, state, trained)] == whole

    tuned(words, out, *limits, code=1)
    check(out)
    assert trained(out).stat().st_mtime_ns == made
    moved = folder / "moved" / "tuned.json"
    out.parent.rename(moved.parent)
    tuned(words, moved, *limits, code=1)
    check(moved)
    assert trained(moved).stat().st_mtime_ns == made
    # A file that is not there any more, or another one, is made again.
    trained(moved).unlink()
    tuned(words, moved, *limits, code=1)
    check(moved)
    shutil.copy(MODEL, trained(moved))
    tuned(words, moved, *limits, code=1)
    check(moved)
    # A goal that is reached before leaves the known training in the state.
    reached = tuned(words, moved, "--goal", "sqnr 15", "--allow", "train", "--resume")
    assert [one["cures"][-1]["cure"] for one in reached["earlier"] if one["cures"]] == ["train"], reached["earlier"]
    tuned(words, moved, *limits, code=1)
    check(moved)


def test_a_training_that_gains_nothing_leaves_no_file(folder):
    """Resumed, its figures are taken without another training; a file of another content under its name stays."""
    words, out = [SAMPLES / "sequences.pt2", "--data", SAMPLES / "sequences.calib.npz", *CPU], folder / "tuned.json"
    limits = ("--goal", "sqnr 80", *INT8, "--allow", "all")
    search = tuned(words, out, *limits, code=1)
    assert stages(search)[-1] == "train" and search["best"] < len(search["trials"]) - 1, stages(search)
    assert "train" not in {cure["cure"] for cure in search["cures"]} and not trained(out).exists()
    whole = [file(out).read_bytes() for file in (lambda out: out, state)]
    for content in (None, b"mine"):
        if content:
            trained(out).write_bytes(content)
        done = run("tune", *words, *limits, *LIMITS, "--resume", "--out", out)
        assert done.returncode == 1 and [file(out).read_bytes() for file in (lambda out: out, state)] == whole, done.stderr
        assert (trained(out).read_bytes() if content else trained(out).exists()) == (content or False)


def test_a_trained_recipe_is_trained_on(folder):
    """The new training takes the place of the recipe's own."""
    first, out = folder / "first.json", folder / "out" / "second.json"
    tuned(given(folder), first, "--goal", "sqnr 60", *INT8, "--allow", "train", code=1)
    out.parent.mkdir()
    search = tuned([MODEL, "--recipe", first, "--data", DATA, *CPU], out, "--goal", "sqnr 60", *INT8, "--allow", "train", code=1)
    (cure,) = json.loads(out.read_text())["cures"]
    assert stages(search) == ["start", "train"] and search["best"] == 1, search["trials"]
    assert cure["file"] == "second.trained.pt2" and trained(out).exists() and trained(first).exists(), cure


def test_where_it_writes_is_checked_first(folder):
    words, out = given(folder), folder / "tuned.json"
    gone = [folder / "none.pt2", *words[1:]]  # is not looked for
    trained(out).mkdir()
    expect_bad("tune", *gone, "--allow", "all", "--out", out, contains=[trained(out)])
    trained(out).rmdir()
    os.mkfifo(trained(out))
    expect_bad("tune", *gone, "--allow", "train", "--out", out, contains=[trained(out), "not a regular file"])
    trained(out).unlink()
    # The model that the recipe reads is not overwritten.
    tuned(words, out, "--goal", "sqnr 26", "--allow", "train")
    shutil.copy(out, folder / "copy.json")
    before = trained(out).read_bytes()
    expect_bad("tune", MODEL, "--recipe", folder / "copy.json", "--data", DATA, *CPU, "--allow", "all", "--out", out,
               contains=[trained(out), "--out would overwrite an input file"], code=2)
    assert trained(out).read_bytes() == before


if __name__ == "__main__":
    main(__name__)

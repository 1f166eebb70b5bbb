# SPDX-License-Identifier: Apache-2.0
"""`quantscope why`: faults that were put into small networks are named first and on their node, their first cure brings the loss back, healthy
twins name none; and how the verb behaves."""

import json
import os
import shutil
from pathlib import Path

import cure_models
import numpy
from harness import EIGHT_BITS, SOURCE, expect_bad, interrupted, main, run, run_good, run_json

SAMPLES = SOURCE / "resources" / "samples"
MODEL, CALIBRATION, OTHER = (SAMPLES / name for name in ("digits.pt2", "calib.npz", "test.npz"))
LEFT = 0.1  # of the lost noise power that a cure may leave
HEALTHY = 0.05  # the share at which a healthy twin may name a fault


def noise(words, out):
    """Noise over signal of the reference form."""
    document = run_json("quantize", *words, "--export", "none", "--out", out)
    return 10 ** (-document["outputs"][0]["cumulative"]["sqnr_db"] / 10)


def cured(words, cures, qconfigs, folder):
    """The same words with the cures in the recipe, and the qconfigs that they name."""
    words = list(words)
    place = words.index("--recipe") + 1
    document = json.loads(words[place].read_text())
    words[place] = folder / "cured.json"
    words[place].write_text(json.dumps({**document, "qconfigs": {**document["qconfigs"], **qconfigs}, "cures": cures}))
    return words


def why(words):
    """The document, its causes looked over."""
    document = run_json("why", *words)
    causes = document["causes"]
    shares = [cause["share"] for cause in causes]
    assert shares == sorted(shares, reverse=True) and all(0 <= share for share in shares) and sum(shares) <= 1 + 1e-9, shares
    for cause in causes:
        told = [any(letter.isdigit() for letter in line) for line in cause["evidence"]]
        assert cause["cause"] in ("unexplained", "needless_output") or told and all(told), cause
        assert cause["site"] is None or document["sites"][cause["site"]]["node"] == cause["node"], cause
    return document


def check_fault(folder, name):
    """The first cure of each cause that has the fault's name: where several values have it, there are several."""
    fault = cure_models.FAULTS[name]()
    sick, healthy = fault.sick.write(folder / "sick"), fault.healthy.write(folder / "healthy")
    document = why(sick)
    found = document["causes"]
    told = [(cause["cause"], cause["node"], round(cause["share"], 3)) for cause in found]
    assert found and found[0]["cause"] == fault.cause, (name, told)
    assert found[0]["node"] in fault.nodes, (name, told)
    twin = [(cause["cause"], cause["node"], cause["share"]) for cause in why(healthy)["causes"]]
    assert not any(cause == fault.cause and share > HEALTHY for cause, _, share in twin), (name, twin)
    cures = [cause["cures"][0] for cause in found if cause["cause"] == fault.cause and cause["cures"]]
    if cures:
        lost, kept, mended = noise(sick, folder / "a"), noise(healthy, folder / "b"), noise(cured(sick, cures, document["qconfigs"], folder), folder / "c")
        assert mended <= kept + LEFT * (lost - kept), (name, cures, [round(share, 7) for share in (lost, kept, mended)])
    return cures


def planted(name, cures=True):
    """A test of one fault; `cures`: whether there is a cure for it yet."""
    def test(folder):
        found = check_fault(folder, name)
        assert not cures or found, f"{name}: no cure is proposed"
    return test


test_outlier_channel = planted("outlier channel")
test_outlier_channel_before_a_norm = planted("outlier before a norm")
test_outlier_channel_of_linears = planted("outlier into linears")
test_outlier_position = planted("outlier position")
test_mask_of_the_least_float = planted("finfo.min")
test_mask_of_1e9 = planted("mask of 1e9")
test_clipped_by_percentile = planted("90 percent")
test_clipped_by_hand = planted("narrow by hand")
test_range_wide_by_an_odd_sample = planted("odd sample")
test_outlier_sample = planted("a few large samples")
test_range_wide_by_hand = planted("wide by hand")
if EIGHT_BITS:  # else the kernels do not take eight bits
    test_bits_unused = planted("7 bits")
test_needless_output_before_a_norm = planted("float norm")
test_needless_output_before_a_linear = planted("float linear")
test_shared_range = planted("shared range")
test_channel_spread = planted("channel spread", cures=False)
test_channel_spread_of_linears = planted("spread of linears", cures=False)
test_bias_shift = planted("bias shift", cures=False)
test_weight_rounding = planted("4 bits", cures=False)
test_recurrence = planted("recurrence")


def test_text(folder):
    lines = run_good("why", MODEL, "--data", CALIBRATION).splitlines()
    document = run_json("why", MODEL, "--data", CALIBRATION)
    assert lines[0].startswith(f"Output noise: {document['measured_db']:.2f} dB measured, {document['predicted_db']:.2f} dB predicted"), lines[0]
    assert f"64 samples, {len(document['sites'])} sites" in lines[0], lines[0]
    assert lines[1].startswith("The shares add up to ") and "% of the noise" in lines[1], lines[1]
    whole = "\n".join(lines)
    assert document["sites"][0]["title"] in whole and document["sites"][0]["node"] in json.dumps(document)
    for cause in document["causes"][:1]:
        assert cause["evidence"][0] in whole, (cause, whole)


def test_top(folder):
    def sites(top):
        lines = run_good("why", MODEL, "--data", CALIBRATION, "--top", top).splitlines()
        return [line for line in lines if line.endswith("(--top)")]

    told = run_json("why", MODEL, "--data", CALIBRATION, "--top", 3)
    count, causes = len(told["sites"]), len(told["causes"])
    assert sites(3) == [f"and {causes - 3} more causes (--top)", f"and {count - 3} more (--top)"], (sites(3), count, causes)
    assert sites(max(count, causes)) == []


def test_documents(folder):
    told = run_json("why", MODEL, "--data", CALIBRATION, "--samples", 24)
    assert (told["format"], told["version"], told["samples"]) == ("quantscope.why", 1, 24)
    assert told["probes"] == 3, "64 rows: of 24 samples three probes each"
    assert set(told) == {"format", "version", "model", "data", "options", "outputs", "samples", "probes", "measured", "predicted", "measured_db",
                         "predicted_db", "additivity", "additive", "units", "sites", "causes", "front", "qconfigs", "left_out"}, set(told)
    for site in told["sites"]:
        assert set(site) == {"title", "node", "module", "op", "kind", "readers", "at", "observer", "share", "share_db", "standard_error", "exact",
                             "white", "own_db", "blocked", "output", "expected", "part", "part_error"}, set(site)
    exact = run_json("why", MODEL, "--data", CALIBRATION, "--samples", 24, "--exact", 5)["sites"]
    assert sum(site["exact"] is not None for site in exact) == 5
    greatest = sorted(exact, key=lambda site: -site["share"])[:5]
    assert all(site["exact"] is not None for site in greatest), "the greatest are measured"


def same(one, other):
    return {key: value for key, value in one.items() if key not in ("model", "data")} == {key: value for key, value in other.items()
                                                                                       if key not in ("model", "data")}


def test_results_and_projects(folder):
    """A model, the folder of its result and a project with both say the same."""
    model = run_json("why", MODEL, "--data", CALIBRATION)
    run_good("quantize", MODEL, "--data", CALIBRATION, "--export", "none", "--out", folder / "out")
    assert same(run_json("why", folder / "out", "--data", CALIBRATION), model)
    for file in (MODEL, CALIBRATION, OTHER):
        shutil.copy(file, folder)
    path = folder / "digits.project.json"
    path.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": MODEL.name, "data": CALIBRATION.name}))
    assert same(run_json("why", path), model)
    path.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": MODEL.name, "data": CALIBRATION.name, "comparison": OTHER.name}))
    compared = run_json("why", path)
    assert same(compared, run_json("why", MODEL, "--data", CALIBRATION, "--compare-on", OTHER))
    assert compared["measured_db"] != model["measured_db"] and os.path.samefile(compared["data"], folder / OTHER.name)


def test_recipe_counts(folder):
    recipe = folder / "recipe.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86", "object_type": [["torch.nn.Linear", None]]}}))
    told = run_json("why", MODEL, "--recipe", recipe, "--data", CALIBRATION)
    assert not any(site["op"].startswith("aten.linear") for site in told["sites"]), "the linear layers stay float"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": None}}))
    expect_bad("why", MODEL, "--recipe", recipe, "--data", CALIBRATION, contains=["no node would be quantized"])


def test_bad_words(folder):
    expect_bad("why", MODEL, contains=["--data"], code=2)
    expect_bad("why", folder / "none.pt2", "--data", CALIBRATION, contains=["none.pt2"])
    expect_bad("why", MODEL, "--data", folder / "none.npz", contains=["none.npz"])
    expect_bad("why", MODEL, "--data", CALIBRATION, "--recipe", folder / "none.json", contains=["none.json"])
    run_good("quantize", MODEL, "--data", CALIBRATION, "--export", "none", "--out", folder / "out")
    expect_bad("why", folder / "out", contains=["--data"], code=2)
    expect_bad("why", folder / "out", "--data", CALIBRATION, "--recipe", folder / "none.json", contains=["--recipe"], code=2)
    (folder / "empty").mkdir()
    expect_bad("why", folder / "empty", "--data", CALIBRATION, contains=["empty"])
    for words in (["--samples", 0], ["--samples", "many"], ["--exact", -1], ["--seed", "x"], ["--top", -1], ["--probes", 3]):
        done = run("why", MODEL, "--data", CALIBRATION, *words)
        assert done.returncode == 2 and done.stdout == "" and str(words[0]) in done.stderr, (words, done.returncode, done.stderr)
    assert run("why").returncode == 2


def test_cancel(folder):
    with numpy.load(CALIBRATION) as data:  # so many that the run lasts longer than it takes to see where it is
        numpy.savez(folder / "many.npz", **{name: numpy.concatenate([values] * 64) for name, values in data.items()})
    words = ["why", MODEL, "--data", folder / "many.npz", "--samples", 8192, "--exact", 100_000]
    for progress in ("blame: batch", "alone, batch"):
        assert interrupted(words, progress, within=3) == (1, "quantscope: cancelled")


main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""The local error terms (isolated, inherited, born here) on a part of the samples: what is measured on all stays to the bit, the
estimates lie where their standard error says, and every document shows on how many samples they are."""

import json
import re

import numpy as np
import torch
from harness import by_name, expect_bad, main, run, run_good, run_json, write_recipe
from models import residual

LOCAL = ("isolated", "inherited", "born_here")
BATCHES = 24


def loud(folder):
    """A model, and 24 batches of 8 of which some are louder, so that terms settle at different times."""
    _, path, npz, data = residual(folder, samples=8 * BATCHES, size=16)
    gains = 1 + torch.arange(BATCHES).repeat_interleave(8).remainder(5) / 50
    np.savez(npz, x=(data * gains[:, None, None, None]).numpy())
    return path, npz


def quantized(folder, name, *words):
    path, npz = loud(folder)
    recipe = write_recipe(folder, backend="x86", calibration={"batches": 0})
    return run_json("quantize", path, "--recipe", recipe, "--data", npz, "--device", "cpu", "--export", "none", "--out", folder / name, *words)


def test_estimates_and_what_stays(folder):
    sampled, whole = quantized(folder, "a"), quantized(folder, "b", "--local-terms", "all")
    assert sampled["local_terms"] == "sampled" and whole["local_terms"] == "all"
    assert sampled["outputs"] == whole["outputs"]
    theirs, parts = by_name(whole), set()
    for name, node in by_name(sampled).items():
        error, wanted = node["error"], theirs[name]["error"]
        if not error:
            assert not wanted
            continue
        assert error["cumulative"] == wanted["cumulative"], name
        for term in LOCAL:
            given, true = error[term], wanted[term]
            assert "samples" not in true and "standard_error_db" not in true
            if "samples" not in given:
                assert given == true, (name, term)
                continue
            parts.add(given["samples"])
            assert given["samples"] % 8 == 0 and 16 <= given["samples"] < 8 * BATCHES
            bound = given["standard_error_db"]
            if bound is None:
                assert given["sqnr_db"] == true["sqnr_db"] and given["mse"] == true["mse"] == 0, (name, term, given, true)
                continue
            assert term == "inherited" or bound <= 0.1 or given["samples"] == 8 * (BATCHES // 2 + 1), (name, term, given)
            assert abs(given["sqnr_db"] - true["sqnr_db"]) < max(0.3, 4 * bound), (name, term, given, true)
    assert len(parts) > 1, parts  # units settle at different times
    assert quantized(folder, "c")["nodes"] == sampled["nodes"]


def test_where_it_is_shown(folder):
    path, npz = loud(folder)
    recipe = write_recipe(folder, backend="x86", calibration={"batches": 0})
    out = folder / "out"
    run_good("quantize", path, "--recipe", recipe, "--data", npz, "--device", "cpu", "--export", "none", "--out", out)
    run_good("report", out, "--html", folder / "page.html", "--csv", folder / "table.csv")
    page = (folder / "page.html").read_text()
    node = next(node for node in by_name(json.loads((out / "result.json").read_text())).values() if node["error"] and node["error"]["isolated"].get("standard_error_db"))
    error = node["error"]["isolated"]
    assert f"{error['sqnr_db']:.2f} ±{error['standard_error_db']:.2f}</td>" in page and "<th>Samples</th>" in page
    head, *_ = (folder / "table.csv").read_text().splitlines()
    assert "isolated_samples" in head and "isolated_standard_error_db" in head and "cumulative_samples" not in head, head
    table = run_good("compare", path, "--result", out, "--data", npz, "--device", "cpu")
    assert f"{error['sqnr_db']:.2f} ±{error['standard_error_db']:.2f}" in table, table
    assert re.search(r"are measured on 'samples' of 192 samples, ± their standard error; --local-terms all", table), table
    whole = run_good("compare", path, "--result", out, "--data", npz, "--device", "cpu", "--local-terms", "all")
    assert "±" not in whole and "samples'" not in whole, whole


def test_few_batches_are_measured_whole(folder):
    _, path, npz, _ = residual(folder, samples=16)
    words = ("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", folder / "out")
    sampled, whole = run_json(*words), run_json(*words, "--local-terms", "all")
    assert sampled["nodes"] == whole["nodes"]


def test_the_word_of_a_project_and_refusals(folder):
    path, npz = loud(folder)
    project = {"format": "quantscope.project", "version": 1, "model": path.name, "data": npz.name, "local_terms": "all",
               "recipe": {"format": "quantscope.recipe", "version": 1, "backend": "x86", "calibration": {"batches": 0}}}
    (folder / "p.json").write_text(json.dumps(project))
    words = ("--device", "cpu", "--export", "none", "--out", folder / "out")
    assert run_json("quantize", folder / "p.json", *words)["local_terms"] == "all"
    assert run_json("quantize", folder / "p.json", "--local-terms", "sampled", *words)["local_terms"] == "sampled"
    (folder / "p.json").write_text(json.dumps({**project, "local_terms": "some"}))
    expect_bad("quantize", folder / "p.json", *words, contains=["'local_terms' is \"sampled\" or \"all\", not \"some\""])
    assert run("quantize", path, "--data", npz, "--local-terms", "few").returncode == 2
    refused = run("check", folder / "out", "--local-terms", "all")
    assert refused.returncode == 2 and "--local-terms" in refused.stderr, refused.stderr


main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""Ranks that torchrun starts share the data; what they find and write is that of one process, to the bit."""

import json

import numpy as np
from harness import SOURCE, export_model, in_full, main, run, write_recipe
from models import residual
from ranks import alone, lasting, torchrun

SAMPLES = SOURCE / "resources" / "samples"


def same_as_alone(folder, ranks, *words):
    """Runs `quantize WORDS` both ways; returns the document of the ranks."""
    one, many = folder / "one", folder / f"by{ranks}"
    if not one.exists():
        alone("quantize", *words, "--out", one)
    done = torchrun(ranks, "quantize", *words, "--out", many)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("written:") == 1, done.stdout
    wanted, got = (json.loads((place / "result.json").read_text()) for place in (one, many))
    assert lasting(got) == lasting(wanted)
    assert got["ranks"] == ranks and "ranks" not in wanted
    assert (many / "observations.npz").read_bytes() == (one / "observations.npz").read_bytes()
    assert {path.name for path in many.iterdir()} == {path.name for path in one.iterdir()}
    for name in wanted["exports"].values():
        if name.endswith((".pt2", ".onnx")):
            assert (many / name).read_bytes() == (one / name).read_bytes(), name
    return got


def test_ranks_equal_one_process(folder):
    """Histograms, labels, the outputs, four error terms of every node; more batches than ranks, and a last one that is shorter."""
    recipe = write_recipe(folder, calibration={"batch_size": 7, "batches": 0})
    for ranks in (2, 3, 4):
        document = same_as_alone(folder, ranks, SAMPLES / "digits.pt2", "--recipe", recipe, "--data", SAMPLES / "calib.npz",
                                 "--compare-on", SAMPLES / "test.npz")
        assert document["labels"] and document["convergence"]


def test_other_observers(folder):
    """Moving averages follow the batches' order; more ranks than batches."""
    weight = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 0}
    _, model, data, _ = residual(folder, samples=20)
    for kind in ("moving_average_minmax", "minmax"):
        place = folder / kind
        place.mkdir()
        qconfig = {"activation": {"observer": kind, "dtype": "quint8", "qscheme": "per_tensor_affine"}, "weight": weight}
        recipe = write_recipe(place, backend="x86", qconfigs={"mine": qconfig}, mapping={"global": "mine"},
                              calibration={"batch_size": 8, "batches": 0})
        same_as_alone(place, 2, model, "--recipe", recipe, "--data", data, "--export", "none")
        same_as_alone(place, 4, model, "--recipe", recipe, "--data", data, "--export", "none")


def test_an_lstm(folder):
    """A custom module: observers inside it, whose body runs several times in a batch, and the errors of its interior."""
    same_as_alone(folder, 2, SAMPLES / "sequences.pt2", "--data", SAMPLES / "sequences.calib.npz", "--compare-on",
                  SAMPLES / "sequences.test.npz")


def test_values_that_are_not_finite(folder):
    """The rank that meets them first ends the round for all; the next one leaves them out, as in one process."""
    from models import LogOfInput
    import torch

    torch.manual_seed(3)
    data = torch.rand(24, 4) + 0.5
    data[17, 2] = data[13, 1] = -1
    np.savez(folder / "data.npz", x=data.numpy())
    export_model(LogOfInput(), (data[:2],), folder / "log.pt2")
    recipe = write_recipe(folder, calibration={"batch_size": 2, "batches": 0})
    words = ("quantize", folder / "log.pt2", "--recipe", recipe, "--data", folder / "data.npz", "--out")
    one = run(*words, folder / "one", env={"OMP_NUM_THREADS": "1"})
    many = torchrun(3, *words, folder / "many")
    assert (one.returncode == 0) == (many.returncode == 0), many.stderr
    told = next(line for line in one.stderr.splitlines() if "batch 7" in line)
    assert told in many.stderr, (told, many.stderr)


def test_compare_and_check(folder):
    words = (SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz")
    alone("quantize", *words, "--out", folder / "one")
    asked = ("compare", SAMPLES / "digits.pt2", "--result", folder / "one", "--data", SAMPLES / "test.npz", "--json")
    wanted, got = alone(*asked), torchrun(2, *asked)
    assert got.returncode == 0, got.stderr
    assert lasting(json.loads(got.stdout)) == lasting(json.loads(wanted.stdout))
    gate = torchrun(2, "check", *words, "--min-sqnr", "20")
    assert gate.returncode == 0 and gate.stdout.count("ok ") == 1, gate
    missed = torchrun(2, "check", *words, "--min-sqnr", "90")
    assert missed.returncode == 1 and missed.stdout.count("MISSED") == 1, missed


def test_tune(folder):
    """The same trials, figures and recipe; the ranks share calibrations and the batches of each trial."""
    words = ("tune", SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz", "--goal", "sqnr 43", "--json")
    one = run(*words, "--out", folder / "one.json", env={"OMP_NUM_THREADS": "1"})
    many = torchrun(3, *words, "--out", folder / "many.json")
    assert one.returncode == many.returncode, many.stderr
    wanted, got = (json.loads(done.stdout) for done in (one, many))
    for trials in (wanted["trials"], got["trials"]):
        for trial in trials:
            for cure in trial["cures"]:
                cure.pop("file", None)
    assert len(wanted["trials"]) > 2
    assert got["trials"] == wanted["trials"]
    assert json.loads((folder / "many.json").read_text())["mapping"] == json.loads((folder / "one.json").read_text())["mapping"]


def test_tune_by_measured_time(folder):
    """Rank 0 times the operators; the others take its times."""
    done = torchrun(2, "tune", SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz", "--goal", "sqnr 36", "--cost", "ms", "--json",
                    "--out", folder / "out.json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"][-1]["ms"] > 0


def test_verbs_of_one_process(folder):
    done = torchrun(2, "why", SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz")
    assert done.returncode != 0 and "'why' runs in one process" in done.stderr and done.stdout == "", done
    refused = torchrun(2, "tune", SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz", "--allow", "all", "--out", folder / "out.json")
    assert refused.returncode != 0 and "a training runs in one process" in refused.stderr, refused.stderr


def test_one_rank_is_no_group(folder):
    """WORLD_SIZE 1 changes nothing."""
    document = torchrun(1, "quantize", SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz", "--export", "none", "--out",
                        folder / "out", "--json")
    assert "ranks" not in json.loads(document.stdout)


@in_full
def test_eight_ranks(folder):
    recipe = write_recipe(folder, calibration={"batch_size": 2, "batches": 0})
    same_as_alone(folder, 8, SAMPLES / "digits.pt2", "--recipe", recipe, "--data", SAMPLES / "calib.npz")


if __name__ == "__main__":
    main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""The blame of quantizers (`quantscope why`) against PyTorch: what is predicted on networks that are linear, what one quantizer alone does,
and what must not change either.

A share is a mean of squares <J'r, d>^2 over rows (samples times probes). Of one sample its expected value is |J d|^2 = e, exactly where the
network is linear after the noise, and its variance 2 (e^2 - sum of e_j^2 over the outputs' elements), at most 2 e^2. So the share of n samples with K
probes each differs from the exact one by sqrt(2 / K sum e_i^2) / n at most in one standard deviation, with e_i from PyTorch. Held is five of
them: one site of a million misses by chance."""
import copy
import math
import pathlib
import sys

import numpy
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
import networks  # noqa: E402
from harness import export_model, main, run_good, run_json, write_recipe  # noqa: E402
from isolated import Program  # noqa: E402

DEVIATIONS = 5
ALL_SITES = 100_000
CALIBRATION = {"batch_size": 8, "batches": 0}


class Job:
    """A network as a file, its data, and what is told of it."""

    def __init__(self, folder, network, data, **keys):
        folder.mkdir(parents=True, exist_ok=True)
        self.model, self.data, self.folder = folder / "model.pt2", folder / "data.npz", folder
        export_model(copy.deepcopy(network), (data[:2],), self.model)
        numpy.savez(self.data, x=data.numpy())
        self.recipe = write_recipe(folder, **{"backend": "x86", "calibration": CALIBRATION, **keys})
        self.words = (self.model, "--recipe", self.recipe, "--data", self.data, "--device", "cpu")

    def why(self, *words):
        return run_json("why", *self.words, *words)

    def result(self):
        return run_json("quantize", *self.words, "--export", "none", "--out", self.folder / "out")


def named(document):
    """Sites by what they are, whatever their order."""
    return {(site["kind"], site["node"], site["readers"], tuple(site["at"])): site for site in document["sites"]}


def near(a, b, relative, least=1e-12):
    return abs(a - b) <= relative * abs(b) + least


def check_linear(folder, name, rows):
    make, shape = networks.LINEAR[name]
    network, data = networks.seeded(make, shape, samples=64)
    job = Job(folder / name, network, data)
    told = job.why("--samples", rows, "--exact", ALL_SITES)
    assert told["samples"] == len(data) and told["probes"] == rows // len(data), (told["samples"], told["probes"])
    assert len(told["sites"]) >= 6, [site["title"] for site in told["sites"]]
    program = Program(job.model, job.result())
    for site in told["sites"]:
        (errors,) = program.errors(site, [data])
        count, exact = len(errors), float(errors.mean())
        deviation = math.sqrt(2 / told["probes"] * float(errors.square().sum())) / count
        what = (name, site["title"], site["share"], site["exact"], exact, deviation)
        assert near(site["exact"], exact, 1e-3), what
        assert abs(site["share"] - exact) <= DEVIATIONS * deviation, what
        # The error that is told also counts how much the samples differ, which the same samples measured exactly do not have.
        most = math.sqrt(max(0.0, 3 * float(errors.square().mean()) - exact ** 2) / (count * told["probes"]))
        assert most / 4 <= site["standard_error"] <= 1.2 * most, (what, site["standard_error"], most)
        assert not site["blocked"]
    return told


def test_linear_networks_are_predicted_exactly(folder):
    for name in networks.LINEAR:
        told = check_linear(folder, name, 16_384)
        # Of a linear network the noises of the sites alone differ from the whole by what they share by chance alone.
        assert told["additive"] and 0.8 <= told["additivity"] <= 1.25, (name, told["additivity"])
        shares = sum(site["share"] for site in told["sites"])
        assert near(told["predicted_db"], -10 * math.log10(shares), 1e-6), (told["predicted_db"], shares)
        measured = 10 ** (-told["measured_db"] / 10)
        assert near(told["additivity"], shares / measured, 1e-6), (told["additivity"], shares / measured)


def test_many_probes_to_a_hundredth(folder):
    """With 4,096 probes a sample the sum of all shares is the sum of the exact noises to 1 %."""
    network, data = networks.seeded(*networks.LINEAR["chain"])
    told = Job(folder, network, data).why("--samples", 4_096 * len(data), "--exact", ALL_SITES)
    assert told["probes"] == 4_096
    assert near(sum(site["share"] for site in told["sites"]), sum(site["exact"] for site in told["sites"]), 0.01), told["sites"]
    for site in told["sites"]:
        assert near(site["share"], site["exact"], 0.03), (site["title"], site["share"], site["exact"])


def check_isolated(folder, make, shape, sites):
    network, data = networks.seeded(make, shape, samples=24)
    job = Job(folder, network, data)
    told = job.why("--exact", ALL_SITES, "--samples", len(data))
    program = Program(job.model, job.result())
    assert len(told["sites"]) >= sites, [(site["title"], site["kind"]) for site in told["sites"]]
    for site in told["sites"]:
        wanted = program.share(site, [data])
        assert near(site["exact"], wanted, 1e-3), (site["title"], site["kind"], site["at"], site["exact"], wanted)
    names = {site["node"] for site in told["sites"] if site["kind"] == "weight"}
    weighted = {node["name"] for node in program.nodes.values() if node["weight"]}
    assert names == weighted, (names, weighted)


def test_a_site_alone_is_what_pytorch_makes_of_it(folder):
    check_isolated(folder / "pictures", networks.Pictures, (3, 10, 10), 10)
    check_isolated(folder / "residual", networks.Residual, (10,), 18)


def test_scaling_a_layer_changes_no_share(folder):
    documents = []
    for factor in (1.0, 2.0 ** 6, 2.0 ** -5):
        network, data = networks.seeded(networks.Scaled, (10,))
        network.factor = factor
        documents.append(named(Job(folder / str(factor), network.scaled(), data).why("--exact", ALL_SITES)))
    first, *others = documents
    assert len(first) >= 6
    for other in others:
        assert other.keys() == first.keys()
        for key, site in first.items():
            for figure in ("share", "exact", "white", "standard_error"):
                assert near(other[key][figure], site[figure], 1e-5), (key, figure, other[key][figure], site[figure])


def test_the_same_seed_gives_the_same_bytes(folder):
    network, data = networks.seeded(networks.Residual, (10,))
    job = Job(folder, network, data)
    once, again = (run_good("why", *job.words, "--json", "--seed", 5) for _ in range(2))
    other = run_good("why", *job.words, "--json", "--seed", 6)
    assert once == again and once != other
    told = job.why("--seed", 5, "--exact", ALL_SITES)
    assert all(site["share"] >= 0 and site["white"] >= 0 and site["exact"] >= 0 and site["standard_error"] >= 0 for site in told["sites"])
    best = [site["exact"] for site in told["sites"]]
    assert best == sorted(best, reverse=True), "the greatest first"


def test_permuted_samples_change_no_order_beyond_errors(folder):
    network, data = networks.seeded(networks.Residual, (10,))
    order = torch.cat([start + torch.randperm(8) for start in range(0, len(data), 8)])
    one, other = (named(Job(folder / name, network, values).why("--exact", ALL_SITES, "--samples", 2_048))
                  for name, values in (("kept", data), ("permuted", data[order])))
    assert one.keys() == other.keys()
    for key, site in one.items():
        assert near(site["exact"], other[key]["exact"], 1e-4), (key, site["exact"], other[key]["exact"])
    for a in one:
        for b in one:
            error = math.hypot(one[a]["standard_error"], one[b]["standard_error"])
            if one[a]["share"] > one[b]["share"] + DEVIATIONS * error:
                slack = DEVIATIONS * math.hypot(other[a]["standard_error"], other[b]["standard_error"])
                assert other[a]["share"] > other[b]["share"] - slack, (a, b)


def test_outputs_count_alike(folder):
    documents = []
    for factor in (1.0, 2.0 ** 8):
        network, data = networks.seeded(networks.Outputs, (10,))
        network.factor = factor
        job = Job(folder / str(factor), network.scaled(), data)
        told = job.why("--exact", ALL_SITES, "--samples", 1_024)
        result = job.result()
        assert told["outputs"] == [output["name"] for output in result["outputs"]] and len(told["outputs"]) == 2, (told["outputs"], result["outputs"])
        assert any("argmax" in line and "not measured" in line for line in told["left_out"]), told["left_out"]
        program = Program(job.model, result)
        for site in told["sites"]:
            assert near(site["exact"], program.share(site, [data]), 1e-3), (site["title"], site["kind"])
        documents.append(named(told))
    assert documents[0].keys() == documents[1].keys()
    for key, site in documents[0].items():
        for figure in ("share", "exact"):
            assert near(documents[1][key][figure], site[figure], 1e-5), (key, figure, documents[1][key][figure], site[figure])


def test_batches_of_unlike_power(folder):
    """The signal is that of all batches, whichever comes first."""
    network, data = networks.seeded(*networks.LINEAR["chain"])
    data[8:] *= 8
    for name, values in (("rising", data), ("falling", data.flip(0))):
        told = Job(folder / name, network, values).why("--exact", ALL_SITES, "--samples", 16_384)
        for site in told["sites"]:
            assert near(site["share"], site["exact"], 0.2), (name, site["title"], site["share"], site["exact"])


def test_what_has_no_derivative_is_measured(folder):
    for name, make, after in (("round", networks.Blocked, "before"), ("argmax", networks.Chosen, "chooser")):
        network, data = networks.seeded(make, (10,), samples=32)
        job = Job(folder / name, network, data)
        told = job.why()
        program = Program(job.model, job.result())
        behind = [site for site in told["sites"] if site["kind"] == "weight" and site["module"] == after]
        assert len(behind) == 1 and behind[0]["blocked"], (name, [(site["title"], site["blocked"]) for site in told["sites"]])
        assert behind[0]["exact"] is not None and near(behind[0]["exact"], program.share(behind[0], [data]), 1e-3), behind
        assert any(name in line and "no derivative" in line for line in told["left_out"]), told["left_out"]
        assert not any(site["blocked"] for site in told["sites"] if site["module"] in ("after", "other")), name


def test_a_recurrent_layer_is_counted_once(folder):
    """Its weights and what is quantized inside are sites of their own: none does what all of them do together."""
    network, data = networks.seeded(networks.Recurrent, (24, 8))
    told = Job(folder, network, data, prepare={"custom_modules": ["torch.nn.LSTM"]}).why("--exact", ALL_SITES)
    exact = {site["kind"]: [one["exact"] for one in told["sites"] if one["kind"] == site["kind"] and one["node"] == "lstm"] for site in told["sites"]}
    assert len(exact["interior"]) == 1 and len(exact["weight"]) == 2, exact
    assert len(set(exact["interior"] + exact["weight"])) == 3, exact
    total, measured = sum(site["exact"] for site in told["sites"]), 10 ** (-told["measured_db"] / 10)
    assert 0.5 <= total / measured <= 1.6, (total, measured, exact)


main(__name__)

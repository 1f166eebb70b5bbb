# SPDX-License-Identifier: Apache-2.0
"""The ranges by batches of calibration, and the hint on the amount of data, against NumPy and the documented rule."""

import json

import numpy as np
from harness import SOURCE, main, run_good, write_recipe

DIGITS = SOURCE / "resources" / "samples" / "digits.pt2"
DATA = SOURCE / "resources" / "samples" / "calib.npz"
MINMAX = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True},
          "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 0}}


def calibrated(folder, name, batches, qconfig=None):
    """The document of a run with this many batches of 8, and the text that it prints."""
    recipe = write_recipe(folder, backend="x86", calibration={"batch_size": 8, "batches": batches},
                          **({"qconfigs": {"own": qconfig}, "mapping": {"global": "own"}} if qconfig else {"mapping": {"global": "x86"}}))
    words = ["quantize", DIGITS, "--recipe", recipe, "--data", DATA, "--device", "cpu", "--export", "none"]
    document = json.loads(run_good(*words, "--out", folder / name, "--json"))
    return document, run_good(*words, "--out", folder / f"{name}-text")


def hint_of(observers, batches):
    """The rule of the glossary, by itself."""
    since = 1
    while since * 2 <= batches // 2:
        since *= 2
    changes = []
    for one in observers:
        low, high = ({count: bound(value, 0) for count, value in zip(one["batches"], one[key])} for key, bound in (("low", min), ("high", max)))
        width = high[batches] - low[batches]
        changes.append((max(abs(low[batches] - low[since]), abs(high[batches] - high[since])) / width, one["node"]))
    settled = sum(change < 0.01 for change, _ in changes)
    return since, settled, settled >= 0.95 * len(changes) and max(changes)[0] < 0.1, sorted(changes, reverse=True)


def test_recorded_ranges_are_those_of_fewer_batches(folder):
    document, _ = calibrated(folder, "minmax", 13, MINMAX)
    image = np.load(DATA)["image"]
    observers = {one["node"]: one for one in document["convergence"]["observers"]}
    one = observers["image"]
    assert one["batches"] == [1, 2, 4, 8, 13]
    for at, batches in enumerate(one["batches"]):
        assert (one["low"][at], one["high"][at]) == (image[:8 * batches].min(), image[:8 * batches].max())
    for batches in (2, 4):  # as a calibration on so many batches ends
        fewer, _ = calibrated(folder, f"minmax{batches}", batches, MINMAX)
        assert fewer["convergence"]["hint"] is None, "too few for a hint"
        for there in fewer["convergence"]["observers"]:
            here = observers[there["node"]]
            at = here["batches"].index(batches)
            assert (there["low"][-1], there["high"][-1]) == (here["low"][at], here["high"][at]), there["node"]


def test_a_searched_range_starts_at_the_fourth_batch(folder):
    document, _ = calibrated(folder, "search", 8)
    assert all(one["batches"] == [4, 8] for one in document["convergence"]["observers"])
    fewer, _ = calibrated(folder, "search4", 4)
    for there, here in zip(fewer["convergence"]["observers"], document["convergence"]["observers"]):
        assert (there["low"][-1], there["high"][-1]) == (here["low"][0], here["high"][0])


def test_the_hint_follows_the_rule(folder):
    for name, batches, qconfig in (("rule16", 16, None), ("rule13", 13, MINMAX), ("rule9", 9, MINMAX)):
        document, text = calibrated(folder, name, batches, qconfig)
        told = document["convergence"]
        since, settled, is_settled, changes = hint_of(told["observers"], batches)
        assert (told["since"], told["settled"], told["is_settled"], told["batches"]) == (since, settled, is_settled, batches)
        assert told["ranges"] == len(told["observers"]) == len(changes)
        worst = [(one["change"], one["node"]) for one in told["worst"]]
        assert worst == [one for one in changes if one[0] >= 0.01][:len(worst)] and len(worst) <= 3, (worst, changes)
        assert told["hint"].startswith(f"{settled} of {len(changes)} ranges changed by less than 1 % since batch {since}")
        assert told["hint"].endswith("more data will change little") == is_settled
        assert f"\ncalibration: {told['hint']}\n" in text, text


main(__name__)

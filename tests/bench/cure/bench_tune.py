# SPDX-License-Identifier: Apache-2.0
"""What `quantscope tune` reaches on real networks from backend x86's own recipe.

    bench_tune.py BUILD [--models minilm,mobilevit_xxs,efficientnet_v2_s,unet,raft_small,opt,resnet18] [--goal 'sqnr 20'] [--keep-int8 80]
                  [--samples 64] [--time 10m] [--size 96] [--files FOLDER]

BUILD is the build folder (target quantscope). Set OMP_WAIT_POLICY=PASSIVE. For each model a line: dB on the guard at the start and of the best
trial, its int8 share of the multiplications, trials, forwards, seconds by the clock and of the processor, and what the prediction of the best
trial was off by; for a miss, what tune says stands between. Exits with 1 where a network misses the goal, or the best trial's prediction by more
than 3 dB."""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

import networks

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from bench_pipeline import process  # noqa: E402

WIDEST_MISS_DB = 3
KEEP_INT8 = {"minilm": 85}  # percent; others as --keep-int8 says


def best_of(told):
    return told["trials"][told["best"]]


def bench(program, name, options):
    model, data, *_ = networks.make(name, options.size, options.files)
    recipe = pathlib.Path(options.files) / f"{name}.tuned.json"
    keep = KEEP_INT8.get(name, options.keep_int8)
    start = time.perf_counter()
    done = process([str(word) for word in (program, "tune", model, "--data", data, "--device", "cpu", "--goal", options.goal, "--keep-int8", keep,
                                           "--samples", options.samples, "--time", options.time, "--out", recipe, "--json")])
    seconds = time.perf_counter() - start
    state = recipe.with_suffix(".tune.json")
    if not state.exists():
        raise SystemExit(f"{name}: {done['error']}")
    told = json.loads(state.read_text())
    return told, {"clock s": seconds, "cpu s": done["cpu"]}


def line(told, times):
    best, first = best_of(told), told["trials"][0]
    row = {"start": first["guard"]["sqnr_db"], "guard": best["guard"]["sqnr_db"], "int8 %": 100 * best["int8_macs"], "trials": len(told["trials"]),
           "forwards": told["forwards"], **times, "predicted": best["predicted_db"]}
    return "  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())


def misses(told):
    best = best_of(told)
    if not told["reached"]:
        needed = told["needed_int8"]
        yield f"{told['stopped']}; " + ("not predicted at any share" if needed is None else f"predicted with {100 * needed:.1f} % in int8")
        yield from (f"{100 * left['share']:.1f} % {left['node']}: {left['cause']}" for left in told["remaining"])
    if best["predicted_db"] is not None and abs(best["predicted_db"] - best["search"]["sqnr_db"]) > WIDEST_MISS_DB:
        yield f"predicted {best['predicted_db']:.1f} dB, measured {best['search']['sqnr_db']:.1f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--models", default="minilm,mobilevit_xxs,efficientnet_v2_s,unet,raft_small,opt,resnet18")
    parser.add_argument("--goal", default="sqnr 20")
    parser.add_argument("--keep-int8", type=float, default=80)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--time", default="10m")
    parser.add_argument("--size", type=int, default=96, help="of the pictures; mobilevit_xxs and raft_small have their own")
    parser.add_argument("--files", default=str(pathlib.Path(tempfile.gettempdir()) / "quantscope-cure"))
    options = parser.parse_args()
    os.environ.setdefault("QUANTSCOPE", f"{options.build}/bin/quantscope")  # of what the networks import
    failed = False
    for name in options.models.split(","):
        told, times = bench(f"{options.build}/bin/quantscope", name, options)
        print(f"{name:18}{line(told, times)}", flush=True)
        for text in misses(told):
            failed = True
            print(f"{name:18}missed: {text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

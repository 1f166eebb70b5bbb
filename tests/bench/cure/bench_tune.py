# SPDX-License-Identifier: Apache-2.0
"""What `quantscope tune` reaches on real networks from backend x86's own recipe.

    bench_tune.py BUILD [--models minilm,mobilevit_xxs,efficientnet_v2_s,unet,raft_small,opt,resnet18,lstm] [--goal 'sqnr 20'] [--keep-int8 80]
                  [--allow KINDS] [--samples 64] [--time 10m] [--size 96] [--files FOLDER]

BUILD is the build folder (target quantscope). Set OMP_WAIT_POLICY=PASSIVE. Without --goal it is 20 dB, of lstm 10. For each model a line: dB on the guard at the start and of the best
trial, its int8 share of the multiplications, trials, forwards, seconds by the clock and of the processor, and what the prediction of the best
trial was off by; for a miss, what tune says stands between. Exits with 1 where a network misses the goal, or the best trial's prediction by more
than 3 dB."""
import json
import pathlib
import sys
import time

import networks

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from bench_pipeline import process  # noqa: E402

WIDEST_MISS_DB = 3
KEEP_INT8 = {"minilm": 85}  # percent; others as --keep-int8 says
GOALS = {"lstm": "sqnr 10"}  # without --goal; others 20 dB


def bench(program, name, options):
    model, data, *_ = networks.make(name, options.size, options.files)
    recipe = pathlib.Path(options.files) / f"{name}.tuned.json"
    state = recipe.with_suffix(".tune.json")
    state.unlink(missing_ok=True)
    keep = KEEP_INT8.get(name, options.keep_int8)
    goal = options.goal or GOALS.get(name, "sqnr 20")
    allowed = ("--allow", options.allow) if options.allow else ()
    start = time.perf_counter()
    done = process([str(word) for word in (program, "tune", model, "--data", data, "--device", "cpu", "--goal", goal, "--keep-int8", keep, *allowed,
                                           "--samples", options.samples, "--time", options.time, "--out", recipe, "--json")])
    seconds = time.perf_counter() - start
    if not state.exists():
        raise SystemExit(f"{name}: {done['error']}")
    search = json.loads(state.read_text())
    first, best = search["trials"][0], search["trials"][search["best"]]
    row = {"start": first["guard"]["sqnr_db"], "guard": best["guard"]["sqnr_db"], "int8 %": 100 * best["int8_macs"], "trials": len(search["trials"]),
           "forwards": search["forwards"], "clock s": seconds, "cpu s": done["cpu"], "predicted": best["predicted_db"]}
    return row, misses(search, best)


def misses(search, best):
    if not search["reached"]:
        needed = search["needed_int8"]
        yield f"{search['stopped']}; " + ("not predicted at any share" if needed is None else f"predicted with {100 * needed:.1f} % in int8")
        yield from (f"{100 * left['share']:.1f} % {left['node']}: {left['cause']}" for left in search["remaining"])
    if best["predicted_db"] is not None and abs(best["predicted_db"] - best["search"]["sqnr_db"]) > WIDEST_MISS_DB:
        yield f"predicted {best['predicted_db']:.1f} dB, measured {best['search']['sqnr_db']:.1f}"


def main():
    parser = networks.arguments("minilm,mobilevit_xxs,efficientnet_v2_s,unet,raft_small,opt,resnet18,lstm")
    parser.add_argument("--goal")
    parser.add_argument("--allow", help="kinds of cures, as of tune")
    parser.add_argument("--keep-int8", type=float, default=80)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--time", default="10m")
    return networks.run_each(parser.parse_args(), bench)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""What `quantscope why` predicts against what it measures (every site alone), its time and its memory.

    bench_blame.py BUILD [--models minilm,mobilenet_v2,resnet18,vit] [--size 96] [--files FOLDER] [--recipe FILE]

Besides these unet, mobilevit_xxs (timm), raft_small and any classifier of torchvision. BUILD is the build folder (target quantscope). Set OMP_WAIT_POLICY=PASSIVE. For each model a line: Spearman's correlation of `share` and `exact` over
all sites and how many of the ten greatest are the same; processor time of the blame of 64 rows (a run over 128 samples less one over 64: what
opening and preparing take is in both) over that of eager float forwards of as many samples; peak memory over that of `compare`. Exits with 1
where a bar is missed."""
import json
import pathlib
import resource
import sys
import time

import networks
import numpy
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from bench_pipeline import process  # noqa: E402

BARS = {"spearman": 0.95, "top": 9, "forwards": 8, "memory": 1.5}
ROWS, BEST, EVERY_SITE = 64, 10, 100_000
ROUNDS = 3  # of what is timed; the least counts


def ranks(values):
    """From 0; equal values share the mean of their ranks."""
    values = numpy.asarray(values)
    return numpy.array([((values < value).sum() + (values <= value).sum() - 1) / 2 for value in values])


def spearman(a, b):
    return float(numpy.corrcoef(ranks(a), ranks(b))[0, 1])


def greatest(sites, figure):
    return set(sorted(range(len(sites)), key=lambda i: -sites[i][figure])[:BEST])


def good(command):
    done = process([str(word) for word in command])
    if not done["ok"]:
        raise SystemExit(f"{' '.join(map(str, command))}: {done['error']}")
    return done


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def forward_seconds(network, calls):
    """Processor seconds of eager forwards over these calls; the least of the rounds."""
    torch.set_num_threads(2)
    rounds = []
    with torch.no_grad():
        network(*calls[0])
        for _ in range(ROUNDS):
            start = processor_seconds()
            for call in calls:
                network(*call)
            rounds.append(processor_seconds() - start)
    return min(rounds)


def bench(program, name, options):
    model, data, network, calls = networks.make(name, options.size, options.files)
    out = pathlib.Path(options.files) / f"{name}.out"
    words = ["--recipe", options.recipe] if options.recipe else []
    good([program, "quantize", model, "--data", data, "--device", "cpu", "--export", "none", *words, "--out", out])
    compared = good([program, "compare", model, "--result", out, "--data", data, "--device", "cpu", "--json"])
    why = [program, "why", out, "--data", data, "--device", "cpu", "--json", "--exact"]
    half, whole = (min((good([*why, 0, "--samples", samples]) for _ in range(ROUNDS)), key=lambda done: done["cpu"]) for samples in (ROWS, 2 * ROWS))
    start = time.perf_counter()
    told = json.loads(good([*why, EVERY_SITE, "--samples", ROWS])["out"])
    seconds = time.perf_counter() - start
    assert told["samples"] == ROWS and told["probes"] == 1 and json.loads(whole["out"])["samples"] == 2 * ROWS, told["samples"]
    sites = [site for site in told["sites"] if not site["blocked"]]
    exact = [site["exact"] for site in sites]
    each = len(calls[0][0])
    second = forward_seconds(network, calls[ROWS // each:2 * ROWS // each])
    row = {"sites": len(told["sites"]), "blocked": len(told["sites"]) - len(sites),
           "measured": told["measured_db"], "predicted": told["predicted_db"],
           "spearman": spearman([site["share"] for site in sites], exact), "white": spearman([site["white"] for site in sites], exact),
           "own": spearman([-(site["own_db"] or 200) for site in sites], exact),
           "top": len(greatest(sites, "share") & greatest(sites, "exact")),
           "forwards": (whole["cpu"] - half["cpu"]) / second, "memory": whole["mb"] / compared["mb"], "mb": whole["mb"], "exact s": seconds}
    return row, missed(row)


def missed(row):
    yield from (f"{key} {row[key]:.3f}, wanted {BARS[key]}" for key in ("spearman", "top") if row[key] < BARS[key])
    yield from (f"{key} {row[key]:.2f}, at most {BARS[key]}" for key in ("forwards", "memory") if row[key] > BARS[key])


def main():
    parser = networks.arguments("minilm,mobilenet_v2,resnet18,vit")
    parser.add_argument("--recipe", help="for all; without it backend x86's own")
    return networks.run_each(parser.parse_args(), bench)


if __name__ == "__main__":
    sys.exit(main())

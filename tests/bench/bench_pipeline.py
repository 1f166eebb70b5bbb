# SPDX-License-Identifier: Apache-2.0
"""Whole jobs side by side with a Python script of torch.ao, in turn: ratios of time and of peak memory.

    bench_pipeline.py BUILD [--models resnet18,mobilenet_v2] [--rounds 5] [--only calibrate|quantize] [--files FOLDER]

BUILD is the build folder (targets quantscope and bench_calibration). Set OMP_WAIT_POLICY=PASSIVE, two cores, a quiet machine;
where it is not quiet, trust the processor seconds.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import models

OBSERVERS = ("histogram", "minmax", "moving_average_minmax")
HERE = pathlib.Path(__file__).resolve().parent


def median(values):
    return statistics.median(values)


def ratio(these, those, kind):
    """Of rounds that ran next to each other, the median ratio."""
    return median([a / b for a, b in zip(these[kind], those[kind])])


def peak_megabytes(pid):
    """The most memory a running process has had. wait4's ru_maxrss will not do: it begins with what the parent had at the fork."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return max([int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:")], default=0.0)


def process(command, env=None):
    """Runs a process, in this environment if one is given: what it printed, its wall and processor seconds and its peak memory in MB, read until it ends."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    most, ended = [0.0], threading.Event()

    def watch():
        while not ended.wait(0.02):
            most[0] = max(most[0], peak_megabytes(child.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = child.stdout.read()
    complaint = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    ended.set()
    watcher.join()
    child.returncode = os.waitstatus_to_exitcode(status)
    return {"ok": child.returncode == 0, "out": out, "error": complaint.decode(errors="replace").strip().splitlines()[-1:],
            "wall": time.perf_counter() - start, "cpu": usage.ru_utime + usage.ru_stime, "mb": most[0]}


def measured(command):
    """The JSON that a bench program prints."""
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def bench_calibrate(build, name, model, data, rounds):
    theirs = measured([sys.executable, str(HERE / "torch_ao.py"), "calibrate", name, data, str(rounds)])
    print(f"{name}: torch.ao calibration / eager float {ratio(theirs['calibrate'], theirs['float'], 'wall'):.2f} "
          f"(processor {ratio(theirs['calibrate'], theirs['float'], 'cpu'):.2f}), eager float "
          f"{models.BATCH * models.BATCHES / median(theirs['float']['wall']):.1f} images/s", flush=True)
    for observer in OBSERVERS:
        ours = measured([f"{build}/tests/bench_calibration", model, data, observer, str(rounds)])
        text = [f"{what} {ratio(ours['calibrate'], ours['float'], kind):.2f}" for what, kind in (("", "wall"), ("processor", "cpu"))]
        folded = [f"{ratio(ours['prepared'], theirs['float'], kind):.2f}" for kind in ("wall", "cpu")]
        print(f"{name}, {observer}: calibration / own float{text[0]} ({text[1]}), {ours['samples'] / median(ours['calibrate']['wall']):.1f} "
              f"images/s; prepared forward / eager float {folded[0]} (processor {folded[1]})", flush=True)


def bench_quantize(build, name, model, data, rounds):
    ours, theirs = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as out:
            ours.append(process([f"{build}/bin/quantscope", "quantize", model, "--data", data, "--device", "cpu", "--export", "torchscript,pt2-reference",
                                 "--out", out]))
            if ours[-1]["ok"]:
                result = json.loads((pathlib.Path(out) / "result.json").read_text())
                ours[-1]["stages"] = result["timing_s"]
            theirs.append(process([sys.executable, str(HERE / "torch_ao.py"), "quantize", name, data, out]))
    for who, runs in (("quantscope", ours), ("torch.ao", theirs)):
        if not runs[-1]["ok"]:
            print(f"{name}: {who} failed: {runs[-1]['error']}")
    if not ours[-1]["ok"]:
        return
    stages = {stage: round(median([run["stages"][stage] for run in ours]), 2) for stage in ours[0]["stages"]}
    print(f"{name}: quantize {median([r['wall'] for r in ours]):.1f} s, {median([r['cpu'] for r in ours]):.1f} s of processor, "
          f"{median([r['mb'] for r in ours]):.0f} MB; stages {stages}")
    if not theirs[-1]["ok"]:
        return
    print(f"{name}: torch.ao {median([r['wall'] for r in theirs]):.1f} s, {median([r['cpu'] for r in theirs]):.1f} s of processor, "
          f"{median([r['mb'] for r in theirs]):.0f} MB")
    text = ", ".join(f"{what} {median([a[kind] / b[kind] for a, b in zip(ours, theirs)]):.2f}"
                     for what, kind in (("time", "wall"), ("processor", "cpu"), ("memory", "mb")))
    print(f"{name}: quantize / torch.ao: {text}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--models", default="resnet18,mobilenet_v2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("calibrate", "quantize"))
    parser.add_argument("--files", default=str(pathlib.Path(tempfile.gettempdir()) / "quantscope-bench"))
    options = parser.parse_args()
    for name in options.models.split(","):
        model, data = models.files(name, options.files)
        if options.only != "quantize":
            bench_calibrate(options.build, name, model, data, options.rounds)
        if options.only != "calibrate":
            bench_quantize(options.build, name, model, data, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Two ranks with one thread each beside one process with two threads, in turn: processor seconds, time and peak memory of
`quantize`, as ratios.

    bench_ranks.py BUILD [--models resnet18] [--rounds 3] [--files FOLDER]

BUILD is the build folder (target quantscope). Set OMP_WAIT_POLICY=PASSIVE, two cores, a quiet machine; where it is not quiet, trust
the processor seconds. The ranks are started without torchrun, whose own process takes some seconds to import PyTorch.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import models
from bench_pipeline import peak_megabytes


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def measured(commands):
    """Runs (words, environment) side by side: wall seconds, processor seconds of all, the greatest peak in MB."""
    start = time.perf_counter()
    children = [subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for words, environment in commands]
    peaks, ended = [0.0] * len(children), threading.Event()

    def watch():
        while not ended.wait(0.02):
            for i, child in enumerate(children):
                peaks[i] = max(peaks[i], peak_megabytes(child.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    processor = 0.0
    for child in children:
        complaint = child.stderr.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        assert status == 0, complaint
        processor += usage.ru_utime + usage.ru_stime
    ended.set()
    watcher.join()
    return {"wall": time.perf_counter() - start, "processor": processor, "memory": max(peaks)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--models", default="resnet18")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=pathlib.Path)
    asked = parser.parse_args()
    program = asked.build / "bin" / "quantscope"
    with tempfile.TemporaryDirectory() as temporary:
        files = asked.files or pathlib.Path(temporary)
        files.mkdir(parents=True, exist_ok=True)
        for name in asked.models.split(","):
            model, data = models.files(name, files)
            recipe = files / "recipe.json"
            recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86"},
                                          "calibration": {"batch_size": models.BATCH, "batches": 0}}))
            words = [program, "quantize", model, "--recipe", recipe, "--data", data, "--device", "cpu", "--export", "none", "--out"]
            rounds = {"one": [], "two": []}
            for turn in range(asked.rounds):
                alone = {**os.environ, "OMP_NUM_THREADS": "2"}
                rounds["one"].append(measured([([*words, files / f"one{turn}"], alone)]))
                shared = {**os.environ, "OMP_NUM_THREADS": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                          "MASTER_PORT": str(free_port())}
                rounds["two"].append(measured([([*words, files / f"two{turn}"], {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)})
                                               for rank in range(2)]))
            ratios = {kind: statistics.median(two[kind] / one[kind] for one, two in zip(rounds["one"], rounds["two"]))
                      for kind in ("processor", "wall", "memory")}
            seconds = {side: statistics.median(one["wall"] for one in rounds[side]) for side in rounds}
            print(f"{name}: {models.BATCHES} batches of {models.BATCH}: one process {seconds['one']:.1f} s, two ranks {seconds['two']:.1f} s; "
                  f"processor {ratios['processor']:.2f} (bound 1.10), time {ratios['wall']:.2f}, memory of a rank {ratios['memory']:.2f}", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Mutated files through the programs as a user starts them: verbs of the command line, and the window without a display.

    programs.py --seconds 40                       as in the suite
    programs.py --count 2000 --seed 7 --keep DIR   so many runs; what fails is kept in DIR
    programs.py --window build/bin/quantscope-ui   the window too
"""

import argparse
import collections
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from fuzz import LEAKS
from mutate import mutated
from seeds import PROGRAM, make_seeds

CPU_SECONDS, BYTES = 20, 4 << 30


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (80 << 30, 80 << 30))  # the program reserves more addresses than it uses


def quantize(folder, *words):
    return ("quantize", *words, "--device", "cpu", "--export", "none", "--out", folder / "made")


def commands(folder, reader, path):
    """The ways in which a user gives such a file to the program."""
    net, data, out = folder / "net.pt2", folder / "data.npz", folder / "out"
    if reader in ("pt2", "torchscript", "samples"):
        own = "sample" if reader != "torchscript" else data
        return [("inspect", path, "--json"), ("inspect", path, "--code"), ("plan", path), quantize(folder, path, "--data", own),
                ("quantize", path, "--data", own, "--device", "cpu", "--export", "torchscript,pt2-reference", "--out", folder / "made"),
                ("compare", net, "--result", path, "--data", data), ("window", path)]
    if reader in ("npz", "saved", "tar"):
        return [quantize(folder, net, "--data", path), ("compare", net, "--result", out, "--data", path), ("look", net, "--result", out, "--data", path, "--node", "relu")]
    if reader in ("recipe", "edits"):
        return [("plan", net, "--recipe", path), quantize(folder, net, "--recipe", path, "--data", data), ("edit", net, "--recipe", path, "--out", folder / "made.pt2")]
    if reader == "backend":
        recipe = path.with_name("uses.json")
        recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": str(path), "mapping": {"global": "x86"}}))
        return [("backends", "check", path), ("plan", net, "--recipe", recipe), quantize(folder, net, "--recipe", recipe, "--data", data)]
    if reader == "constant":
        recipe = path.with_name("uses.json")
        recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "edits": [{"do": "constant", "at": {"stored": "fc.weight"}, "file": path.name}]}))
        return [("plan", net, "--recipe", recipe)]
    if reader == "project":
        return [("plan", path), ("runs", path, "list"), ("diff", path, out), ("window", path)]
    if reader == "result":
        place = path.parent
        return [("report", place, "--html", folder / "made.html", "--csv", folder / "made.csv"), ("check", place, "--min-sqnr", "1"), ("diff", place, out),
                ("compare", net, "--result", place, "--data", data), ("look", net, "--result", place, "--data", data, "--node", "relu"), ("window", place)]
    if reader == "image":
        return [quantize(folder, folder / "pictures.pt2", "--recipe", folder / "pictures.json", "--data", path.parent)]
    if reader == "extension":
        return [("extensions", "check", path.parent)]
    if reader == "statistics":
        shutil.copy(path, path.with_name("observations.npz"))
        for name in ("result.json", "recipe.json"):
            shutil.copy(out / name, path.with_name(name))
        return [("compare", net, "--result", path.parent, "--data", data), ("window", path.parent)]
    return []


def run_one(words, window, folder):
    """(outcome, what it said, its command)"""
    if words[0] == "window":
        words = [window, words[1], "--screenshot", folder / "made.png", "--size", "1000x700"]
    else:
        words = [PROGRAM, *words]
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(list(map(str, words)), stdout=told, stderr=subprocess.STDOUT, preexec_fn=limits)
        alarm = time.monotonic() + 12 * CPU_SECONDS  # of a machine that others share
        while True:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > alarm:
                process.kill()
            time.sleep(0.02)
        process.returncode = 0  # it was waited for
        told.seek(0)
        text = told.read(200_000).decode("utf-8", "replace")
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ("hang" if number in (signal.SIGXCPU, signal.SIGKILL) else "crash"), f"signal {number}: {text[-200:]}", words
    if used.ru_maxrss * 1024 > BYTES:
        return "memory", f"{used.ru_maxrss >> 20} GiB: {text[-200:]}", words
    lines = text.split("\n")
    leak = next((line for line in lines if LEAKS.search(line)), None)
    if leak is not None and words[1] != "--code" and "--code" not in words:
        return "leak", leak, words
    code = os.WEXITSTATUS(status)
    if code == 1 and not text.strip():
        return "silent", "", words
    return ("read" if code == 0 else "refused" if code == 1 else f"exit {code}"), lines[-2] if len(lines) > 1 else text, words


def make_pictures(folder):
    import torch

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()
    torch.export.save(torch.export.export(model, (torch.randn(1, 3, 6, 6),)), folder / "pictures.pt2")
    (folder / "pictures.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "calibration": {"batch_size": 1, "preprocess": {"resize": 6, "crop": 6}}}))


def place_for(folder, reader, seed, number):
    place = folder / "given" / str(number)
    place.mkdir(parents=True)
    if reader in ("result", "extension"):
        for beside in seed.parent.iterdir():
            if beside.is_file():
                shutil.copy(beside, place)
        return place / seed.name
    if reader == "project":
        for name in ("net.pt2", "data.npz"):
            os.link(folder / name, place / name)
    return place / f"{'a' if reader == 'image' else 'given'}{seed.suffix}"


def main():
    warnings.simplefilter("ignore")
    words = argparse.ArgumentParser()
    words.add_argument("--seconds", type=float, default=0)
    words.add_argument("--count", type=int, default=0)
    words.add_argument("--seed", default="quantscope")
    words.add_argument("--keep")
    words.add_argument("--window")
    options = words.parse_args()
    end = time.monotonic() + (options.seconds or 1e9 if options.count else options.seconds or 40)
    chance = random.Random(options.seed)
    counts, failures, total = collections.defaultdict(collections.Counter), [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seeds, _ = make_seeds(folder)
        make_pictures(folder)
        readers = sorted(reader for reader in seeds if reader not in ("nodes", "run", "certificate", "search"))
        while time.monotonic() < end and (not options.count or total < options.count):
            reader = readers[total % len(readers)]
            seed, form = chance.choice(seeds[reader])
            path = place_for(folder, reader, seed, total)
            path.write_bytes(mutated(seed.read_bytes(), form, chance))
            possible = [given for given in commands(folder, reader, path) if given[0] != "window" or options.window]
            given = chance.choice(possible)
            outcome, said, used = run_one(given, options.window, folder)
            counts[f"{reader}: {given[0]}"][outcome] += 1
            total += 1
            if outcome not in ("read", "refused"):
                failures.append((reader, outcome, " ".join(map(str, used[1:3])), said))
                if options.keep:
                    kept = Path(options.keep) / f"{reader}_{given[0]}_{outcome}_{total}"
                    shutil.copytree(path.parent, kept)
                    (kept / "command.txt").write_text(" ".join(map(str, used)) + "\n" + said)
            shutil.rmtree(path.parent)
            for made in folder.glob("made*"):
                shutil.rmtree(made) if made.is_dir() else made.unlink()
    columns = ("read", "refused", "crash", "hang", "memory", "leak")
    print("| file: verb | runs | " + " | ".join(columns) + " | other |")
    for key, row in sorted(counts.items()):
        print(f"| {key} | {sum(row.values())} | " + " | ".join(str(row[column]) for column in columns) + f" | {sum(row.values()) - sum(row[column] for column in columns)} |")
    print(f"{total} runs")
    for failure in failures[:40]:
        print(*failure[:3], failure[3][:300], sep=": ")
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.exit(main())

# SPDX-License-Identifier: GPL-3.0-or-later
"""The window is killed at any moment while somebody decides, edits, saves and calibrates: the project file is whole at every
time, and what the program offers when it starts again is at most some seconds old. ROUNDS says how often."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORKER, PROGRAM, SOURCE = sys.argv[1:4]
ROUNDS = int(os.environ.get("ROUNDS", "4"))
LOST_MS = 2500  # a second until the step is kept, and a busy machine


def ask(*words, env):
    done = subprocess.run([WORKER, *map(str, words)], capture_output=True, text=True, timeout=60, env=env, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.strip()


def decisions(log):
    return [(int(line.split()[0]), line.split()[1]) for line in log.read_text().splitlines() if len(line.split()) == 2]


def one_round(number, folder, project, env, chance):
    log = folder / f"log{number}"
    process = subprocess.Popen([WORKER, str(project), str(log), str(number)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, env=env)
    assert process.stdout.readline().strip() == "ready", "the worker ended"
    time.sleep(chance.uniform(0.2, 4))
    process.kill()
    killed = time.time() * 1000
    process.wait()
    process.stdout.close()
    json.loads(project.read_text())  # whole
    plan = subprocess.run([PROGRAM, "plan", str(project), "--json"], capture_output=True, text=True, env=env, check=False)
    assert plan.returncode == 0, plan.stderr
    unsaved = Path(ask("--unsaved", project, env=env))
    files = [file for file in (unsaved, Path(f"{unsaved}.offered"), project) if file.exists()]
    newest = max(files, key=lambda file: file.stat().st_mtime_ns)
    found = ask("--recipe", newest, env=env)
    told = decisions(log)
    # The decision that stands in the file was the current one until the next came.
    until = [told[i + 1][0] if i + 1 < len(told) else killed for i, (_, recipe) in enumerate(told) if recipe == found]
    assert until, f"round {number}: {newest} holds no decision of this round"
    lost = killed - max(until)
    assert lost <= LOST_MS, f"round {number}: {lost:.0f} ms are lost"
    return lost, len(told)


def crash(folder, project, env):
    """An edit that crashes the program is named, and does not crash it again when decisions are brought back."""
    for turn in range(2):
        process = subprocess.Popen([WORKER, str(project), str(folder / f"crash{turn}"), str(turn)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, env={**env, "QS_CRASH": "1"})
        assert process.stdout.readline().strip() == "ready", "bringing decisions back crashed"
        code = process.wait(timeout=300)
        process.stdout.close()
        assert code == -signal.SIGSEGV, code
        step = Path(ask("--unsaved", project, env=env) + ".step")
        assert json.loads(step.read_text())["steps"], step


def main():
    folder = Path(tempfile.mkdtemp())
    env = {**os.environ, "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"),
           "XDG_CACHE_HOME": str(folder / "cache"), "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
    try:
        samples = Path(SOURCE) / "resources" / "samples"
        for name in ("digits.pt2", "calib.npz"):
            shutil.copy(samples / name, folder / name)
        project = folder / "work.project.json"
        project.write_text(json.dumps({
            "format": "quantscope.project", "version": 1, "model": "digits.pt2", "data": "calib.npz", "device": "cpu",
            "recipe": {"format": "quantscope.recipe", "version": 1, "backend": "x86", "calibration": {"batch_size": 8, "batches": 4}}}))
        chance = random.Random(int(os.environ.get("SEED", "3")))
        crash(folder, project, env)
        rounds = [one_round(number, folder, project, env, chance) for number in range(ROUNDS)]
        print(f"{ROUNDS} kills, {sum(count for _, count in rounds)} decisions, at most "
              f"{max(lost for lost, _ in rounds):.0f} ms lost")
        subprocess.run([PROGRAM, "plan", str(project), "--json"], capture_output=True, env=env, check=True)
        stray = [path for path in folder.rglob(".quantscope-*")]
        assert not stray, stray  # the program that opens the project next takes them away
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()

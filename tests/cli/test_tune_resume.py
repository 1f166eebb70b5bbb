# SPDX-License-Identifier: Apache-2.0
"""What a search of `tune` leaves, however it ends: `--resume` goes on from it to the byte, and refuses it for anything else.
ROUNDS says how often a search is stopped at any moment."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import cure_models
import numpy
from harness import PROGRAM, expect_bad, interrupted, main, run
from tune_searches import LIMITS, best, sick, tuned

ROUNDS = int(os.environ.get("ROUNDS", "10"))


def places(folder, *names):
    """A recipe of the same name in a folder each: what a search writes names the files beside it."""
    found = [folder / name / "tuned.json" for name in names]
    for place in found:
        place.parent.mkdir()
    return found


def test_a_stopped_search_goes_on_to_the_byte(folder):
    words = sick(folder)
    whole, part, killed = places(folder, "whole", "part", "killed")
    tuned(words, whole, "--goal", "sqnr 60", code=1)
    tuned(words, part, "--goal", "sqnr 60", "--trials", 2, code=1)
    tuned(words, part, "--goal", "sqnr 60", "--resume", code=1)
    assert part.read_bytes() == whole.read_bytes()
    assert part.with_suffix(".tune.json").read_bytes() == whole.with_suffix(".tune.json").read_bytes()
    # Killed, it leaves a state that reads and goes on.
    interrupted(["tune", *words, "--goal", "sqnr 60", *LIMITS, "--out", killed], "trial 3", how=signal.SIGKILL)
    json.loads(killed.with_suffix(".tune.json").read_text())
    tuned(words, killed, "--goal", "sqnr 60", "--resume", code=1)
    assert killed.read_bytes() == whole.read_bytes()
    # A search of another kind is refused, which names the difference; another goal may use the same trials.
    state = part.with_suffix(".tune.json").read_bytes()
    expect_bad("tune", *words, "--goal", "sqnr 60", *LIMITS, "--seed", 5, "--resume", "--out", part, contains=["another seed"])
    assert part.with_suffix(".tune.json").read_bytes() == state
    other = cure_models.outlier_channel().healthy.write(folder / "healthy")
    expect_bad("tune", *other, "--goal", "sqnr 60", *LIMITS, "--resume", "--out", part, contains=["another model"])
    assert part.with_suffix(".tune.json").read_bytes() == state
    tuned(words, part, "--goal", "sqnr 50", "--resume", code=0)


def stopped(command, seconds, how):
    """(exit status, stderr) of a run that gets the signal after so long, and the seconds that it then took."""
    process = subprocess.Popen([PROGRAM, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    asked = time.monotonic()
    process.send_signal(how)
    errors = process.communicate(timeout=60)[1]
    return process.returncode, errors, time.monotonic() - asked


def test_a_search_is_stopped_at_any_moment(folder):
    """Again and again: its state always reads, and the search that goes on from it ends as one that was not stopped, to the byte."""
    words, limits = sick(folder), ("--goal", "sqnr 60", *LIMITS)
    whole, out, other = places(folder, "whole", "out", "other")
    state = out.with_suffix(".tune.json")
    began = time.monotonic()
    tuned(words, whole, "--goal", "sqnr 60", code=1)
    span = time.monotonic() - began
    chance, begun, ended, hidden = random.Random(11), 0, 0, set()
    for turn in range(ROUNDS):
        how = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[turn % 3]
        resumed = ["--resume"] if state.exists() else []
        code, errors, took = stopped(["tune", *words, *limits, "--out", out, *resumed], chance.uniform(0.2, 1.1) * span, how)
        assert took < 10, (took, how)
        last = errors.splitlines()[-1] if errors else ""
        if how == signal.SIGKILL:  # the next run that writes there removes what this one was writing
            hidden = {path.name for path in out.parent.glob(".quantscope-*")}
        if how != signal.SIGKILL:
            left = {path.name for path in out.parent.iterdir()} - hidden
            assert left <= {out.name, state.name, "tuned.cures"}, left
            ends = ("cancelled", "with --resume to continue", "the best recipe is written")
            assert code in (1, -how) and (not last or last.endswith(ends)), (code, last)
        if not state.exists():
            assert not out.exists()
            continue
        begun += 1
        trials = json.loads(state.read_text())["trials"]
        assert out.exists() or not trials
        if turn % 5 == 4 or last.endswith("is written"):
            shutil.copy(state, other.with_suffix(".tune.json"))
            tuned(words, other, "--goal", "sqnr 60", "--resume", code=1)
            assert other.read_bytes() == whole.read_bytes()
            assert other.with_suffix(".tune.json").read_bytes() == whole.with_suffix(".tune.json").read_bytes()
        if last.endswith("is written"):
            ended += 1
            state.unlink()
            out.unlink()
    assert begun > ROUNDS // 5 and ended < ROUNDS, (begun, ended)


def test_data_are_known_by_what_they_hold(folder):
    """Moved data go on from the state of a search, other data in the same file do not; nor does a script that was changed."""
    words, out = sick(folder), folder / "tuned.json"
    tuned(words, out, "--goal", "sqnr 60", code=1)
    state = out.with_suffix(".tune.json")
    whole = state.read_bytes()
    moved = folder / "elsewhere.npz"
    words[4].rename(moved)
    others = [moved if word == words[4] else word for word in words]
    tuned(others, out, "--goal", "sqnr 60", "--resume", code=1)
    assert state.read_bytes() == whole
    other = numpy.load(moved)["x"][::-1]
    numpy.savez(words[4], x=other)
    expect_bad("tune", *words, "--goal", "sqnr 60", *LIMITS, "--resume", "--out", out, contains=["other data", "without --resume"])
    expect_bad("tune", *others, "--compare-on", words[4], "--goal", "sqnr 60", *LIMITS, "--resume", "--out", out, contains=["other data"])
    recipe = json.loads(words[2].read_text())
    words[2].write_text(json.dumps({**recipe, "calibration": {**recipe["calibration"], "batch_size": 4}}))
    expect_bad("tune", *others, "--goal", "sqnr 60", *LIMITS, "--resume", "--out", out, contains=["another recipe"])
    words[2].write_text(json.dumps(recipe))
    assert state.read_bytes() == whole
    # The command of a metric is known by the content of its files.
    script = folder / "a score.py"
    script.write_text("print(0.5)\n")
    scored = ["--goal", "metric 0.9", "--trials", 2, "--eval"]
    tuned(others, out, *scored, f"{sys.executable} '{script}'", code=1)
    whole = state.read_bytes()
    script.rename(folder / "moved.py")
    tuned(others, out, *scored, f"{sys.executable} {folder / 'moved.py'}", "--resume", code=1)
    assert state.read_bytes() == whole
    (folder / "moved.py").write_text("print(0.6)\n")
    expect_bad("tune", *others, *scored, f"{sys.executable} {folder / 'moved.py'}", *LIMITS, "--resume", "--out", out,
               contains=["another metric"])


def test_a_metric_that_is_not_finite_is_the_worst(folder):
    """The first trial's is NaN: the search goes on, and so does one that is resumed."""
    words, out, count = sick(folder), folder / "tuned.json", folder / "count"
    script = folder / "score.py"
    script.write_text(f"import pathlib\nf = pathlib.Path({str(count)!r})\nf.write_text('x' + (f.read_text() if f.exists() else ''))\n"
                      "print('nan' if f.read_text() == 'x' else 0.8)\n")
    command = ["--goal", "metric 0.7", "--eval", f"{sys.executable} {script}"]
    search = tuned(words, out, *command)
    assert search["reached"] and search["best"] == 1, search["best"]
    assert search["trials"][0]["guard"]["metric"] is None and best(search)["guard"]["metric"] == 0.8
    state = out.with_suffix(".tune.json").read_bytes()
    done = run("tune", *words, *command, *LIMITS, "--resume", "--out", out)
    assert done.returncode == 0 and out.with_suffix(".tune.json").read_bytes() == state, done.stderr
    assert count.read_text() == "xx"


def test_a_search_that_is_stopped_early(folder):
    """Before its first trial it leaves a state without trials; without any state `--resume` says what to do."""
    words, (out, whole) = sick(folder), places(folder, "out", "whole")
    state = out.with_suffix(".tune.json")
    expect_bad("tune", *words, *LIMITS, "--resume", "--out", out, contains=[state.name, "no stopped search to resume", "without --resume"])
    assert not out.exists() and not state.exists()
    # A trial takes half a minute until there is that folder.
    slow = ("--goal", "metric 0.9", "--eval", f"test -d {folder / 'quick'} || sleep 30; echo 0.5 #")
    for how in (signal.SIGKILL, signal.SIGINT):
        code, line = interrupted(["tune", *words, *slow, *LIMITS, "--out", out], "trial 1", how)
        begun = json.loads(state.read_text())
        assert begun["trials"] == [] and begun["best"] is None and not out.exists(), begun
    assert code == 1 and line.endswith("repeat the command with --resume to continue"), (code, line)
    (folder / "quick").mkdir()
    assert tuned(words, out, *slow, "--resume", code=1) == tuned(words, whole, *slow, code=1)
    went_on = tuned(words, out, "--goal", "sqnr 60", code=1)
    # A search that goes on forgets nothing before it has come there again.
    interrupted(["tune", *words, "--goal", "sqnr 60", *LIMITS, "--resume", "--out", out], "trial 2", how=signal.SIGKILL)
    kept = json.loads(state.read_text())
    known = {one["key"] for one in kept["trials"] + kept["earlier"]}
    assert known == {one["key"] for one in went_on["trials"]}, kept["earlier"]
    # What is not a state of this program.
    for text, word in (("{", "state"), ("[" * 100_000, "state"), ('{"format": 5}', "state"), ('{"format": "quantscope.tune", "version": 9}', "version")):
        state.write_text(text)
        expect_bad("tune", *words, *LIMITS, "--resume", "--out", out, contains=[state.name, word])


if __name__ == "__main__":
    main(__name__)

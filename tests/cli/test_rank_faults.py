# SPDX-License-Identifier: Apache-2.0
"""A rank that dies, hangs or has other files ends all of them soon, each with one line; a launcher that starts them again gets
the result of an undisturbed run. Nothing is half-written."""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time

import numpy as np
from harness import PROGRAM, SOURCE, in_full, main, write_recipe
from models import residual
from ranks import alone, environment, free_port, lasting, start, torchrun, wait_until_at_work

SAMPLES = SOURCE / "resources" / "samples"
SOON = 30  # seconds


def long_run(folder):
    """Words of a run of several seconds."""
    _, model, data, _ = residual(folder, samples=800, channels=24, size=96)
    recipe = write_recipe(folder, calibration={"batch_size": 2, "batches": 0})
    return ("quantize", model, "--recipe", recipe, "--data", data, "--export", "pt2")


def undisturbed(folder, words):
    """What lasts of the document that one process writes, and its seconds."""
    since = time.monotonic()
    alone(*words, "--out", folder / "one")
    return lasting(json.loads((folder / "one" / "result.json").read_text())), time.monotonic() - since


def ended(process, since):
    """(exit code, stderr) of a rank, which must end soon."""
    out, err = process.communicate(timeout=SOON + 30)
    assert time.monotonic() - since < SOON, f"it ended after {time.monotonic() - since:.0f} s"
    assert out == "", out
    return process.returncode, err


def told_once(code, err, *words):
    assert code == 1, (code, err)
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1, err
    for word in words:
        assert word in lines[0], (word, lines[0])


def test_a_killed_rank(folder):
    words, port, out = long_run(folder), free_port(), folder / "out"
    ranks = [start(rank, 2, port, *words, "--out", out) for rank in range(2)]
    wait_until_at_work(*ranks)
    ranks[1].kill()
    told_once(*ended(ranks[0], time.monotonic()), "rank 1 on " + socket.gethostname(), "no longer answers")
    assert not (out / "result.json").exists() and not list(out.glob("*.pt2"))


def test_the_rank_that_keeps_the_store_is_killed(folder):
    words, port = long_run(folder), free_port()
    ranks = [start(rank, 3, port, *words, "--out", folder / "out") for rank in range(3)]
    wait_until_at_work(*ranks)
    ranks[0].kill()
    since = time.monotonic()
    for rank in (1, 2):
        told_once(*ended(ranks[rank], since), "no longer answers")


@in_full
def test_a_rank_that_hangs(folder):
    words, port = long_run(folder), free_port()
    ranks = [start(rank, 2, port, *words, "--out", folder / "out") for rank in range(2)]
    wait_until_at_work(*ranks)
    ranks[1].send_signal(signal.SIGSTOP)
    told_once(*ended(ranks[0], time.monotonic()), "rank 1 on ")
    ranks[1].kill()


def test_a_rank_that_never_comes(folder):
    port = free_port()
    rank = start(0, 2, port, "quantize", SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz", "--out", folder / "out",
                 "--rank-timeout", "2s")
    told_once(*ended(rank, time.monotonic()), "rank 1", "within 2 s")


def test_other_files(folder):
    """Nothing runs before the ranks agree on model, decisions and data."""
    port, out = free_port(), folder / "out"
    files = [SAMPLES / "calib.npz", SAMPLES / "test.npz"]
    ranks = [start(rank, 2, port, "quantize", SAMPLES / "digits.pt2", "--data", files[rank], "--out", out) for rank in range(2)]
    since = time.monotonic()
    for rank in ranks:
        told_once(*ended(rank, since), "rank 0 on ", "rank 1 on ", "have different calibration data")
    assert not (out / "result.json").exists()
    recipe = write_recipe(folder, calibration={"batch_size": 2})
    port = free_port()
    more = [(), ("--recipe", recipe)]
    ranks = [start(rank, 2, port, "quantize", SAMPLES / "digits.pt2", "--data", files[0], *more[rank], "--out", out) for rank in range(2)]
    since = time.monotonic()
    for rank in ranks:
        told_once(*ended(rank, since), "have different decisions")


def test_bad_data(folder):
    """A batch that cannot be used is named on every rank, as in one process."""
    _, model, data, _ = residual(folder, samples=32)
    arrays = np.load(data)["x"].copy()
    arrays[13, 0, 0, 0] = np.nan
    np.savez(data, x=arrays)
    recipe = write_recipe(folder, calibration={"batch_size": 2, "batches": 0})
    port = free_port()
    ranks = [start(rank, 3, port, "quantize", model, "--recipe", recipe, "--data", data, "--out", folder / "out") for rank in range(3)]
    since = time.monotonic()
    for rank in ranks:
        told_once(*ended(rank, since), str(data), "NaN")


def test_a_bad_environment(folder):
    words = ("quantize", SAMPLES / "digits.pt2", "--data", SAMPLES / "calib.npz", "--out", folder / "out")
    for variables, named in (({"MASTER_ADDR": ""}, "MASTER_ADDR"), ({"RANK": "2"}, "RANK='2'"), ({"RANK": "x"}, "RANK='x'"),
                             ({"MASTER_PORT": "0"}, "MASTER_PORT='0'")):
        rank = start(0, 2, free_port(), *words, **variables)
        out, err = rank.communicate(timeout=SOON)
        assert rank.returncode == 2 and named in err and len(err.splitlines()) == 1, err
    since = time.monotonic()
    told_once(*ended(start(1, 2, free_port(), *words), since), "rank 1 of 2 cannot reach the store")
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told_once(*ended(start(0, 2, port, *words), time.monotonic()), f"port {port} is in use")


def test_a_second_run_on_the_store(folder):
    """Its ranks are refused; the first run ends as if it were alone."""
    words, port = long_run(folder), free_port()
    ranks = [start(rank, 2, port, *words, "--out", folder / "out") for rank in range(2)]
    wait_until_at_work(*ranks)
    second = start(1, 2, port, *words, "--out", folder / "second")
    told_once(*ended(second, time.monotonic()), "another run uses the store")
    for rank in ranks:
        _, err = rank.communicate(timeout=240)
        assert rank.returncode == 0, err


def killing(folder, seconds):
    """A program that kills rank 1 of the first attempt after so long."""
    script = folder / f"killing-{seconds}"
    script.write_text('#!/bin/sh\nif [ "$TORCHELASTIC_RESTART_COUNT" = 0 ] && [ "$RANK" = 1 ]; then\n'
                      f'  "$QUANTSCOPE" "$@" & sleep {seconds}; kill -9 $! && touch {folder}/killed-{seconds}; wait $!; exit $?\nfi\nexec "$QUANTSCOPE" "$@"\n')
    script.chmod(0o755)
    return script


def restarted(folder, words, seconds, ranks=2):
    """The document of a run whose rank 1 was killed after so long, and whether it still ran then."""
    out = folder / f"restarted-{seconds}"
    done = torchrun(ranks, *words, "--out", out, program=killing(folder, seconds), launcher=("--max-restarts", "1"))
    assert done.returncode == 0, done.stderr
    return json.loads((out / "result.json").read_text()), (out.parent / f"killed-{seconds}").exists()


def test_a_restart(folder):
    """torchrun starts the ranks again; they continue from the statistics that rank 0 left."""
    words = long_run(folder)
    wanted, span = undisturbed(folder, words)
    for share in (0.5, 0.35, 0.2):  # of a machine whose pace changes
        document, was_killed = restarted(folder, words, round(share * span, 2))
        assert lasting(document) == wanted
        if was_killed:
            return
    assert False, "no run lasted until its rank was killed"


@contextlib.contextmanager
def namespaces():
    """The names of two network namespaces with addresses 10.213.0.1 and .2; None where this user can make none."""
    names = [f"quantscope-{os.getpid()}-{side}" for side in "ab"]
    links = [f"qs{os.getpid() % 100_000}{side}" for side in "ab"]

    def ip(*words):
        return subprocess.run(["ip", *words], capture_output=True, text=True, check=False).returncode == 0

    made = all(ip("netns", "add", name) for name in names) and ip("link", "add", links[0], "type", "veth", "peer", "name", links[1])
    for side in (0, 1):
        made = made and ip("link", "set", links[side], "netns", names[side]) and ip(
            "-n", names[side], "addr", "add", f"10.213.0.{side + 1}/24", "dev", links[side]) and ip(
            "-n", names[side], "link", "set", links[side], "up") and ip("-n", names[side], "link", "set", "lo", "up")
    try:
        yield (names, lambda: ip("-n", names[1], "link", "set", links[1], "down")) if made else (None, None)
    finally:
        for name in names:
            ip("netns", "del", name)


def start_in(name, rank, port, *words):
    """A rank in a network namespace; the first one keeps the store."""
    variables = environment(rank, 2, port, MASTER_ADDR="10.213.0.1")
    return subprocess.Popen(["ip", "netns", "exec", name, PROGRAM, *map(str, words)], env=variables, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


@in_full
def test_two_machines_and_a_cut_network(folder):
    """Two namespaces: the same result as one process; when the link between them is cut, both ranks end."""
    if not shutil.which("ip"):
        print("no 'ip' here: network namespaces were not tried")
        return
    with namespaces() as (names, cut):
        if not names:
            print("no network namespaces can be made here")
            return
        words = long_run(folder)
        wanted, _ = undisturbed(folder, words)
        port = free_port()
        ranks = [start_in(names[rank], rank, port, *words, "--out", folder / "two") for rank in (0, 1)]
        for rank in ranks:
            _, err = rank.communicate(timeout=240)
            assert rank.returncode == 0, err
        assert lasting(json.loads((folder / "two" / "result.json").read_text())) == wanted
        port = free_port()
        ranks = [start_in(names[rank], rank, port, *words, "--out", folder / "cut") for rank in (0, 1)]
        wait_until_at_work(*ranks)
        assert cut()
        since = time.monotonic()
        for rank in ranks:
            told_once(*ended(rank, since), "no longer answers")
        assert not (folder / "cut" / "result.json").exists()


@in_full
def test_another_number_of_ranks(folder):
    """What two ranks left is continued by three, and by one process."""
    words = long_run(folder)
    wanted, _ = undisturbed(folder, words)
    for others in (3, 1):
        out, port = folder / f"then{others}", free_port()
        ranks = [start(rank, 2, port, *words, "--out", out) for rank in range(2)]
        wait_until_at_work(*ranks)
        for rank in ranks:
            rank.send_signal(signal.SIGTERM)
        for rank in ranks:
            rank.communicate(timeout=SOON)
        done = torchrun(others, *words, "--out", out)
        assert done.returncode == 0 and "calibration resumes after batch" in done.stderr, done.stderr
        assert lasting(json.loads((out / "result.json").read_text())) == wanted


@in_full
def test_many_kills(folder):
    """ROUNDS (50) kills at random moments."""
    words = long_run(folder)
    wanted, span = undisturbed(folder, words)
    chance = random.Random(11)
    for _ in range(int(os.environ.get("ROUNDS", "50"))):
        document, _ = restarted(folder, words, round(chance.uniform(0.2, span), 2))
        assert lasting(document) == wanted


if __name__ == "__main__":
    main(__name__)

# SPDX-License-Identifier: Apache-2.0
"""Starts the program as several ranks: with torchrun, or one by one with the variables that a launcher sets."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from harness import PROGRAM

TORCHRUN = Path(sys.executable).with_name("torchrun")


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def torchrun(ranks, *words, program=PROGRAM, launcher=(), timeout=300):
    """The finished process of `torchrun ... quantscope WORDS`, with text output."""
    command = [TORCHRUN, "--no-python", "--nproc-per-node", ranks, "--master-port", free_port(), *launcher, program, *words]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False)


def environment(rank, ranks, port, **more):
    """What a launcher tells a rank."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **more}


def start(rank, ranks, port, *words, **more):
    """One rank, running, without a launcher: rank 0 keeps the store."""
    return subprocess.Popen([PROGRAM, *map(str, words)], env=environment(rank, ranks, port, **more), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_until_at_work(*ranks, seconds=1.0):
    """Returns once each rank has computed for so long, which is after it joined and before its run ends, however slow the machine is."""
    ticks = os.sysconf("SC_CLK_TCK")
    for rank in ranks:
        while rank.poll() is None:
            user, system = Path(f"/proc/{rank.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            if (int(user) + int(system)) / ticks >= seconds:
                break
            time.sleep(0.02)
        assert rank.poll() is None, "it ended before it was at work: " + rank.stderr.read()


def alone(*words):
    """The finished process of a run without ranks, with as many threads as each of them has."""
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False)
    assert done.returncode == 0, done.stderr
    return done


def lasting(document):
    """What does not tell of the single run. Texts are compared without times."""
    def kept(value):
        if isinstance(value, dict):
            return {key: kept(one) for key, one in value.items() if not key.endswith(("_us", "_ms", "_s", "time", "times"))}
        return list(map(kept, value)) if isinstance(value, list) else value
    return kept({key: value for key, value in document.items() if key not in ("timing_s", "peak_rss_bytes", "ranks", "findings")})

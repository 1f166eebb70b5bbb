# SPDX-License-Identifier: Apache-2.0
"""What a run that was killed leaves hidden in its result folder, and who removes it."""

import fcntl
import os
import subprocess
import time

from harness import PROGRAM, main, run_good
from models import residual


def test_leavings_of_killed_runs_are_removed(folder):
    """Hidden folders whose process is gone go at the next run; one that is held, or just made, or the user's stays."""
    _, path, npz, _ = residual(folder)
    out, elsewhere = folder / "out", folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("kept")
    words = ["quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out]
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(out.glob(".quantscope-??????")) and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.wait()
    killed = list(out.glob(".quantscope-??????"))
    assert len(killed) == 1, killed
    names = [".quantscope-held00", ".quantscope-young0", ".quantscope-notes", "quantscope-abcdef"]
    for name in names:
        (out / name).mkdir()
        (out / name / "model.ts.pt").write_text("half")
    (killed[0] / "deep").mkdir()
    (killed[0] / "deep" / "link").symlink_to(elsewhere)
    (out / ".quantscope-linked").symlink_to(elsewhere)
    for place in (killed[0], *(out / name for name in names if name != ".quantscope-young0")):
        os.utime(place, (time.time() - 3600,) * 2)
    os.utime(out / ".quantscope-young0", (time.time() + 3600,) * 2)  # however slow this machine is
    held = os.open(out / ".quantscope-held00", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    run_good(*words)
    assert not killed[0].exists(), "what the killed run left is still there"
    assert all((out / name / "model.ts.pt").exists() for name in names), sorted(out.iterdir())
    assert (elsewhere / "mine.txt").exists() and (out / ".quantscope-linked").is_symlink()
    os.close(held)
    run_good(*words)
    assert not (out / ".quantscope-held00").exists() and (out / ".quantscope-young0").exists()


if __name__ == "__main__":
    main(__name__)

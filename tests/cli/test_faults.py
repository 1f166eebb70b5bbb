# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around a run: disks, permissions, files that change, two runs at once, clocks. Each ends in one line or as
if nothing had happened, and leaves nothing half."""

import ctypes
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import time

import numpy as np

from harness import AMIDST, PROGRAM, SOURCE, expect_bad, interrupted, main, mounted, run, run_good, run_json, write_recipe
from models import residual


BATCHES = 1000  # for about a second


def slow_words(folder, path, batches=BATCHES, out=None):
    """A run that calibrates for a while; its data."""
    big = folder / "big.npz"
    if not big.exists():
        np.savez(big, x=np.random.default_rng(1).normal(size=(batches, 3, 8, 8)).astype(np.float32))
    recipe = write_recipe(folder, calibration={"batch_size": 1, "batches": batches})
    return ["quantize", path, "--recipe", recipe, "--data", big, "--device", "cpu", "--export", "none", "--out", out or folder / "out"], big


def started(words, folder, before=None):
    """The process, once it has begun to work in its folder. `before` is done in it before the program starts."""
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before)
    while not list(folder.glob(".quantscope-??????")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    return process


def half_calibrated(words, folder):
    """A run that is ended while it calibrates, and leaves what it saw."""
    code, line = interrupted(words, AMIDST, signal.SIGTERM)
    assert code == 1 and "repeat the command to resume" in line, (code, line)
    assert os.listdir(folder) == ["calibration.partial.npz"], os.listdir(folder)


def one_line(process):
    _, errors = process.communicate(timeout=300)
    last = [line for line in errors.splitlines() if line.startswith("quantscope: ")]
    return process.returncode, last[-1] if last else errors


def lasting(document):
    return {key: value for key, value in document.items() if key not in ("timing_s", "peak_rss_bytes")}


def nothing_hidden(folder):
    return not list(folder.rglob(".quantscope-*"))


def test_a_full_disk(folder):
    """A file system of a few hundred kilobytes, where root may make one."""
    _, path, npz, _ = residual(folder)
    small = folder / "small"
    small.mkdir()
    with mounted(small, "size=200k") as is_mounted:
        if not is_mounted:
            return
        for forms in ("torchscript", "pt2-reference", "none"):
            (small / "fill").write_bytes(b"x" * (150_000 if forms != "none" else 190_000))
            out = small / "out"
            expect_bad("quantize", path, "--data", npz, "--device", "cpu", "--export", forms, "--out", out, contains=["No space left"])
            assert nothing_hidden(small) and not out.exists(), list(small.rglob("*"))
        (small / "fill").unlink()
        run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", small / "out")


def test_a_folder_that_is_read_only(folder):
    _, path, npz, _ = residual(folder)
    place = folder / "place"
    place.mkdir()
    with mounted(place, "ro") as is_mounted:
        if not is_mounted and os.geteuid() == 0:
            return
        if not is_mounted:
            place.chmod(0o555)
        expect_bad("quantize", path, "--data", npz, "--device", "cpu", "--out", place / "out", contains=["place/out"])
        expect_bad("quantize", path, "--data", npz, "--device", "cpu", "--out", place, contains=["cannot be written"])
        run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", folder / "out")
        expect_bad("report", folder / "out", "--html", place / "a.html", contains=["a.html", "cannot be written"])


def test_the_folder_goes_during_a_run(folder):
    """Taken away, or replaced by a file: one line, and what stands there now stays."""
    _, path, _, _ = residual(folder)
    words, _ = slow_words(folder, path)
    out = folder / "out"
    process = started(words, out)
    shutil.move(out, folder / "elsewhere")
    out.write_text("mine")
    code, line = one_line(process)
    assert code == 1 and "out" in line, (code, line)
    assert out.read_text() == "mine"


def like_anybody():
    """Permissions hold for root too: what passes over them is taken from the program that is started."""
    change = ctypes.CDLL(None).prctl
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        change(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; without the right to it there is nothing to take


def test_permission_is_lost_during_a_run(folder):
    """Of the folder: one line that names it, no result, and the next run clears up. Of model and data, which are open: as if
    nothing had happened, or one line that names the file."""
    _, path, _, _ = residual(folder)
    out = folder / "out"
    words, big = slow_words(folder, path, batches=BATCHES // 2)
    words[words.index("none")] = "torchscript"
    wanted = run_json(*slow_words(folder, path, batches=BATCHES // 2, out=folder / "wanted")[0])
    process = started(words, out, like_anybody)
    out.chmod(0o555)
    code, line = one_line(process)
    out.chmod(0o755)
    assert code == 1 and "out" in line and "Permission denied" in line, (code, line)
    assert not (out / "result.json").exists() and not (out / "model.int8.ts.pt").exists(), os.listdir(out)
    assert run_json(*words)["nodes"] == wanted["nodes"]
    assert nothing_hidden(out), os.listdir(out)
    for file in (path, big):
        place = folder / f"without {file.name}"
        words[words.index("--out") + 1] = place
        process = started(words, place, like_anybody)
        file.chmod(0)
        code, line = one_line(process)
        file.chmod(0o644)
        assert code in (0, 1), (file, code, line)
        if code == 1:
            assert file.name in line and not (place / "result.json").exists(), (file, line)
        else:
            assert json.loads((place / "result.json").read_text())["nodes"] == wanted["nodes"], file
        assert nothing_hidden(folder), file


def test_no_room_is_left(folder):
    """A file that may grow no further (the shell's limit), a disk quota, a disk with errors: at whatever byte it happens, one line with
    the file and the cause, no result, nothing half."""
    _, path, npz, _ = residual(folder, channels=64)
    words = ["quantize", path, "--data", npz, "--device", "cpu", "--out", folder / "out"]
    run_good(*words[:-1], folder / "whole")

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120, check=False, preexec_fn=limited)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and len(lines) == 1 and "File too large" in lines[0], (done.returncode, done.stderr)
    assert not (folder / "out").exists() and nothing_hidden(folder), list(folder.rglob("*"))
    fault = folder / "fault.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        print("no compiler for the library that makes writing fail: quota and disk errors are left out")
        return
    subprocess.run([compiler, "-shared", "-fPIC", "-o", fault, SOURCE / "tests" / "cli" / "write_fault.c", "-ldl"], check=True)
    size = sum(file.stat().st_size for file in (folder / "whole").iterdir())
    for number, text in ((errno.EDQUOT, "Disk quota exceeded"), (errno.EIO, "Input/output error")):
        for part in (0, 0.2, 0.5, 0.8):
            env = {"LD_PRELOAD": str(fault), "FAULT_ERRNO": str(number), "FAULT_AFTER": str(int(size * part))}
            done = run(*words, env=env)
            lines = done.stderr.splitlines()
            assert done.returncode == 1 and len(lines) == 1 and text in lines[0] and "out" in lines[0], (number, part, done.returncode, done.stderr)
            assert not (folder / "out").exists() and nothing_hidden(folder), list(folder.rglob("*"))
        env["FAULT_AFTER"] = "100"
        done = run("report", folder / "whole", "--html", folder / "page.html", env=env)
        assert done.returncode == 1 and text in done.stderr and "page.html" in done.stderr and not (folder / "page.html").exists(), done.stderr
        assert nothing_hidden(folder), list(folder.rglob("*"))


def test_the_model_changes_during_a_run(folder):
    """A result never mixes two models: the run ends in one line, or used the model that it had opened."""
    model, path, _, _ = residual(folder)
    words, _ = slow_words(folder, path)
    wanted = run_json(*slow_words(folder, path, out=folder / "wanted")[0])
    process = started(words, folder / "out")
    other = folder / "other"
    other.mkdir()
    residual(other, channels=16)
    os.replace(other / "residual.pt2", path)
    code, line = one_line(process)
    assert code in (0, 1), (code, line)
    if code == 0:
        assert lasting(json.loads((folder / "out" / "result.json").read_text()))["nodes"] == lasting(wanted)["nodes"]
    else:
        assert "residual.pt2" in line, line
        assert not (folder / "out" / "result.json").exists()


def test_the_data_change_during_a_run(folder):
    """Replaced, cut short or taken away: the run ends in one line, or used what it had opened; it never mixes the two."""
    _, path, _, _ = residual(folder)
    wanted = run_json(*slow_words(folder, path, out=folder / "wanted")[0])
    for how in ("replaced", "cut", "gone"):
        out = folder / how
        words, big = slow_words(folder, path, out=out)
        content = big.read_bytes()
        process = started(words, out)
        if how == "replaced":
            np.savez(folder / "new.npz", x=np.zeros((BATCHES, 3, 8, 8), np.float32))
            os.replace(folder / "new.npz", big)
        elif how == "cut":
            os.truncate(big, len(content) // 3)
        else:
            big.unlink()
        code, line = one_line(process)
        assert code in (0, 1), (how, code, line)
        if code == 0:
            assert json.loads((out / "result.json").read_text())["nodes"] == wanted["nodes"], how
        else:
            assert "big.npz" in line and not (out / "result.json").exists(), (how, line)
        big.write_bytes(content)


def test_two_runs_into_one_folder(folder):
    """The second refuses or waits, or both end whole: the folder holds one run's result with that run's files."""
    _, path, _, _ = residual(folder)
    words, _ = slow_words(folder, path, batches=300)
    words[words.index("none")] = "torchscript"
    out = folder / "out"
    both = [subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [one_line(process) for process in both]
    assert 0 in [code for code, _ in ends] and {code for code, _ in ends} <= {0, 1}, ends
    document = json.loads((out / "result.json").read_text())
    for name in document["exports"].values():
        import hashlib
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == document["exports_sha256"][name], name
    run_good(*words)
    assert nothing_hidden(out), os.listdir(out)
    assert "calibration.partial.npz" not in os.listdir(out)


def test_clocks_that_jump(folder):
    """Files of tomorrow and of 1970 change nothing; an interrupted run with a time in the future is gone on with."""
    _, path, npz, _ = residual(folder)
    words = ["quantize", path, "--data", npz, "--device", "cpu", "--export", "torchscript", "--out"]
    wanted = run_json(*words, folder / "wanted")
    for number, moment in enumerate((time.time() + 86_400 * 365, 0, 1)):
        for file in (path, npz):
            os.utime(file, (moment, moment))
        out = folder / f"out{number}"
        out.mkdir()
        stale = out / ".quantscope-abcdefgh01234567.tmp"
        stale.write_text("half")
        os.utime(stale, (moment, moment))
        first = run_json(*words, out)
        assert lasting(first)["nodes"] == wanted["nodes"]
        for file in out.iterdir():
            os.utime(file, (moment, moment))
        assert run_json(*words, out)["nodes"] == wanted["nodes"]
        assert nothing_hidden(out), os.listdir(out)
    words, big = slow_words(folder, path, batches=BATCHES // 2)
    wanted = run_json(*words[:-1], folder / "slow")
    half_calibrated(words, folder / "out")
    tomorrow = time.time() + 86_400
    for file in (folder / "out").iterdir():
        os.utime(file, (tomorrow, tomorrow))
    assert run_json(*words)["nodes"] == wanted["nodes"]
    assert "calibration.partial.npz" not in os.listdir(folder / "out")


def test_what_killed_runs_left(folder):
    """Files and folders that nobody holds go; one that a living process holds, a link, another name stay."""
    import fcntl

    _, path, npz, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out)
    pages = folder / "pages"
    pages.mkdir()
    names = {"left": ".quantscope-abcdefgh01234567.tmp", "held": ".quantscope-abcdefgh76543210.tmp", "short": ".quantscope-abc.tmp", "other": ".quantscope-abcdefgh0123-567.tmp"}
    for name in names.values():
        (pages / name).write_text("half")
    (pages / ".quantscope-linked0000000000.tmp").symlink_to(out / "result.json")
    with open(pages / names["held"], "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run_good("report", out, "--html", pages / "a.html")
        assert not (pages / names["left"]).exists()
        assert all((pages / names[key]).exists() for key in ("held", "short", "other")), os.listdir(pages)
    run_good("report", out, "--html", pages / "a.html")
    assert not (pages / names["held"]).exists()
    assert (out / "result.json").exists() and (pages / ".quantscope-linked0000000000.tmp").is_symlink()


def test_a_damaged_or_foreign_checkpoint(folder):
    """Data of the same size and time but other content are other data."""
    _, path, _, _ = residual(folder)
    words, big = slow_words(folder, path)
    about = os.stat(big)
    half_calibrated(words, folder / "out")
    x = np.random.default_rng(2).normal(size=(BATCHES, 3, 8, 8)).astype(np.float32)
    np.savez(big, x=x)
    assert os.stat(big).st_size == about.st_size
    os.utime(big, ns=(about.st_atime_ns, about.st_mtime_ns))
    resumed = run_json(*words)
    words[-1] = folder / "fresh"
    assert resumed["nodes"] == run_json(*words)["nodes"]


if __name__ == "__main__":
    main(__name__)

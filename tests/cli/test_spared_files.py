# SPDX-License-Identifier: Apache-2.0
"""What a run may not write over: its own inputs, links, devices, pipes; and what is there after a failed one."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import threading
from pathlib import Path

import numpy as np
import torch

from harness import PROGRAM, expect_bad, main, run, run_good, write_recipe
from models import residual


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_inputs_are_not_overwritten(folder):
    """Model and data under every name that a run writes or removes, in the folder or linked from there."""
    _, path, npz, _ = residual(folder)
    tensors = folder / "data.pt"
    torch.save(tuple(torch.from_numpy(array) for array in np.load(npz).values()), tensors)
    names = ("observations.npz", "recipe.json", "result.json", "calibration.partial.npz", "backend.json", "model.int8.ts.pt")
    for number, name in enumerate(names):
        out = folder / f"out{number}"
        out.mkdir()
        source = out / name
        for given, words in ((npz, [path, "--data", source]), (path, [source, "--data", npz])):
            if given == npz and not name.endswith(".npz"):
                given = tensors if name.endswith(".pt") else npz
            shutil.copy(given, source)
            before = digest(source)
            expect_bad("quantize", *words, "--device", "cpu", "--out", out, contains=["the results would replace it", "choose another folder"])
            assert digest(source) == before and os.listdir(out) == [name], os.listdir(out)
        source.unlink()
        os.link(npz, source)
        expect_bad("quantize", path, "--data", npz, "--device", "cpu", "--out", out, contains=["the results would replace it"])


def test_recipe_in_the_folder(folder):
    """A recipe written by hand stays as it is; the one that a run left there may be used again."""
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    out.mkdir()
    recipe = write_recipe(out, mapping={"global": "x86"})
    before = recipe.read_text()
    words = ["quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out, "--recipe"]
    expect_bad(*words, recipe, contains=["recipe.json", "would rewrite this recipe", "copy it elsewhere"])
    assert recipe.read_text() == before and os.listdir(out) == ["recipe.json"]
    recipe.rename(folder / "mine.json")
    run_good(*words, folder / "mine.json")
    written = recipe.read_text()
    run_good(*words, recipe)
    assert recipe.read_text() == written
    backend = folder / "own.json"
    backend.write_text(run_good("backends", "show", "x86", "--json"))
    write_recipe(folder, backend="own.json", mapping={"global": "x86"})
    run_good(*words, folder / "recipe.json")
    run_good(*words, recipe)


def test_links_in_the_folder(folder):
    """A link where a result would go is told before anything runs; what it points to stays."""
    _, path, npz, _ = residual(folder)
    out, mine = folder / "out", folder / "mine.json"
    out.mkdir()
    mine.write_text("mine")
    for name, target in (("result.json", mine), ("model.int8.ts.pt", "/dev/null"), ("observations.npz", folder / "nothing")):
        (out / name).symlink_to(target)
        expect_bad("quantize", path, "--data", npz, "--device", "cpu", "--out", out, contains=[name, "is a link", "move it away"])
        assert os.listdir(out) == [name] and (out / name).is_symlink()
        (out / name).unlink()
    os.mkfifo(out / "recipe.json")
    expect_bad("quantize", path, "--data", npz, "--device", "cpu", "--out", out, contains=["recipe.json", "no regular file"])
    assert mine.read_text() == "mine"


def test_reports_into_what_is_no_file(folder):
    """A report goes into a pipe or a device, through a link into the file behind it, and never takes its place."""
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out)
    page = folder / "page.html"
    run_good("report", out, "--html", page)
    wanted = page.read_bytes()

    null = folder / "null"
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        null = None
    if null:
        run("report", out, "--html", null)
        assert stat.S_ISCHR(null.lstat().st_mode), "a file stands where the device was"

    fifo, got = folder / "fifo", []
    os.mkfifo(fifo)
    expect_bad("report", out, "--html", fifo, contains=["fifo", "a pipe without a reader"])
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    while run("report", out, "--html", fifo).returncode != 0:  # until the reader has opened it
        assert reader.is_alive()
    reader.join(60)
    assert got == [wanted] and stat.S_ISFIFO(fifo.lstat().st_mode)

    real, link = folder / "deep" / "real.html", folder / "link.html"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    run_good("report", out, "--html", link)
    assert link.is_symlink() and real.read_bytes() == wanted
    link.unlink()
    link.symlink_to(folder / "nowhere.html")
    expect_bad("report", out, "--html", link, contains=["link.html", "a dangling link"])
    assert not (folder / "nowhere.html").exists()
    stdout = run_good("report", out, "--html", "/dev/stdout")
    assert stdout.encode() == wanted or wanted in stdout.encode()


def test_pictures_into_what_is_no_file(folder):
    """The window's pictures likewise."""
    _, path, _, _ = residual(folder)
    window, null = Path(PROGRAM).with_name("quantscope-ui"), folder / "null"
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        return
    if window.exists():
        subprocess.run([window, path, "--screenshot", null, "--size", "1000x700"], check=True, timeout=300, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
        assert stat.S_ISCHR(null.lstat().st_mode), "a file stands where the device was"


def test_publishing_is_whole(folder):
    """Where one file cannot be put in place the earlier results stay, all of them."""
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    words = ["quantize", path, "--data", npz, "--device", "cpu", "--out", out]
    run_good(*words, "--export", "torchscript")
    before = {file.name: digest(file) for file in out.iterdir()}
    recipe = write_recipe(folder, mapping={"global": "x86", "module_name": [["stem", None]]})
    done = run("quantize", path, "--data", npz, "--device", "cpu", "--recipe", recipe, "--out", out, "--export", "torchscript",
               env={"TMPDIR": "/nowhere"})
    assert done.returncode == 0, done.stderr
    after = {file.name: digest(file) for file in out.iterdir()}
    assert before.keys() == after.keys() and before["result.json"] != after["result.json"]
    assert not list(out.glob(".*")), list(out.glob(".*"))


def test_planted_links_are_not_followed(folder):
    """Temporary names of earlier versions, planted as links, lead nowhere."""
    _, path, npz, _ = residual(folder)
    out, victim = folder / "out", folder / "victim"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out)
    victim.write_text("mine")
    pages = folder / "pages"
    pages.mkdir()
    process = subprocess.Popen(["sh", "-c", 'for i in 0 1 2 3 4; do ln -s "$1" "$2/page.html.tmp$(($$ + i))"; done; exec "$0" report "$3" --html "$2/page.html"',
                                PROGRAM, str(victim), str(pages), str(out)])
    assert process.wait(60) == 0
    assert victim.read_text() == "mine" and (pages / "page.html").stat().st_size > 1000


def test_damaged_checkpoint_is_set_aside(folder):
    """Statistics of an interrupted run that were damaged, or that no run wrote, are kept under another name, with a note."""
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    out.mkdir()
    words = ["quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out]
    for content in (b"not an archive", npz.read_bytes()):
        (out / "calibration.partial.npz").write_bytes(content)
        done = run(*words)
        assert done.returncode == 0 and "they were moved to" in done.stderr, done.stderr
        assert [file.name for file in out.glob("*.damaged*")] == ["calibration.partial.npz.damaged"]  # the latest alone
        assert (out / "calibration.partial.npz.damaged").read_bytes() == content
    assert json.loads((out / "result.json").read_text())["format"] == "quantscope.result"


if __name__ == "__main__":
    main(__name__)

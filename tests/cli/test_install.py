# SPDX-License-Identifier: Apache-2.0
"""The installed tree works from wherever it is moved to.

It is installed into one folder and moved to another; then the programs must find libraries, resources and the window's
program beside themselves. A backend that stands only in the moved tree shows that the source tree is not read.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["QUANTSCOPE"]).parents[1]
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("QUANTSCOPE")}


def run(*words):
    done = subprocess.run([str(word) for word in words], env=CLEAN, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        first, moved = pathlib.Path(folder, "first"), pathlib.Path(folder, "elsewhere", "moved")
        run("cmake", "--install", BUILD, "--prefix", first)
        moved.parent.mkdir()
        first.rename(moved)
        has_window = (moved / "bin/quantscope-ui").exists()
        assert has_window == (BUILD / "bin/quantscope-ui").exists()
        wanted = ["bin/quantscope", "share/quantscope/backends/x86.json", "share/quantscope/samples/digits.pt2",
                  "share/quantscope/export/quantscope_export.py", "share/doc/quantscope/LICENSE"]
        if has_window:
            wanted += ["share/applications/quantscope.desktop", "share/icons/hicolor/scalable/apps/quantscope.svg",
                       "share/doc/quantscope/LICENSE.ui"]
        missing = [name for name in wanted if not (moved / name).exists()]
        assert not missing, f"not installed: {missing}"
        assert not list(moved.rglob("make_*.py")), "scripts of the source tree were installed"

        libraries = [line for line in run("ldd", moved / "bin/quantscope").splitlines() if "quantscope_engine" in line]
        assert libraries and str(moved) in libraries[0], f"the engine is not the moved one: {libraries}"

        backends = moved / "share/quantscope/backends"
        shutil.copy(backends / "x86.json", backends / "only_here.json")
        program = moved / "bin/quantscope"
        listed = run(program, "backends", "list")
        assert "x86" in listed and "only_here" in listed, f"the moved resources are not read:\n{listed}"
        plan = run(program, "plan", moved / "share/quantscope/samples/digits.pt2", "--json")
        assert any(node["quantized"] for node in json.loads(plan)["nodes"])

        if has_window:
            picture = pathlib.Path(folder, "shot.png")
            run(moved / "bin/quantscope-ui", moved / "share/quantscope/samples/digits.pt2", "--screenshot", picture,
                "--size", "1280x800")
            facts = json.loads(pathlib.Path(f"{picture}.json").read_text())
            assert facts["layout"] == "done" and facts["nodes_drawn"] > 3, facts
    print("installed, moved and run")


if __name__ == "__main__":
    sys.exit(main())

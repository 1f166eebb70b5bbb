# SPDX-License-Identifier: Apache-2.0
"""The installed tree works from wherever it is moved to, without the Python environment and without CUDA's libraries.

It is installed into one folder and moved to another; then the programs must find libraries, resources and the window's
program beside themselves. A backend that stands only in the moved tree shows that the source tree is not read. The list of
what the tree is made of must have every library in it, with its hash, and a licence for each part that is not our own.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from pages import dead_links

BUILD = pathlib.Path(os.environ["QUANTSCOPE"]).parents[1]
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("QUANTSCOPE")}


def run(*words, **env):
    done = subprocess.run([str(word) for word in words], env={**CLEAN, **env}, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def setting(name):
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found.group(1) if found else ""


def binaries(tree):
    return [path for path in tree.rglob("*") if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]


def check_bill(tree):
    """Every program and library is in the bill with its hash, and nothing else; its parts have licences."""
    doc = tree / "share/doc/quantscope"
    bill = json.loads((doc / "quantscope.spdx.json").read_text())
    assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
    listed = {file["fileName"]: {sum["algorithm"]: sum["checksumValue"] for sum in file["checksums"]} for file in bill["files"]}
    there = {"./" + str(path.relative_to(tree)): path for path in binaries(tree)}
    assert listed.keys() == there.keys(), listed.keys() ^ there.keys()
    for name, path in there.items():
        assert listed[name]["SHA256"] == hashlib.sha256(path.read_bytes()).hexdigest(), name
    ids = {entry["SPDXID"] for entry in bill["packages"] + bill["files"]} | {"SPDXRef-DOCUMENT"}
    contained = set()
    for relation in bill["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= ids, relation
        if relation["relationshipType"] == "CONTAINS":
            contained.add(relation["relatedSpdxElement"])
    assert {file["SPDXID"] for file in bill["files"]} <= contained
    packages = {package["name"]: package for package in bill["packages"]}
    assert all(package["versionInfo"] not in ("", "unknown") for package in packages.values()), packages
    parts = [name for name in packages if name != "quantscope" and packages[name]["licenseDeclared"] != "NOASSERTION"]
    assert "nlohmann-json3-dev" in parts
    for name in parts:
        texts = list((doc / "licences" / name).iterdir())
        assert texts and all(text.stat().st_size > 100 for text in texts), name
    # What no library of the tree is comes from the packages that are named.
    needs = (doc / "NEEDS").read_text().split()
    assert needs[:2] == ["apt-get", "install"] and "libc6" in needs, needs
    assert set(needs[2:]) <= packages.keys()
    return packages


def check_alone(tree, carried):
    """No library comes from the Python environment, and none is CUDA's."""
    for path in binaries(tree):
        text = run("ldd", path)
        assert "not found" not in text, f"{path}:\n{text}"
        places = re.findall(r"=> (/\S+)", text)
        own = [place for place in places if re.search(r"/lib(torch|c10|cuda|cudart|cudnn|cupti|OGDF|COIN|quantscope|gomp)", place)]
        wrong = [place for place in own if carried and not place.startswith(str(tree))]
        assert not wrong, f"{path}: {wrong}"
    if carried:
        large = {path.name for path in binaries(tree) if path.stat().st_size > 2**20 and re.match("lib(cu|nv|nccl)", path.name)}
        assert not large, large


def check_desktop(tree, folder):
    """The desktop's own tools take the entry and the types of files, as far as they are installed."""
    entry = tree / "share/applications/quantscope.desktop"
    if shutil.which("desktop-file-validate"):
        assert "error" not in run("desktop-file-validate", entry)
    types = re.search(r"^MimeType=(.*);$", entry.read_text(), re.M).group(1).split(";")
    described = (tree / "share/mime/packages/quantscope.xml").read_text()
    assert types and all(f'type="{name}"' in described for name in types)
    if not shutil.which("update-mime-database"):
        return
    # A data folder of its own, with the system's types beside ours.
    mime = folder / "data" / "mime"
    shutil.copytree(tree / "share/mime", mime)
    run("update-mime-database", mime)
    globs = (mime / "globs2").read_text().splitlines()
    for name in types:
        assert any(f":{name}:" in line for line in globs), (name, globs)
    assert any(line.endswith(":application/x-pytorch-pt2:*.pt2") for line in globs), globs
    if not shutil.which("xdg-mime") or not shutil.which("mimetype"):
        return  # without mimetype, xdg-mime asks file(1), which knows contents alone
    for name, wanted in (("a.pt2", "application/x-pytorch-pt2"), ("a.project.json", "application/x-quantscope-project+json")):
        file = folder / name
        file.write_text("{}")
        told = run("xdg-mime", "query", "filetype", file, XDG_DATA_HOME=str(folder / "data"), XDG_DATA_DIRS="/usr/share",
                   HOME=str(folder)).strip()
        assert told == wanted, (name, told)


def check_without_python(program, samples, folder):
    """On a machine without Python one line says how to get one that has the runtimes."""
    out = folder / "out"
    run(program, "quantize", samples / "digits.pt2", "--data", samples / "calib.npz", "--device", "cpu", "--out", out)
    done = subprocess.run([program, "verify", out, "--data", samples / "test.npz"], env={"PATH": "/nowhere", "HOME": str(folder)},
                          capture_output=True, text=True, timeout=240)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and "python3: cannot be started" in last and "install -y python3-venv && python3 -m venv " in last, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        first, moved = folder / "first", folder / "elsewhere" / "moved"
        run("cmake", "--install", BUILD, "--prefix", first)
        moved.parent.mkdir()
        first.rename(moved)
        has_window = (moved / "bin/quantscope-ui").exists()
        carried = setting("QUANTSCOPE_CARRY_TORCH") != "OFF"
        assert has_window == (BUILD / "bin/quantscope-ui").exists()
        wanted = ["bin/quantscope", "share/quantscope/backends/x86.json", "share/quantscope/samples/digits.pt2",
                  "share/quantscope/export/quantscope_export.py", "share/quantscope/verify/run_export.py", "share/quantscope/report/page.html",
                  "share/doc/quantscope/LICENSE", "share/man/man1/quantscope.1",
                  "share/bash-completion/completions/quantscope", "share/zsh/vendor-completions/_quantscope",
                  "share/fish/vendor_completions.d/quantscope.fish"]
        if has_window:
            wanted += ["share/applications/quantscope.desktop", "share/icons/hicolor/scalable/apps/quantscope.svg",
                       "share/mime/packages/quantscope.xml", "share/doc/quantscope/LICENSE.ui"]
        if carried:
            wanted += ["lib/quantscope/libtorch_cpu.so", "lib/quantscope/libc10.so"]
        missing = [name for name in wanted if not (moved / name).exists()]
        assert not missing, f"not installed: {missing}"
        assert not list(moved.rglob("make_*.py")), "scripts of the source tree were installed"
        guide = sorted((moved / "share/quantscope").rglob("*.md"))
        assert len(guide) > 20 and not dead_links(guide), dead_links(guide)
        packages = check_bill(moved)
        assert ("torch" in packages) == carried
        check_alone(moved, carried)
        if has_window:
            check_desktop(moved, folder)

        backends = moved / "share/quantscope/backends"
        shutil.copy(backends / "x86.json", backends / "only_here.json")
        program = moved / "bin/quantscope"
        listed = run(program, "backends", "list")
        assert "x86" in listed and "only_here" in listed, f"the moved resources are not read:\n{listed}"
        plan = run(program, "plan", moved / "share/quantscope/samples/digits.pt2", "--json")
        assert any(node["quantized"] for node in json.loads(plan)["nodes"])
        run(program, "doctor", "--device", "cpu")
        if carried:
            check_without_python(program, moved / "share/quantscope/samples", folder)
        page = (moved / "share/man/man1/quantscope.1").read_text()
        assert page == run(program, "describe", "man"), "the man page is of another command line"

        if has_window:
            picture = folder / "shot.png"
            run(moved / "bin/quantscope-ui", moved / "share/quantscope/samples/digits.pt2", "--screenshot", picture,
                "--size", "1280x800")
            facts = json.loads(pathlib.Path(f"{picture}.json").read_text())
            assert facts["layout"] == "done" and facts["nodes_drawn"] > 3, facts
    print("installed, moved and run")


if __name__ == "__main__":
    sys.exit(main())

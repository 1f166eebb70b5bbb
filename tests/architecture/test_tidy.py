# SPDX-License-Identifier: Apache-2.0
"""C++ sources that changed are as clang-tidy 14 wants them (.clang-tidy). Changed is what differs from where the branch left its
upstream (without one, or level with it: from the commit before the last), and what is not committed; for a header its own source.
The most changed go first, MOST of them at most. QUANTSCOPE_TIDY=changed takes all that changed, QUANTSCOPE_TIDY=all every source of
the build, a batch at a time, which reads its headers once.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import tree

TOOL = "clang-tidy-14"
MOST = 4
# Warnings are GCC's own, and nothing is written.
DROPPED = re.compile(r"-W|-fpch-preprocess$|-c$")
FINDING = re.compile(r"^\S+:\d+:\d+: (?:error|warning): ", re.MULTILINE)


def git(*words):
    done = subprocess.run(["git", "-c", "safe.directory=*", *words], cwd=tree.ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def base():
    """The commit that changes are counted from; of a first commit, itself."""
    head = git("rev-parse", "HEAD")
    left = git("merge-base", "HEAD", "@{upstream}")
    return left if left not in ("", head) else git("rev-parse", "-q", "--verify", "HEAD~1") or head


def changed():
    """Sources that changed, the most changed first."""
    lines = {}
    for line in git("diff", "--numstat", "--no-renames", base()).splitlines():
        added, removed, name = line.split("\t")
        lines[name] = int(added) + int(removed) if added != "-" else 0
    for name in git("ls-files", "-o", "--exclude-standard").splitlines():
        lines[name] = sys.maxsize
    sources = {}
    for name, count in lines.items():
        source = str(pathlib.PurePath(name).with_suffix(".cpp"))
        if name.endswith((".cpp", ".h")) and (tree.ROOT / source).is_file():
            sources[source] = sources.get(source, 0) + count
    return sorted(sources, key=lambda name: (-sources[name], name))


def wanted(words):
    """The command's words without what GCC alone understands: the headers themselves in the place of precompiled ones."""
    kept, words = [], iter(words)
    for word in words:
        if word == "-o":
            next(words)
        elif word == "-include":
            for header in re.findall(r'#include [<"]([^>"]+)', pathlib.Path(next(words)).read_text()):
                kept += ["-include", header]
        elif not DROPPED.match(word):
            kept.append(word)
    return kept


def entries(build):
    """(entry, words of its command, its sources) of all that the build compiles; a batch has several sources."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        members = [file]
        if "Unity" in file.parts and file.is_file():
            members = [pathlib.Path(name) for name in re.findall(r'#include "([^"]+)"', file.read_text())]
        yield entry, wanted(entry.get("arguments") or shlex.split(entry["command"])), members


def commands(build):
    """The command of each source by its path from the root; those in batches have the command of their batch."""
    found = {}
    for entry, words, members in entries(build):
        for member in members:
            if member.is_relative_to(tree.ROOT):
                command = [str(member) if word == entry["file"] else word for word in words]
                found[str(member.relative_to(tree.ROOT))] = {"directory": entry["directory"], "file": str(member), "arguments": command}
    return found


def batches(build):
    """The commands of whatever holds a source of the tree, batches whole, by their paths."""
    sources = {tree.ROOT / name for name in tree.cpp_files()}
    return {entry["file"]: {"directory": entry["directory"], "file": entry["file"], "arguments": words}
            for entry, words, members in entries(build) if sources.intersection(members)}


def complaint(name, command):
    """What the tool objects to in one source and the headers it includes; empty when it does not."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps([command]))
        # A batch includes sources.
        told = subprocess.run([TOOL, "--quiet", "--checks=-bugprone-suspicious-include", "-p", folder, command["file"]], cwd=tree.ROOT,
                              capture_output=True, text=True)
    if told.returncode == 0 and not FINDING.search(told.stdout):
        return ""
    return told.stdout.strip() or told.stderr.strip() or f"{name}: {TOOL} ended with {told.returncode}"


def main(build):
    if not shutil.which(TOOL):
        print(f"tidy: {TOOL} is not installed; resources/setup/setup --tests installs it")
        sys.exit(77)
    extent = os.environ.get("QUANTSCOPE_TIDY", "")
    known = batches(build) if extent == "all" else commands(build)
    names = list(known) if extent == "all" else [name for name in changed() if name in known]
    left = [] if extent else names[MOST:]
    names = names[:len(names) - len(left)]
    if left:
        print(f"tidy: left out, QUANTSCOPE_TIDY=changed checks them too: {' '.join(left)}")
    if not names:
        print("tidy: no source changed")
        return
    with concurrent.futures.ThreadPoolExecutor(min(8, len(os.sched_getaffinity(0)))) as pool:
        problems = [told for told in pool.map(lambda name: complaint(name, known[name]), names) if told]
    tree.finish("tidy", problems, len(names))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

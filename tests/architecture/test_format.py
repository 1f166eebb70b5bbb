# SPDX-License-Identifier: Apache-2.0
"""Every C++ and CUDA source is as clang-format 14 writes it; versions differ, so no other one will do."""
import subprocess

import tree

TOOL = "clang-format-14"


def unformatted(names):
    """Those of the files that the tool would write otherwise, which it names in its complaints; all where it fails."""
    told = subprocess.run([TOOL, "--dry-run", "--style=file", *names], cwd=tree.ROOT, capture_output=True, text=True)
    named = {line.split(":", 1)[0] for line in told.stderr.splitlines() if "-Wclang-format-violations" in line}
    return [name for name in names if told.returncode or name in named]


def main():
    names = tree.cpp_files()
    version = subprocess.run([TOOL, "--version"], capture_output=True, text=True).stdout
    if " version 14." not in version:
        tree.finish("format", [f"{TOOL} is not version 14: {version.strip()}"], len(names))
    tree.finish("format", [f"{name}: run {TOOL} -i {name}" for name in unformatted(names)], len(names))


if __name__ == "__main__":
    main()

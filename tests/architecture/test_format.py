# SPDX-License-Identifier: Apache-2.0
"""Every C++ and CUDA source is as clang-format 14 writes it; versions differ, so no other one will do."""
import subprocess

import tree

TOOL = "clang-format-14"


def main():
    names = tree.cpp_files()
    version = subprocess.run([TOOL, "--version"], capture_output=True, text=True).stdout
    if " version 14." not in version:
        tree.finish("format", [f"{TOOL} is not version 14: {version.strip()}"], len(names))
    bad = [name for name in names if subprocess.run([TOOL, "--dry-run", "-Werror", "--style=file", name], cwd=tree.ROOT,
                                                    capture_output=True).returncode]
    tree.finish("format", [f"{name}: run {TOOL} -i {name}" for name in bad], len(names))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds out what a package must carry of LibTorch, and writes sources for what it must not.

    torch_libraries.py LIBTORCH_CPU OUT

Prints one line a library: `carry PATH` for those beside LIBTORCH_CPU that it needs, and `stand_in NAME` for those that neither
lie there nor belong to every Linux system (CUDA's, where the wheel is built with CUDA: LibTorch's CPU part names the
runtime and the profiler and calls them only for a GPU). For a stand-in OUT/NAME.c and OUT/NAME.map define the symbols that
LibTorch takes from it; each returns an error, as the libraries themselves do on a machine without a GPU.
"""
import pathlib
import re
import subprocess
import sys

# What the manylinux standard (PEP 599, 600) promises on every system, as far as LibTorch needs it.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|util|resolv))\.so(\.\d+)*")
NO_DEVICE = 100  # cudaErrorNoDevice; no success for CUPTI either


def objdump(*words):
    return subprocess.run(["objdump", *map(str, words)], check=True, capture_output=True, text=True).stdout


def needed(library):
    return re.findall(r"^\s*NEEDED\s+(\S+)", objdump("-p", library), re.M)


def wanted_symbols(library):
    """{version: [symbols]} of what the library takes from others."""
    lines = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = {}
    for name, version in re.findall(r"\bU (\w+)@+(\S+)", lines):
        symbols.setdefault(version, []).append(name)
    return symbols


def versions_of(library, source):
    """The versions that the library wants of that source."""
    text = objdump("-p", library)
    part = re.search(rf"required from {re.escape(source)}:\n((?:\s+0x.*\n)*)", text)
    return re.findall(r"(\S+)$", part.group(1), re.M) if part else []


def write_stand_in(library, name, out):
    symbols = wanted_symbols(library)
    versions = versions_of(library, name)
    if not versions:
        sys.exit(f"{library} needs {name} without versions: which symbols are its cannot be told")
    source = ["/* Stands in for a library that is not carried: every call fails. Made by torch_libraries.py. */"]
    script = []
    for version in versions:
        names = symbols.get(version, [])
        for symbol in names:
            if symbol.endswith("ErrorString"):
                source.append(f'const char *{symbol}(int code) {{ (void)code; return "this package has no CUDA part"; }}')
            elif symbol.endswith("ResultString"):
                source.append(f'int {symbol}(int code, const char **text) '
                              '{ (void)code; *text = "this package has no CUDA part"; return 0; }')
            else:
                source.append(f"int {symbol}(void) {{ return {NO_DEVICE}; }}")
        script.append(f"{version} {{ global: {' '.join(f'{symbol};' for symbol in names)} local: *; }};")
    out.mkdir(parents=True, exist_ok=True)
    for path, lines in ((out / f"{name}.c", source), (out / f"{name}.map", script)):
        text = "\n".join(lines) + "\n"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def main():
    first, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    carried, waiting, stand_ins = [], [first], {}
    while waiting:
        library = waiting.pop()
        if library in carried:
            continue
        carried.append(library)
        for name in needed(library):
            if (first.parent / name).exists():
                waiting.append(first.parent / name)
            elif not SYSTEM.fullmatch(name):
                stand_ins[name] = library
    for library in sorted(carried):
        print("carry", library)
    for name, library in sorted(stand_ins.items()):
        write_stand_in(library, name, out)
        print("stand_in", name)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Counts a program's calls of the CUDA runtime library (count_cuda.c)."""
import os
import pathlib
import shutil
import struct
import subprocess

SOURCE = pathlib.Path(__file__).resolve().with_suffix(".c")
RECORD = struct.Struct("24sQ")


def built(folder):
    """The library, built into the folder; None without a C compiler."""
    compiler = next((found for found in map(shutil.which, ("cc", "gcc", "clang")) if found), None)
    if not compiler:
        return None
    library = pathlib.Path(folder) / "count_cuda.so"
    if not library.exists():
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", str(SOURCE), "-o", str(library), "-ldl", "-lpthread"], check=True)
    return library


def counting(library, calls):
    """The environment of a program whose calls are counted into the file `calls`."""
    return {**os.environ, "LD_PRELOAD": str(library), "QS_CUDA_CALLS": str(calls)}


def counted(calls):
    """{name: number}; empty if the program called nothing that is counted."""
    content = pathlib.Path(calls).read_bytes() if pathlib.Path(calls).exists() else b""
    return {name.rstrip(b"\0").decode(): number for name, number in RECORD.iter_unpack(content)}

# SPDX-License-Identifier: Apache-2.0
"""What a runtime needs that may be missing: packages of Python, and of Debian where it compiles."""
import importlib
import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path


class Missing(Exception):
    """Packages that the runtime needs and that are not there."""


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(getattr(error, "name", None) or name) from error


TOOLS = {  # Debian's packages, and whether what they bring is there
    "g++": lambda: shutil.which(os.environ.get("CXX") or "g++"),
    "python3-dev": lambda: Path(sysconfig.get_paths()["include"], "Python.h").exists(),
}


def lacking(packages, tools=()):
    """Which packages are missing, of Python and of Debian; whether this Python is an environment, which takes packages, and whether it can
    make one: Debian has a package for that."""
    try:
        importlib.import_module("ensurepip")
        makes = True
    except ImportError:
        makes = False
    return {"missing": packages, "missing_tools": list(tools), "own_python": sys.prefix != sys.base_prefix, "makes_environments": makes}


def need_all(folder):
    """Ends here where packages are missing: all of them are named at once."""
    missing, job = [], json.loads((folder / "job.json").read_text())
    for name in job["packages"].split():
        try:
            importlib.import_module(name)
        except ImportError as error:
            missing.append(getattr(error, "name", None) or name)
    tools = [name for name in job["tools"].split() if not TOOLS[name]()]
    if missing or tools:
        (folder / "done.json").write_text(json.dumps(lacking(missing, tools)))
        sys.exit(0)

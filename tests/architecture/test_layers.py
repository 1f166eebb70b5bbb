# SPDX-License-Identifier: Apache-2.0
"""Who may include whom.

A stage of the engine sees the foundation (base, distribute, graph, kernels, execute, io) and the stages before it. The parts that windows
include see no LibTorch header, not even through another header; the engine knows neither Qt nor the programs; the command
line knows no Qt. The window's rooms see those below them.
"""
import re

import tree

FOUNDATION = ["base", "distribute", "graph", "kernels", "execute", "io"]
STAGES = ["import", "configure", "extensions", "edit", "custom_modules", "plan", "prepare", "calibrate", "convert", "compare", "correct", "train", "result", "export", "values", "blame", "verify", "pipeline", "runs", "project"]
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
QT = re.compile(r"^(Q[A-Z]\w*|Qt\w+/.*|qcustomplot\.h)$")
TORCH_FREE = ("engine/graph/", "engine/configure/", "engine/plan/", "engine/runs/", "engine/project/", "ui/")


# Rooms of the window, the lowest first.
WINDOW = ["style", "help", "session", "graph", "models", "plots", "cure", "source", "panels", "values", "samples", "frame", "edit", "runs", "shell"]


def window_problems(name):
    room = name.split("/")[1]
    if room not in WINDOW:
        yield f"{name}: ui/{room} is no known room of the window"
        return
    for quoted, path in tree.includes(name):
        parts = path.split("/")
        if quoted and parts[0] == "ui" and parts[1] in WINDOW and WINDOW.index(parts[1]) > WINDOW.index(room):
            yield f"{name}: includes {path}: {room} lies below {parts[1]}"


def allowed_folders(folder):
    if folder in FOUNDATION:
        return FOUNDATION[:FOUNDATION.index(folder) + 1]
    return FOUNDATION + STAGES[:STAGES.index(folder) + 1]


def stage_problems(name):
    folder = name.split("/")[1]
    if folder not in FOUNDATION + STAGES:
        yield f"{name}: engine/{folder} is no known stage"
        return
    for quoted, path in tree.includes(name):
        if not quoted:
            continue
        parts = path.split("/")
        if parts[0] in ("ui", "app", "tests"):
            yield f"{name}: includes {path}: the engine knows nothing of the programs"
        elif parts[0] != "engine" or len(parts) < 3:
            yield f"{name}: includes {path}: write the path from the root, \"engine/...\""
        elif parts[1] not in allowed_folders(folder):
            yield f"{name}: includes {path}: {folder} may see only {', '.join(allowed_folders(folder))}"


def header_problems(name):
    forbidden = []
    if name.startswith("engine/") or (name.startswith("app/") and name != "app/gui_main.cpp"):
        forbidden.append((QT, "no Qt here"))
    if name.startswith(TORCH_FREE):
        forbidden.append((TORCH, "no LibTorch header here"))
    if not forbidden:
        return
    for path, chain in tree.reached(name).items():
        for pattern, why in forbidden:
            if pattern.match(path):
                yield f"{name}: {why}: {' > '.join(chain[1:])}"
    if "torch/torch.h" in dict((path, 1) for _, path in tree.includes(name)):
        yield f"{name}: torch/torch.h costs 19 s a file; include what you use"


def main():
    problems, seen = [], 0
    for name in tree.cpp_files("engine/", "ui/", "app/"):
        seen += 1
        if name.startswith("engine/"):
            problems += stage_problems(name)
        if name.startswith("ui/"):
            problems += window_problems(name)
        problems += header_problems(name)
    tree.finish("layers", problems, seen)


if __name__ == "__main__":
    main()

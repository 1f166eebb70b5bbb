# SPDX-License-Identifier: Apache-2.0
"""Exports a PyTorch model for Quantscope and writes down what a .pt2 file cannot hold: what failed and where, which branches
of the model's code the export never ran, which modules are still in training mode. Needs torch 2.5 or later and nothing else.

This file is over 400 lines because it is one file on purpose: people copy it beside their model and run it there.

    from quantscope_export import export
    export(model, (example,), path="model.pt2")

    python quantscope_export.py model.py:Net --input 1x3x224x224 -o model.pt2
    python quantscope_export.py model.py:make --data data.py:loader --samples 128 -o model.pt2

The README beside this file describes the command line and the format of the model.pt2.trace.json that is written.
"""
import argparse
import ast
import copy
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import re
import shutil
import signal
import sys
import sysconfig
import tempfile
import textwrap
import threading
import time
import warnings

try:
    import torch
except ImportError:
    sys.exit(f"{sys.executable} has no torch: run this in the Python that holds the model (quantscope export --python PATH)")
from torch.utils import _pytree as pytree

FORMAT, VERSION = "quantscope.trace", 1
TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
STDLIB_FOLDER = os.path.abspath(sysconfig.get_paths()["stdlib"]) + os.sep
SITE_FOLDERS = tuple(os.sep + name + os.sep for name in ("site-packages", "dist-packages"))
HAS_COLUMNS = sys.version_info >= (3, 11)

HINTS = {
    "data_dependent_if": "compute both results and choose with torch.where, write the branch with torch.cond, or, if it never "
                         "changes, decide it before the export",
    "data_dependent_loop": "use a number of rounds known before the export, or torch.while_loop / a tensor operation over all rounds",
    "unpacked_shape": "give the shape as one argument: x.view(shape) instead of x.view(*shape), with shape made of x.shape's numbers "
                      "and not of a tensor",
    "tensor_to_number": "keep the value a tensor, or bound it after .item() with torch._check(n >= 0) and torch._check(n <= limit)",
    "numpy": "use the torch function of the same name: numpy leaves the graph, and what it computed is frozen into the file",
    "foreign_package": "write this step with torch functions, or do it before or after the model, outside forward",
    "dynamic_shape": "give this dimension a fixed size, or the range that the message names",
    "endless": "mend what the other ways failed at; draft_export does not come to an end on this model",
    "in_train_mode": "leave out train=True (--train): model.eval() is called then",
    "not_running": "the model does not run in plain Python with these example arguments: mend that first",
    "not_saved": "torch.export traced the model but cannot write it to a file: replace the part that the message names",
    "unsupported": "rewrite this line with plain torch operations, or move it out of forward",
}
FROZEN = "another package: what it computes from numbers and not from tensors is frozen into the file"


class ExportFailed(RuntimeError):
    """No way of exporting worked; the trace file says why. `trace` holds its content."""

    def __init__(self, message, trace):
        super().__init__(message)
        self.trace = trace


# --- where code comes from


def real_path(name):
    return os.path.abspath(name) if name and not name.startswith("<") else name or ""


def is_torch(path):
    return path.startswith(TORCH_FOLDER)


def is_stdlib(path):
    return path.startswith(STDLIB_FOLDER) and not any(folder in path for folder in SITE_FOLDERS)


def is_user_file(path):
    return bool(path) and not path.startswith("<") and path != real_path(__file__) and not is_torch(path) and not is_stdlib(path)


def class_name(module):
    kind = type(module)
    return kind.__module__ + "." + kind.__qualname__


def model_files(model):
    """The files that hold the classes of the model's own modules."""
    files = set()
    for module in model.modules():
        for kind in type(module).__mro__:
            path = real_path(getattr(sys.modules.get(kind.__module__), "__file__", None))
            if path and is_user_file(path):
                files.add(path)
        path = real_path(getattr(getattr(type(module).forward, "__code__", None), "co_filename", None))
        if is_user_file(path):
            files.add(path)
    return files


def source_line(path, line):
    import linecache
    return linecache.getline(path, line).strip()


# --- one run of the model in plain Python, with the lines it takes


class Recorder:
    """Runs the model once and remembers which places of its own code were executed, per module."""

    def __init__(self, model):
        self.names = {id(module): name for name, module in model.named_modules()}
        self.classes = {name: class_name(module) for name, module in model.named_modules()}
        self.files = model_files(model)
        self.stack = [""]
        self.executed = {}  # (code object, module path) -> set of (line, column)
        self.first_module = {}  # (file, line) -> module path

    def module_of(self, frame):
        """The module a frame is a method of, or None."""
        code = frame.f_code
        if not code.co_argcount:
            return None
        return self.names.get(id(frame.f_locals.get(code.co_varnames[0])))

    def trace(self, frame, event, _):
        code = frame.f_code
        if event != "call" or real_path(code.co_filename) not in self.files:
            return None
        path = self.module_of(frame)
        path = self.stack[-1] if path is None else path
        self.stack.append(path)
        places = self.executed.setdefault((code, path), set())
        columns = list(code.co_positions()) if HAS_COLUMNS else None
        file = real_path(code.co_filename)

        def local(frame, event, _):
            if event == "opcode":
                line, _, column, _ = columns[frame.f_lasti // 2]
                if line is not None and column is not None:
                    places.add((line, column))
            elif event == "line":
                self.first_module.setdefault((file, frame.f_lineno), path)
                if not HAS_COLUMNS:
                    places.add((frame.f_lineno, 0))
            elif event == "return":
                self.stack.pop()
            return local

        frame.f_trace_opcodes = HAS_COLUMNS
        return local

    def run(self, model, args, kwargs):
        previous = sys.gettrace()
        sys.settrace(self.trace)
        try:
            with torch.no_grad():
                model(*args, **kwargs)
        finally:
            sys.settrace(previous)


def private_copy(model):
    """A copy that shares the trained tensors: running it changes no buffer and no attribute of the original."""
    try:
        return copy.deepcopy(model, {id(p): p for p in model.parameters()})
    except Exception:  # some models cannot be copied; they are run as they are
        return model


def copied(values):
    return pytree.tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, values)


# --- branches that did not run, and places worth a hint


def function_tree(code):
    """The syntax tree of a function with the line numbers of its file; None where the source is not there."""
    try:
        lines, first = inspect.getsourcelines(code)
        text = "".join(lines)
        indent = len(text) - len(text.lstrip())
        tree = ast.parse(textwrap.dedent(text))
    except (OSError, SyntaxError, TypeError, ValueError):
        return None
    function = next((node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))), None)
    if function is None:
        return None
    for node in ast.walk(function):
        if hasattr(node, "lineno"):
            node.lineno += first - 1
            node.end_lineno += first - 1
            node.col_offset += indent
            node.end_col_offset += indent
    return function


def own_nodes(node):
    """All nodes below, without those of functions and classes defined inside."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from own_nodes(child)


def branches_of(node):
    """(kind, condition, list of nodes) of every way a statement or expression can go."""
    if isinstance(node, ast.If):
        yield "if", ast.unparse(node.test), node.body
        if node.orelse:
            yield "else", "not (" + ast.unparse(node.test) + ")", node.orelse
    elif isinstance(node, ast.IfExp):
        yield "if", ast.unparse(node.test), [node.body]
        yield "else", "not (" + ast.unparse(node.test) + ")", [node.orelse]
    elif isinstance(node, ast.While):
        yield "while", ast.unparse(node.test), node.body
    elif isinstance(node, ast.For):
        yield "for", ast.unparse(node.target) + " in " + ast.unparse(node.iter), node.body
    elif isinstance(node, ast.Try):
        for handler in node.handlers:
            yield "except", ast.unparse(handler.type) if handler.type else "any error", handler.body
    elif type(node).__name__ == "Match":
        for case in node.cases:
            yield "case", ast.unparse(case.pattern), case.body


def rests_of(node, places):
    """What a block holds after a statement that left it for good (an early return), as a branch of its own."""
    for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
        if not isinstance(block, list) or not ran(block[:1], places, 0):
            continue
        for before, statement in zip(block, block[1:]):
            at = block.index(statement)
            if not leaves_no_code(block[at:]) and not ran(block[at:], places, before.lineno):
                condition = "not (" + ast.unparse(before.test) + ")" if isinstance(before, ast.If) else ""
                yield "rest", condition, block[at:]
                break


def leaves_no_code(nodes):
    """True for what the compiler turns into nothing, so that no place of it is ever seen."""
    return all(isinstance(n, (ast.Pass, ast.Global, ast.Nonlocal)) or isinstance(n, ast.Constant)
               or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)) for n in nodes)


def ran(nodes, places, head_line):
    """True, False, or None where lines alone cannot tell."""
    if not nodes:
        return None
    if HAS_COLUMNS:
        first, last = nodes[0], nodes[-1]
        begin, end = (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)
        return any(begin <= place < end for place in places)
    if nodes[0].lineno == head_line:
        return None
    return any(nodes[0].lineno <= line <= nodes[-1].end_lineno for line, _ in places)


def untaken_branches(recorder):
    """Every branch that some module entered the function of and did not take."""
    found, taken = {}, set()
    trees = {}
    for (code, module), places in recorder.executed.items():
        if code not in trees:
            trees[code] = function_tree(code)
        if trees[code] is None:
            continue
        file = real_path(code.co_filename)
        hidden = set()  # what lies in an untaken branch is not told again
        for node in [trees[code], *own_nodes(trees[code])]:
            if id(node) in hidden:
                continue
            for kind, condition, nodes in [*branches_of(node), *rests_of(node, places)]:
                key = (file, nodes[0].lineno, nodes[0].col_offset)
                went = True if leaves_no_code(nodes) else ran(nodes, places, node.lineno)
                if went:
                    taken.add(key)
                if went is not False:
                    continue
                hidden.update(id(below) for top in nodes for below in [top, *own_nodes(top)])
                entry = found.setdefault(key, {
                    "module": module, "modules": [], "class": recorder.classes.get(module, ""), "kind": kind,
                    "condition": condition, "function": code.co_name, "file": file,
                    "line": nodes[0].lineno if kind == "rest" else node.lineno, "first_line": nodes[0].lineno,
                    "last_line": nodes[-1].end_lineno,
                    "code": source_line(file, nodes[0].lineno if kind == "rest" else node.lineno),
                    "hint": "call model.train() or .eval() as the deployed model will run" if "training" in condition else
                            "this code is not in the exported file: it holds only what the example arguments ran"})
                if module not in entry["modules"]:
                    entry["modules"].append(module)
    for key, entry in found.items():
        entry["taken_elsewhere"] = key in taken
    return sorted(found.values(), key=lambda e: (e["taken_elsewhere"], e["file"], e["first_line"]))


def package_of(function, call):
    """The foreign package a call goes to, by the name its expression starts with; None for torch, Python and the model's own."""
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id not in function:
        return None
    value = function[root.id]
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None) or ""
    return name.split(".")[0]


def advice_of(recorder, model_packages):
    """Places that ran and that freeze or lose something even where the export went through."""
    found, seen = [], set()
    own = set(model_packages) | {"torch", "builtins", "typing", "collections", "__main__", ""} | set(getattr(sys, "stdlib_module_names", ()))
    scopes = {real_path(getattr(module, "__file__", None)): vars(module) for module in list(sys.modules.values())
              if getattr(module, "__file__", None)}
    for code, module in recorder.executed:
        tree, file = function_tree(code), real_path(code.co_filename)
        for call in own_nodes(tree) if tree is not None else ():
            if not isinstance(call, ast.Call):
                continue
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            package = package_of(scopes.get(file, {}), call)
            kind = None
            if method in ("view", "reshape", "expand", "permute", "repeat") and any(isinstance(a, ast.Starred) for a in call.args):
                kind = "unpacked_shape"
            elif method in ("item", "tolist") and not call.args:
                kind = "tensor_to_number"
            elif package == "numpy" or (method == "numpy" and not call.args):
                kind = "numpy"
            elif package is not None and package not in own:
                kind = "foreign_package"
            if kind is None or (file, call.lineno, kind) in seen or not ran([call], recorder.executed[code, module], 0):
                continue
            seen.add((file, call.lineno, kind))
            found.append({"kind": kind, "module": module, "class": recorder.classes.get(module, ""), "function": code.co_name,
                          "file": file, "line": call.lineno, "code": source_line(file, call.lineno), "hint": FROZEN if kind == "foreign_package" else HINTS[kind]})
    return found


# --- what a failure was


def frames_of(error):
    """(file, line, function, module object or None) from the outermost to the innermost, wherever torch keeps them."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        owner = trace.tb_frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        frames.append((real_path(code.co_filename), trace.tb_lineno, code.co_name,
                       owner if isinstance(owner, torch.nn.Module) else None))
        trace = trace.tb_next
    frames += [(real_path(f.filename), f.lineno, f.name, None) for f in getattr(error, "real_stack", None) or ()]
    for match in re.finditer(r'^\s*File "([^"]+)", line (\d+), in (\S+)', str(error), re.MULTILINE):
        frames.append((real_path(match.group(1)), int(match.group(2)), match.group(3), None))
    return frames


def statement_at(file, line):
    """The innermost statement that holds a line; None without a source."""
    try:
        with open(file, encoding="utf-8") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return None
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            if found is None or node.end_lineno - node.lineno <= found.end_lineno - found.lineno:
                found = node
    return found


def head_of(statement):
    """The part of a statement that its own line computes."""
    if isinstance(statement, (ast.If, ast.While, ast.Assert)):
        return statement.test
    if isinstance(statement, ast.For):
        return statement.iter
    return statement


def kind_of_failure(message, file, line, package):
    """Which of HINTS a failure falls under, from its message and the statement it happened in."""
    if message.startswith(TooLong.__name__):
        return "endless"
    if package == "numpy" or re.search(r"\.numpy\(\)|numpy", message.split("\n")[0]):
        return "numpy"
    data_dependent = re.search(r"data-dependent|unbacked|control flow|_local_scalar_dense|cannot be converted to|symbolically traced "
                               r"variables|DataDependent|\.item\(\)", message, re.IGNORECASE)
    statement = statement_at(file, line) if file else None
    if re.search(r"Constraints? violated|ConstraintViolation|specialized (?:it )?to be a constant|dynamic_shapes", message):
        return "dynamic_shape"
    words = ast.walk(statement) if statement is not None else ()
    if not data_dependent and any(getattr(n, "attr", None) == "numpy" or getattr(n, "id", None) in ("np", "numpy") for n in words):
        return "numpy"
    if not data_dependent:
        return "foreign_package" if package else "unsupported"
    calls = [n for n in ast.walk(head_of(statement)) if isinstance(n, ast.Call)] if statement is not None else []
    names = {n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "") for n in calls}
    if isinstance(statement, (ast.If, ast.Assert)):
        return "data_dependent_if"
    if isinstance(statement, (ast.For, ast.While)):
        return "data_dependent_loop"
    if any(isinstance(a, ast.Starred) for n in calls for a in n.args):
        return "unpacked_shape"
    if package and package not in ("torch",):
        return "foreign_package"
    if names & {"item", "int", "float", "bool", "tolist"}:
        return "tensor_to_number"
    if statement is not None and any(isinstance(n, ast.IfExp) for n in ast.walk(statement)):
        return "data_dependent_if"
    return "tensor_to_number"


CAUSES = {
    "data_dependent_if": "the branch depends on the values of a tensor",
    "data_dependent_loop": "the number of rounds depends on the values of a tensor",
    "unpacked_shape": "a shape is unpacked from a traced value",
    "tensor_to_number": "a tensor's value is taken out as a Python number",
    "numpy": "numpy cannot take part in a trace",
    "foreign_package": "code of another package cannot take part in a trace",
    "dynamic_shape": "a dimension that was left open is not open in the model",
    "endless": "draft_export took too long",
    "not_running": "the model raises an error in plain Python",
    "not_saved": "the exported program cannot be written to a file",
    "unsupported": "torch.export cannot trace this line",
}


def first_line(text):
    return next((line.strip() for line in str(text).splitlines() if line.strip()), "")


def describe(frames, message, attempt, recorder, kind=None):
    """One failure as the trace file holds it, from the frames it passed through."""
    own = [frame for frame in frames if frame[0] in recorder.files]
    users = [frame for frame in frames if is_user_file(frame[0])]
    file, line, function, _ = (own or users or [("", 0, "", None)])[-1]
    package = None
    if users and own and users[-1][0] not in recorder.files:
        inside = re.split("|".join(map(re.escape, SITE_FOLDERS)), users[-1][0])
        package = inside[-1].split(os.sep)[0] if len(inside) > 1 else None
    elif frames and own and is_stdlib(frames[-1][0]):
        package = "Python's " + os.path.relpath(frames[-1][0], STDLIB_FOLDER).split(os.sep)[0]
    module = next((recorder.names[id(owner)] for *_, owner in reversed(own) if id(owner) in recorder.names), None)
    if module is None:
        module = recorder.first_module.get((file, line), "")
    kind = kind or kind_of_failure(message, file, line, package)
    cause = CAUSES[kind] + (f" ({package})" if package and kind == "foreign_package" else "")
    return {"attempt": attempt, "kind": kind, "module": module, "class": recorder.classes.get(module, ""), "function": function,
            "file": file, "line": line, "code": source_line(file, line) if file else "", "cause": cause,
            "message": first_line(message), "hint": HINTS[kind]}


def frozen_by_draft(program, recorder):
    """What draft_export decided by the example's values, as failures; the report's layout differs between versions."""
    failures = []
    for entry in getattr(getattr(program, "_report", None), "failures", None) or ():
        data = getattr(entry, "data", None) or {}
        stack = data.get("user_stack") or data.get("stack") or ()
        places = [(frame["line"], frame["loc"].strip()) for frame in stack if isinstance(frame, dict) and frame.get("loc")]
        # Its frames name files by numbers of a table that is not kept: the text of the line finds the file.
        frames = [(file, line, "", None) for line, text in places for file in recorder.files if source_line(file, line) == text]
        failures.append(describe(frames, "data-dependent expression " + str(data.get("expr", entry)), "draft", recorder))
    return failures


# --- the attempts


class TooLong(BaseException):
    """Not an Exception, so that no handler inside torch takes it for a failure of the model."""


class time_limit:
    """Ends what runs inside with TooLong after some seconds; where signals cannot be had there is no limit."""

    def __init__(self, seconds):
        self.seconds = seconds if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread() else 0

    def __enter__(self):
        def stop(*_):
            raise TooLong(f"given up after {self.seconds:.0f} s")

        if self.seconds:
            self.previous = signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_):
        if self.seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.previous)


def attempts(draft_seconds):
    yield "strict", lambda *a, **k: torch.export.export(*a, strict=True, **k)
    yield "non-strict", lambda *a, **k: torch.export.export(*a, strict=False, **k)
    draft = getattr(torch.export, "draft_export", None)
    if draft is None:
        try:
            from torch.export._draft_export import draft_export as draft
        except ImportError:
            return

    def limited(*args, **kwargs):
        # Some models send it round and round.
        with time_limit(draft_seconds):
            return draft(*args, **kwargs)

    yield "draft", limited


def save_program(program, path):
    """Writes the file under its own name in a folder beside its place, then moves it there: it appears whole or not at all."""
    folder = tempfile.mkdtemp(prefix=".quantscope-", dir=os.path.dirname(os.path.abspath(path)))
    try:
        part = os.path.join(folder, os.path.basename(path))
        torch.export.save(program, part)
        os.replace(part, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def save_trace(trace, path):
    handle, part = tempfile.mkstemp(prefix=".quantscope-", suffix=".json", dir=os.path.dirname(os.path.abspath(path)))
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(trace, stream, indent=1)
        stream.write("\n")
    os.chmod(part, 0o644)
    os.replace(part, path)


def training_modules(model):
    """The topmost modules in training mode, each with how many modules below share it."""
    found = []
    for name, module in model.named_modules():
        if module.training and not any(name == top["module"] or top["module"] == "" or name.startswith(top["module"] + ".") for top in found):
            count = sum(1 for below in module.modules() if below.training)
            found.append({"module": name, "class": class_name(module), "modules": count, "hint": HINTS["in_train_mode"]})
    return found


EAGER = ("QuantStub", "DeQuantStub", "QuantWrapper", "FloatFunctional", "FXFloatFunctional")


def stub_modules(model):
    return [{"module": name, "class": class_name(module),
             "hint": "remove it: Quantscope places quantization itself, and a .pt2 does not name it"}
            for name, module in model.named_modules() if type(module).__name__ in EAGER]


class evaluation:
    """The model in evaluation, as it is deployed; afterwards every module as it was. `train`: nothing is changed."""

    def __init__(self, model, train):
        self.training = [] if train else [module for module in model.modules() if module.training]

    def __enter__(self):
        for module in self.training:
            module.training = False

    def __exit__(self, *_):
        for module in self.training:
            module.training = True


OPEN_BATCH = "batch"


def export(model, args, kwargs=None, dynamic_shapes=OPEN_BATCH, path="model.pt2", draft_seconds=120.0, train=False):
    """Exports `model` to `path` and writes `path`.trace.json beside it; returns the trace as a dict.

    args, kwargs, dynamic_shapes: as torch.export.export takes them; "batch" leaves the first dimension of every tensor open where the
    model allows it, None fixes every size; draft_seconds: how long draft_export may take; train: export a model in training mode as it
    is, instead of calling eval() for the time of the export. Raises ExportFailed after every way failed; an older file at `path` is then
    left alone, so that nothing half-written is there.
    """
    with evaluation(model, train):
        return export_as_it_is(model, (tuple(args), dict(kwargs or {}), dynamic_shapes), os.fspath(path), draft_seconds)


def export_as_it_is(model, call, path, draft_seconds):
    args, kwargs, dynamic_shapes = call
    recorder, runner = None, private_copy(model)
    recorder = Recorder(runner)
    trace = {"format": FORMAT, "version": VERSION, "torch": torch.__version__, "python": sys.version.split()[0],
             "model": {"class": class_name(model), "file": next(iter(sorted(model_files(model))), "")},
             "exported": None, "batch": None, "attempts": [], "failures": [], "untaken": [], "advice": [],
             "training": training_modules(model), "stubs": stub_modules(model)}
    runs = attempt(trace, "python", lambda: recorder.run(runner, copied(args), copied(kwargs)), recorder, "not_running")
    trace["untaken"] = untaken_branches(recorder)
    trace["advice"] = advice_of(recorder, {kind.__module__.split(".")[0] for module in model.modules() for kind in type(module).__mro__})
    recorder.names = {id(module): name for name, module in model.named_modules()}
    if runs and dynamic_shapes == OPEN_BATCH:
        export_open(trace, model, (args, kwargs), path, recorder)
    shapes = None if dynamic_shapes == OPEN_BATCH else dynamic_shapes
    for mode, run in attempts(draft_seconds) if runs and not trace["exported"] else ():
        if export_one(trace, mode, run, model, (args, kwargs, shapes), path, recorder):
            break
    save_trace(trace, path + ".trace.json")
    if trace["exported"] is None:
        raise ExportFailed(failure_line(trace, path), trace)
    return trace


def export_open(trace, model, call, path, recorder):
    """The export with an open batch; what keeps it fixed is the trace's "batch", no failure: the other ways follow."""
    args, kwargs = call
    sizes = {leaf.shape[0] for leaf in pytree.tree_leaves([args, kwargs]) if isinstance(leaf, torch.Tensor) and leaf.dim()}
    if len(sizes) != 1:
        trace["batch"] = {"open": False, "reason": f"the first dimensions of the example differ: {sorted(sizes)}" if sizes else "no input is a tensor"}
        return
    if sizes == {1}:  # torch.export takes a size of 1 for a constant
        args, kwargs = pytree.tree_map(lambda v: torch.cat([v, v]) if isinstance(v, torch.Tensor) and v.dim() else v, (args, kwargs))
    tried = {"attempts": [], "failures": [], "exported": None}
    for mode, run in (one for one in attempts(0) if one[0] != "draft"):
        if export_one(tried, mode, run, model, (args, kwargs, batch_shapes(args, kwargs)), path, recorder):
            trace["exported"], trace["batch"] = tried["exported"], {"open": True, "reason": ""}
            trace["attempts"] += tried["attempts"]
            trace["failures"] += tried["failures"]
            return
    trace["batch"] = {"open": False, "reason": tried["failures"][0]["message"]}


def export_one(trace, mode, run, model, call, path, recorder):
    """One way of exporting, and the saving of what it made; true when both worked."""
    args, kwargs, shapes = call
    made = {}

    def trace_it():
        made["program"] = run(model, copied(args), copied(kwargs), dynamic_shapes=shapes)

    if not attempt(trace, mode, trace_it, recorder):
        return False
    if not attempt(trace, mode + ", save", lambda: save_program(made["program"], path), recorder, "not_saved"):
        return False
    if mode == "draft":
        trace["failures"] += frozen_by_draft(made["program"], recorder)
    trace["exported"] = {"file": os.path.basename(path), "mode": mode, "sha256": sha256_of(path)}
    return True


def attempt(trace, name, work, recorder, kind=None):
    """Does one piece of work and puts down how it went; true when it worked."""
    begin = time.time()
    entry = {"mode": name, "ok": True, "seconds": 0.0, "error": ""}
    try:
        work()
    except (Exception, TooLong) as error:
        entry["ok"], entry["error"] = False, first_line(error) or type(error).__name__
        message = type(error).__name__ + ": " + str(error)
        failure = describe(frames_of(error), message, name, recorder, kind)
        failure["message"] = entry["error"]
        trace["failures"].append(failure)
    entry["seconds"] = round(time.time() - begin, 3)
    trace["attempts"].append(entry)
    return entry["ok"]


# --- the command line


def place_of(entry):
    module = entry["module"] or "(model)"
    return f"{module} ({entry['class']}), {entry['file']}:{entry['line']}: {entry['code']}"


def failure_line(trace, path):
    failure = next((f for f in reversed(trace["failures"]) if f["file"]), trace["failures"][-1] if trace["failures"] else None)
    if failure is None:
        return f"{path}: not exported"
    where = place_of(failure) + ": " if failure["file"] else ""
    return f"{path}: not exported: {where}{failure['cause']} ({failure['message']}); {failure['hint']}"


def say(trace, path, out):
    if trace["exported"]:
        batch = trace["batch"]
        size = "" if batch is None else ", any batch size" if batch["open"] else ", the example's batch size alone"
        print(f"{path}: exported ({trace['exported']['mode']}{size})", file=out)
        if batch and not batch["open"]:
            print(f"  batch size fixed: {batch['reason']}", file=out)
    for failure in trace["failures"]:
        verb = "froze" if failure["attempt"] == "draft" and trace["exported"] else "failed at"
        print(f"  {failure['attempt']} {verb} {place_of(failure)}: {failure['cause']}; {failure['hint']}", file=out)
    for branch in trace["untaken"]:
        if not branch["taken_elsewhere"]:
            print(f"  not run: {place_of(branch)}", file=out)
    for entry in trace["training"]:
        print(f"  in training mode: {entry['module'] or '(model)'} ({entry['class']}, {entry['modules']} modules); {entry['hint']}", file=out)
    for entry in trace["stubs"]:
        print(f"  eager stub: {entry['module']} ({entry['class']}); {entry['hint']}", file=out)


def load_factory(text):
    """The object that "package.module:name" or "file.py:name" stands for."""
    module_name, _, name = text.rpartition(":")
    if not module_name or not name:
        raise ValueError(f"'{text}': give module:name or file.py:name, such as model.py:Net")
    if module_name.endswith(".py"):
        folder, file = os.path.split(os.path.abspath(module_name))
        sys.path.insert(0, folder)
        module = importlib.import_module(file[:-3])
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(module_name)
    return getattr(module, name)


def parse_factory_args(texts):
    """Python literals where they are ones, else text; NAME=VALUE becomes a keyword."""
    def value(text):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text

    args, kwargs = [], {}
    for text in texts:
        name, equals, rest = text.partition("=")
        if equals and name.isidentifier():
            kwargs[name] = value(rest)
        else:
            args.append(value(text))
    return args, kwargs


def parse_made(made):
    """(model, args, kwargs, dynamic_shapes) from what a factory returned; the last two may be missing."""
    if isinstance(made, dict):
        return made["model"], made["args"], made.get("kwargs"), made.get("dynamic_shapes")
    model, args, kwargs, shapes = (*made, None, None)[:4]
    return model, args if isinstance(args, (tuple, list)) else (args,), kwargs, shapes


def parse_input(text):
    """An example input from "1x3x224x224", "1x128:int64" or "1x128:int64:30522" (integers below that)."""
    shape, _, rest = text.partition(":")
    dtype, _, high = rest.partition(":")
    try:
        sizes = [int(size) for size in shape.split("x")] if shape else []
        kind = getattr(torch, dtype or "float32")
        below = int(high) if high else 2
    except (ValueError, AttributeError):
        raise ValueError(f"'{text}': an input is SIZExSIZE[:dtype[:below]], such as 1x3x224x224 or 1x128:int64:30522") from None
    if kind.is_floating_point:
        return torch.randn(sizes, dtype=kind)
    return torch.randint(0, below, sizes, dtype=kind) if kind != torch.bool else torch.ones(sizes, dtype=kind)


class Samples:
    """What a loader function gives: batches or single samples; inputs alone, inputs and a label, or a dict by name."""

    def __init__(self, loader):
        self.items = iter(loader() if callable(loader) else loader)
        self.next = self.parts(next(self.items))

    @staticmethod
    def parts(item):
        """(input tensors, label or None)"""
        if isinstance(item, dict):
            item = dict(item)
            label = item.pop("labels", item.pop("label", None))
            return tuple(map(torch.as_tensor, item.values())), label
        if not isinstance(item, (tuple, list)):
            return (torch.as_tensor(item),), None
        values = [value if isinstance(value, (int, float)) else torch.as_tensor(value) for value in item]
        last = values[-1]
        is_label = len(values) > 1 and (isinstance(last, int) or (isinstance(last, torch.Tensor) and last.dim() <= 1 and not last.is_floating_point()))
        return tuple(map(torch.as_tensor, values[:-1] if is_label else values)), last if is_label else None

    def example(self):
        """Inputs of a batch for a model that has no example of its own."""
        inputs, label = self.next
        single = isinstance(label, int) or (isinstance(label, torch.Tensor) and label.dim() == 0)
        return tuple(value.unsqueeze(0) if single else value for value in inputs)

    def write(self, path, count, example, names):
        """The next `count` samples as an .npz by the inputs' names, labels as `labels`. Returns one line about it. What is left of the
        last batch is in no file."""
        import numpy

        columns, labels, rows = [[] for _ in names], [], 0
        if self.next is None:
            raise ValueError(f"the loader has no samples left for {path}")
        while rows < count and self.next is not None:
            inputs, label = self.next
            if len(inputs) != len(names):
                raise ValueError(f"the loader gives {len(inputs)} inputs, the model takes {len(names)}: {', '.join(names)}")
            batched = [value.unsqueeze(0) if value.dim() < whole.dim() else value for value, whole in zip(inputs, example)]
            for column, value in zip(columns, batched):
                column.append(value.detach().cpu())
            if label is not None:
                labels.append(torch.as_tensor(label).reshape(-1).cpu())
            rows += len(batched[0])
            self.next = next(map(self.parts, self.items), None)
        arrays = {name: torch.cat(column)[:count].numpy() for name, column in zip(names, columns)}
        if labels:
            arrays["labels"] = torch.cat(labels)[:count].numpy()
        with open(path + ".part", "wb") as stream:
            numpy.savez(stream, **arrays)
        os.replace(path + ".part", path)
        return f"{path}: {len(next(iter(arrays.values())))} samples: " + ", ".join(
            f"{name} {'x'.join(map(str, array.shape[1:])) or 'whole number'} {array.dtype}" for name, array in arrays.items())


def input_names(path):
    """The inputs' names as the file has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, about the file's buffers
        program = torch.export.load(path)
    return list(program.graph_signature.user_inputs)


def batch_shapes(args, kwargs):
    """Dynamic shapes that leave the first dimension of every tensor open."""
    batch = torch.export.Dim("batch", min=1)
    of = lambda values: pytree.tree_map(lambda v: {0: batch} if isinstance(v, torch.Tensor) and v.dim() else None, values)
    return (*of(tuple(args)), *of(list((kwargs or {}).values())))


def made_by(options, samples):
    """(model, args, kwargs, dynamic_shapes) of the class or factory; its own example, --input or the loader's first batch."""
    positional, named = parse_factory_args(options.args)
    made = load_factory(options.factory)(*positional, **named)
    if not isinstance(made, torch.nn.Module):
        return parse_made(made)
    if options.input:
        args = tuple(map(parse_input, options.input))
    elif samples:
        args = samples.example()
    elif getattr(made, "example_input_array", None) is not None:
        args = made.example_input_array
    else:
        raise ValueError("it makes a model and no example: give --input 1x3x224x224 (once an input), or --data with a loader")
    return parse_made((made, args))


def parser_of():
    parser = argparse.ArgumentParser(prog="quantscope export", description="Exports a PyTorch model for Quantscope, in evaluation mode and with "
                                     "an open batch size.")
    parser.add_argument("factory", help="file.py:name or module:name of a model's class, or of a function that returns a model, "
                        "(model, example_args), (model, example_args, example_kwargs) or (..., dynamic_shapes)")
    parser.add_argument("--args", nargs="*", default=[], metavar="VALUE", help="what to call it with: Python literals, NAME=VALUE")
    parser.add_argument("--input", action="append", default=[], metavar="SIZES", help="an example input of a model that comes without: "
                        "1x3x224x224, 1x128:int64:30522 (integers below that); once an input")
    parser.add_argument("--data", metavar="NAME", help="file.py:name or module:name of a function that returns batches or samples: inputs, inputs and a label, or a dict")
    parser.add_argument("--samples", type=int, default=0, metavar="N", help="write the first N of --data beside the model, as NAME.calib.npz")
    parser.add_argument("--test-samples", type=int, default=0, metavar="N", help="write the N after them, to measure on, as NAME.test.npz")
    batch = parser.add_mutually_exclusive_group()
    batch.add_argument("--dynamic-batch", action="store_true", help="fail where the batch size cannot be left open")
    batch.add_argument("--fixed-batch", action="store_true", help="keep the example's batch size")
    parser.add_argument("--train", action="store_true", help="export a model in training mode as it is")
    parser.add_argument("-o", "--output", default="model.pt2", help="the file to write (default: model.pt2)")
    parser.add_argument("--draft-seconds", type=float, default=120.0, help="how long draft_export may take (default: 120)")
    return parser


def main(arguments=None):
    parser = parser_of()
    options = parser.parse_args(arguments)
    files = [(end, count) for end, count in ((".calib.npz", options.samples), (".test.npz", options.test_samples)) if count]
    if files and not options.data:
        parser.error("--samples and --test-samples need --data: a function that returns them")
    try:
        samples = Samples(load_factory(options.data)) if options.data else None
        model, args, kwargs, shapes = made_by(options, samples)
    except Exception as error:
        print(f"{options.factory}: {type(error).__name__}: {first_line(error)}", file=sys.stderr)
        return 1
    if shapes is None:
        shapes = batch_shapes(args, kwargs) if options.dynamic_batch else None if options.fixed_batch else OPEN_BATCH
    try:
        trace = export(model, args, kwargs, shapes, options.output, options.draft_seconds, options.train)
        say(trace, options.output, sys.stderr)
        leaves = [leaf for leaf in pytree.tree_leaves([tuple(args), dict(kwargs or {})]) if isinstance(leaf, torch.Tensor)]
        for end, count in files:
            path = os.path.splitext(options.output)[0] + end
            print(samples.write(path, count, leaves, input_names(options.output)), file=sys.stderr)
    except ExportFailed as error:
        say(error.trace, options.output, sys.stderr)
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"{options.output}: {first_line(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

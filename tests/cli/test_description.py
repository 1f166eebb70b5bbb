# SPDX-License-Identifier: Apache-2.0
"""Man page and completions say what `--help` says: every verb, every option, nothing else."""
import re
import shutil
import subprocess
from pathlib import Path

from harness import expect_bad, main, run_good


def commands(*path):
    """{path: (options, positionals)} by asking each command for its --help."""
    text = run_good(*path, "--help")
    part = lambda title: re.findall(r"^  (\S+)", (re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.M) or [None, ""])[1], re.M)
    found = {path: ({name for entry in part("Options") for name in entry.split(",")}, set(part("Positionals")))}
    if len(path) < 2:
        for name in part("Subcommands"):
            found.update(commands(*path, name))
    return found


def test_the_man_page_is_the_help(folder):
    page = run_good("describe", "man")
    told = commands()
    plain = page.replace("\\-", "-").replace("\\&", "")
    parts = re.split(r"^\.SS ", plain, flags=re.M)
    sections = {tuple(part.split("\n", 1)[0].split()[1:]): part for part in parts[1:]}
    # A verb with a word of its own before its commands answers --help for itself alone.
    deep = {path for path in sections if len(path) == 2}
    assert set(path for path in told if len(path) == 1) == set(path for path in sections if len(path) == 1)
    assert {("runs", "keep"), ("runs", "list"), ("runs", "remove")} <= deep, deep
    checked = 0
    for path, (options, positionals) in told.items():
        if len(path) != 1:
            continue
        section = sections[path]
        entries = re.findall(r"^\.TP\n(.*)$", section, re.M)
        listed = {name for entry in entries for name in re.findall(r"\\fB(--?[\w-]+)\\fR", entry)}
        words = {name for entry in entries for name in re.findall(r"^\\fI(\S+?)\\fR$", entry)}
        assert listed == options, (path, listed ^ options)
        assert words == positionals, (path, words ^ positionals)
        checked += len(options)
    assert checked > 60, checked
    assert not re.search(r"^'", page, re.M), "a line begins as a request"
    if shutil.which("man"):
        file = folder / "quantscope.1"
        file.write_text(page)
        shown = subprocess.run(["man", "--warnings", "-l", str(file)], capture_output=True, text=True, env={"MANWIDTH": "100", "PATH": "/usr/bin:/bin"})
        assert shown.returncode == 0 and shown.stderr == "" and "--against" in shown.stdout, shown.stderr


def completed(folder, *words):
    """What bash offers for the last word."""
    script = folder / "completion.bash"
    if not script.exists():
        script.write_text(run_good("describe", "bash"))
    quoted = " ".join(f"'{word}'" for word in words)
    text = (f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _quantscope; "
            'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return set(done.stdout.split())


def test_bash_completes(folder):
    told = commands()
    verbs = {path[0] for path in told if len(path) == 1}
    assert completed(folder, "quantscope", "") == verbs
    assert completed(folder, "quantscope", "qu") == {"quantize"}
    for path, (options, _) in told.items():
        if len(path) == 1:
            assert completed(folder, "quantscope", *path, "-") == options, path
    assert completed(folder, "quantscope", "quantize", "m.pt2", "--against", "") == {"original", "edited"}
    assert completed(folder, "quantscope", "quantize", "--data", "") == set()  # files, by bash itself
    assert completed(folder, "quantscope", "describe", "--h") == {"--help"}
    assert {"keep", "rename", "note", "remove", "list"} == completed(folder, "quantscope", "runs", "work.project.json", "")


def test_other_shells_take_theirs(folder):
    for shell, checked in (("zsh", ["-n"]), ("fish", ["--no-execute"])):
        text = run_good("describe", shell)
        for verb in ("quantize", "doctor", "against"):
            assert verb in text, (shell, verb)
        if shutil.which(shell):
            file = folder / shell
            file.write_text(text)
            done = subprocess.run([shell, *checked, str(file)], capture_output=True, text=True)
            assert done.returncode == 0 and done.stderr == "", (shell, done.stderr)
    expect_bad("describe", "csh", contains=["csh"], code=2)


main(__name__)

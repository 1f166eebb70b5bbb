# SPDX-License-Identifier: Apache-2.0
"""Plain English in pages, commit subjects, and the comments and string literals of C++: none of the constructions in CONSTRUCTIONS. In README
and help pages also at most WORDS words a sentence. Commit subjects have at most SUBJECT characters.
"""
import pathlib
import re
import subprocess

import tree

CONSTRUCTIONS = {
    "is no": r"(?<!there )\b(?:is|are|was) no\b(?! (?:longer|more than)\b)",
    "is none": r"(?<!there )\b(?:is|are|was) none\b",
    "nobody": r"\bnobody\b",
    "tells, told": r"\b(?:tells|told)\b",
    "behind": r"\bbehind\b(?! one interface\b)",
    "apart": r"\bapart\b(?! from\b)",
    "of its own": r"\bof (?:its|their) own\b",
}
PATTERNS = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in CONSTRUCTIONS.items()}
WORDS = 30
SUBJECT = 72
COMMITS = 200
# The rule for subjects holds after this commit.
SINCE = "ae306821f146f357775d55ee00ca9c19bc1175b6"
ROW = re.compile(r"\s*(?:\||#)")
MARK = re.compile(r"\s*(?:[-*] |\d+\. )")
COMMENT_OR_TEXT = re.compile(r'//(?P<comment>[^\n]*)|/\*(?P<block>.*?)\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|'
                             r'"(?P<text>(?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL)


def found_in(text):
    """The constructions in a text, one entry for each place."""
    return [what for what, pattern in PATTERNS.items() for _ in pattern.findall(text)]


def prose(lines):
    """(number, line) of a page outside its fenced blocks; an indented block counts as code after an empty line."""
    inside, before, indented = False, "", False
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*```", line):
            inside = not inside
        elif not inside:
            indented = bool(re.match(r" {4}", line)) and (indented or not before.strip())
            if not indented:
                yield number, line
        before = line


def passages(lines):
    """(number, text) of a page: each paragraph and item of a list on one line, each row of a table, each heading."""
    number, parts = 0, []
    for here, line in [*prose(lines), (0, "")]:
        if parts and (not line.strip() or ROW.match(line) or MARK.match(line) or here != number + len(parts)):
            yield number, " ".join(parts)
            parts = []
        if ROW.match(line):
            yield here, line.strip()
        elif line.strip():
            number = number if parts else here
            parts.append(line.strip())


def page_problems(name, lines):
    short = pathlib.PurePath(name).name in ("README.md", "CONTRIBUTING.md") or name.startswith("resources/help/")
    for number, text in passages(lines):
        for what in found_in(text):
            yield f"{name}:{number}: \"{what}\": {text[:100]}"
        if not short or ROW.match(text):
            continue
        for sentence in re.split(r"(?<=[.!?:;])[)*\"]*\s+", text):
            count = len(sentence.split())
            if count > WORDS:
                yield f"{name}:{number}: {count} words in a sentence: {sentence[:100]}"


def source_problems(name):
    """The constructions in comments and string literals of a C++ source."""
    text = tree.text(name)
    for match in COMMENT_OR_TEXT.finditer(text):
        for group in ("comment", "block", "raw", "text"):
            for what in found_in(match[group] or ""):
                number = text.count("\n", 0, match.start()) + 1
                yield f"{name}:{number}: \"{what}\": {match[group].strip()[:100]}"


def subject_problems(subjects):
    for subject in subjects:
        if len(subject) > SUBJECT:
            yield f"commit subject of {len(subject)} characters, at most {SUBJECT}: {subject}"


def subjects():
    """Subjects of the newest commits after SINCE; none, with a line, if git or that commit is missing."""
    command = ["git", "-c", "safe.directory=*", "log", f"-{COMMITS}", "--no-merges", "--format=%s", f"{SINCE}..HEAD"]
    try:
        listed = subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        listed = None
    if listed is None or listed.returncode:
        print("commit subjects are not checked: git or its history is missing")
        return []
    return listed.stdout.splitlines()


def main():
    problems, seen = [], 0
    for name in tree.files():
        if name.endswith(".md"):
            seen += 1
            problems += page_problems(name, tree.text(name).splitlines())
        elif name.endswith(tree.CPP):
            seen += 1
            problems += source_problems(name)
    problems += subject_problems(subjects())
    tree.finish("english", problems, seen)


if __name__ == "__main__":
    main()

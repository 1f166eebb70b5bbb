# SPDX-License-Identifier: Apache-2.0
"""Whatever a user reads in the window goes through Qt's translation: a text of two words or more stands in tr(), or marked by
QT_TR_NOOP or QT_TRANSLATE_NOOP in a table. Style sheets, keys, patterns, log lines and what is only compared are no such texts; the
rare line of code or font names says `// no words`.
"""
import re

import tree

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*|R"\(.*?\)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL | re.MULTILINE)
# What stands right before a text that is translated, or that nobody is to read.
TRANSLATED = re.compile(r'\b(?:(?:tr|QT_TR_NOOP)\(|(?:tr|translate|QT_TRANSLATE_NOOP)\("[^"]*",)\s*$')
UNREAD = re.compile(r'\b(?:QLatin1String\(|warn\(|counted\([^;]*,|QRegularExpression [^;]*\()\s*$')
STYLE_OR_KEYS = re.compile(r"\{|\b[a-z-]+: [^;]*;\s*$|^(?:\S+\+\S+; )+\S+\+\S+$")
NO_TEXT = re.compile(r"<[^>]*>|&nbsp;|%\d+|\\[nrt]|&")
WORD = re.compile(r"[^\W\d_]{2,}")


def texts(source):
    """Every string literal with where it begins and ends, neighbours joined."""
    found = []
    for token in TOKEN.finditer(source):
        if token[0][0] not in '"R':
            continue
        text = token[0][token[0].index('"') + 1:-1]
        if found and not source[found[-1][1]:token.start()].strip():
            begin, _, before = found.pop()
            found.append((begin, token.end(), before + text))
        else:
            found.append((token.start(), token.end(), text))
    return found


def is_for_readers(text):
    words = [word for part in NO_TEXT.sub(" ", text).split() if (word := WORD.search(part))]
    return len(words) > 1 and any(len(word[0]) > 2 for word in words) and not STYLE_OR_KEYS.search(text)


def untranslated(name):
    source = tree.text(name)
    for begin, end, text in texts(source):
        before = source[max(0, begin - 200):begin]
        line = source[source.rfind("\n", 0, begin) + 1:source.find("\n", end)]
        if is_for_readers(text) and not (TRANSLATED.search(before) or UNREAD.search(before) or line.endswith("// no words")):
            yield f"{name}:{source.count(chr(10), 0, begin) + 1}: write tr(\"{text[:60]}\"), or QT_TR_NOOP in a table"


def main():
    names = [name for name in tree.cpp_files("ui/", "app/") if name.startswith("ui/") or name == "app/gui_main.cpp"]
    tree.finish("translated", [problem for name in names for problem in untranslated(name)], len(names))


if __name__ == "__main__":
    main()

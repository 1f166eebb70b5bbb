# SPDX-License-Identifier: Apache-2.0
"""The checks themselves find what they are for: each is fed one bad file and must complain, and one good one and must not."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import test_english
import test_files
import test_format
import test_layers
import test_operators
import test_passes
import test_tidy
import test_translated
import tree


class ChecksFindWhatTheyAreFor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(setattr, tree, "ROOT", tree.ROOT)
        tree.ROOT = pathlib.Path(self.folder.name)

    def write(self, name, content):
        path = tree.ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return name

    def test_a_stage_may_not_look_ahead(self):
        early = self.write("engine/plan/a.cpp", '#include "engine/convert/convert.h"\n')
        late = self.write("engine/convert/b.cpp", '#include "engine/plan/plan.h"\n')
        self.assertEqual(len(list(test_layers.stage_problems(early))), 1)
        self.assertEqual(list(test_layers.stage_problems(late)), [])

    def test_the_foundation_knows_no_stage(self):
        name = self.write("engine/execute/a.cpp", '#include "engine/import/importer.h"\n')
        self.assertEqual(len(list(test_layers.stage_problems(name))), 1)

    def test_names_of_operators_are_counted(self):
        name = self.write("engine/plan/a.cpp", 'const bool adds = node.isOp("aten.add.Tensor") || kind == c10::prim::If; // "aten.mul"\n'
                          '// "aten.sub.Tensor"\nconst bool ours = target.starts_with("aten.");\nfail("quantized_decomposed: no axis");\n')
        self.assertEqual(test_operators.names_of(name, set()), 2)
        words = self.write("engine/plan/b.cpp", 'if (word == "relu" || kinds == "conv2d relu" || text == "adds relu") // "relu"\n')
        self.assertEqual(test_operators.names_of(words, {"relu", "conv2d"}), 3)

    def test_a_pass_without_a_test_is_found(self):
        engine = self.write("engine/plan/a.cpp", 'const std::array passes {Pass("one", a), Pass(\n    "two", b)};\n// CustomPass("three")\n')
        shown = self.write("tests/engine/plan/tst_a.cpp", 'const Pass kOne("one", a); // two\n')
        passes = test_passes.passes_of([engine])
        self.assertEqual(passes, {"one": engine, "two": engine})
        self.assertEqual([problem.count('"two"') for problem in test_passes.problems_of(passes, [shown])], [1])

    def test_texts_of_the_window_are_translated(self):
        name = self.write("ui/a.cpp", '// "In a comment"\nlabel.setText(QStringLiteral("Nothing "\n    "selected"));\nreturn {"&Undo: it", " · %1 more nodes"};\n')
        self.assertEqual([problem.split(":")[1] for problem in test_translated.untranslated(name)], ["2", "4", "4"])
        name = self.write("ui/b.cpp", 'tr("Nothing "\n   "selected") + QObject::tr("%1 more nodes") + tr(kRows[0]);\n'
                          'const char* kRows[] = {QT_TR_NOOP("Go back"), QT_TRANSLATE_NOOP("QObject", "Go on")};\n'
                          'setStyleSheet("color: red; padding: 0 px;"); font("Some Sans"); // no words\n'
                          'warn("not kept: it is full"); text.contains(QLatin1String("matches no")); setObjectName("aName");\n')
        self.assertEqual(list(test_translated.untranslated(name)), [])

    def test_plain_english_in_pages(self):
        long = "word " * 31 + "\n"
        bad = ["It is", "no page.", "", "| nobody |", "", "- after a wall", "  behind it", "", "```", "told", "```", "", "    apart"]
        found = list(test_english.page_problems("engine/README.md", bad + ["", long]))
        self.assertEqual([problem.split(":")[1] for problem in found], ["1", "4", "6", "15"])
        good = ["It is no longer one, apart from two.", "", "| " + long.strip() + " |", "", "word " * 20 + "word: " + "word " * 20]
        self.assertEqual(list(test_english.page_problems("engine/README.md", good)), [])
        self.assertEqual(list(test_english.page_problems("notes.md", [long])), [])

    def test_plain_english_in_sources(self):
        name = self.write("engine/a.cpp", '// told, "behind"\nfail("that is none"); /* nobody */ int apart = 0;\nauto raw = R"(tells)"; // it is no longer\n')
        self.assertEqual([problem.split(":")[1] for problem in test_english.source_problems(name)], ["1", "1", "2", "2", "3"])

    def test_subjects_of_commits_are_short(self):
        self.assertEqual(len(list(test_english.subject_problems(["x" * 73, "x" * 72]))), 1)
        self.commit(self.write("a.txt", "a\n"))
        self.addCleanup(setattr, test_english, "SINCE", test_english.SINCE)
        self.assertEqual(test_english.subjects(), [])
        test_english.SINCE = self.git_head()
        self.commit(self.write("b.txt", "b\n"))
        self.assertEqual(test_english.subjects(), ["a"])

    def test_torch_is_found_through_another_header(self):
        self.write("engine/compare/metrics/metrics.h", "#include <ATen/core/Tensor.h>\n")
        name = self.write("ui/panel.cpp", '#include "engine/compare/metrics/metrics.h"\n')
        self.assertEqual(len(list(test_layers.header_problems(name))), 1)

    def test_a_room_of_the_window_sees_those_below(self):
        low = self.write("ui/session/a.cpp", '#include "ui/panels/b.h"\n')
        high = self.write("ui/panels/b.cpp", '#include "ui/session/a.h"\n')
        self.assertEqual(len(list(test_layers.window_problems(low))), 1)
        self.assertEqual(list(test_layers.window_problems(high)), [])

    def test_the_engine_knows_no_qt(self):
        name = self.write("engine/plan/a.cpp", "#include <QString>\n")
        self.assertEqual(len(list(test_layers.header_problems(name))), 1)
        name = self.write("app/commands/a.cpp", "#include <QtCore/QString>\n")
        self.assertEqual(len(list(test_layers.header_problems(name))), 1)

    def test_a_room_has_an_end(self):
        names = [f"engine/plan/{number}.h" for number in range(test_files.ROOM)]
        self.assertEqual(list(test_files.room_problems(names)), [])
        self.assertEqual(len(list(test_files.room_problems(names + ["engine/plan/more.h"]))), 1)

    def test_a_class_has_few_sources(self):
        member = "int Chain::length() const\n{\n    return Other::of(*this);\n}\n"
        names = [self.write(f"engine/plan/{part}.cpp", member) for part in "ab"]
        self.assertEqual(list(test_files.class_problems(names)), [])
        names.append(self.write("ui/c.cpp", "Chain::Chain(int length)\n{\n}\n"))
        self.assertEqual(len(list(test_files.class_problems(names))), 1)

    def test_links_lead_somewhere(self):
        self.write("resources/help/a.md", "# A\n\n## `x[0]` of A\n")
        links = "[A](a.md), [x](a.md#x0-of-a), [B](#b), [that](https://example.org), [C](concepts/c.md), [y](a.md#y), [here](#x0-of-a)"
        name = self.write("resources/help/b.md", f"# B\n{links}\n")
        self.assertEqual(len(list(test_files.link_problems(name, tree.text(name).splitlines()))), 3)

    def test_another_format_is_named(self):
        good = self.write("engine/a.cpp", "int a;\n")
        bad = self.write("engine/b.cpp", "int   b ;\n")
        self.assertEqual(test_format.unformatted([good, bad]), [bad])
        self.assertEqual(test_format.unformatted([good]), [])
        self.assertEqual(test_format.unformatted([good, "engine/none.cpp"]), [good, "engine/none.cpp"])  # it says why not

    def git(self, *words):
        subprocess.run(["git", "-C", str(tree.ROOT), *words], check=True)

    def git_head(self):
        return subprocess.run(["git", "-C", str(tree.ROOT), "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, *names):
        if not (tree.ROOT / ".git").exists():
            self.git("init", "-q", "-b", "main")
        self.git("add", *names)
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a")

    def test_what_changed_is_found(self):
        old = [self.write(f"engine/{name}", "int a;\n") for name in ("a.cpp", "b.cpp", "b.h", "c.cpp")]
        self.commit(*old)
        self.assertEqual(test_tidy.changed(), [])
        self.write("engine/c.cpp", "int a;\nint b;\n")
        self.commit("engine/c.cpp")
        self.write("engine/b.h", "int a;\nint b;\nint c;\n")
        self.assertEqual(test_tidy.changed(), ["engine/b.cpp", "engine/c.cpp"])
        self.write("engine/d.cpp", "int d;\n")
        self.assertEqual(test_tidy.changed(), ["engine/d.cpp", "engine/b.cpp", "engine/c.cpp"])

    def test_a_branch_is_compared_with_its_upstream(self):
        self.commit(self.write("engine/a.cpp", "int a;\n"))
        self.git("checkout", "-q", "--track", "-b", "topic", "main")
        for name in ("b", "c"):
            self.commit(self.write(f"engine/{name}.cpp", "int a;\n"))
        self.assertEqual(test_tidy.changed(), ["engine/b.cpp", "engine/c.cpp"])

    @unittest.skipUnless(shutil.which(test_tidy.TOOL), "needs clang-tidy")
    def test_a_finding_is_named_of_each_source_in_a_batch(self):
        self.write(".clang-tidy", "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '/engine/'\n")
        good = self.write("engine/a.cpp", "std::size_t* a = nullptr;\n")
        precompiled = self.write("build/cmake_pch.hxx", "#include <cstddef>\n")
        bad = self.write("engine/b.cpp", "int* b = 0;\n")
        batch = self.write("build/Unity/unity_0.cxx", "".join(f'#include "{tree.ROOT / name}"\n' for name in (good, bad)))
        command = f"c++ -Wno-nothing-of-clang -fpch-preprocess -include {tree.ROOT / precompiled} -o b.o -c {tree.ROOT / batch}"
        entry = {"directory": str(tree.ROOT), "command": command, "file": str(tree.ROOT / batch)}
        self.write("build/compile_commands.json", json.dumps([entry]))
        known = test_tidy.commands(tree.ROOT / "build")
        self.assertEqual(test_tidy.complaint(good, known[good]), "")
        self.assertIn("b.cpp:1:10: error: use nullptr", test_tidy.complaint(bad, known[bad]))
        whole = test_tidy.batches(tree.ROOT / "build")
        self.assertEqual(list(whole), [str(tree.ROOT / batch)])
        self.assertIn("b.cpp:1:10: error: use nullptr", test_tidy.complaint(batch, whole[str(tree.ROOT / batch)]))

    def test_licence_length_words_registration(self):
        self.assertEqual(len(list(test_files.licence_problem("ui/a.cpp", ["// SPDX-License-Identifier: Apache-2.0"]))), 1)
        self.assertEqual(list(test_files.licence_problem("engine/a.py", ["#!x", "# SPDX-License-Identifier: Apache-2.0"])), [])
        self.assertEqual(len(list(test_files.length_problem("a.cpp", ["x"] * 401))), 1)
        self.assertEqual(list(test_files.length_problem("a.cpp", ["// Over 400 lines because"] + ["x"] * 401)), [])
        self.assertEqual(len(list(test_files.word_problems("a.md", ["see /ho" + "me/me/x", "TO" + "DO later"]))), 2)
        self.write("tests/engine/CMakeLists.txt", "qs_add_test(tst_a tst_a.cpp)\n")
        self.assertEqual(list(test_files.registration_problem("tests/engine/tst_a.cpp")), [])
        self.assertEqual(len(list(test_files.registration_problem("tests/engine/tst_b.cpp"))), 1)
        self.write("tests/ui/CMakeLists.txt", "foreach(name a b)\n  qs_add_test(tst_${name} tst_${name}.cpp)\nendforeach()\n")
        self.assertEqual(list(test_files.registration_problem("tests/ui/tst_b.cpp")), [])
        self.assertEqual(len(list(test_files.registration_problem("tests/ui/tst_c.cpp"))), 1)


if __name__ == "__main__":
    unittest.main()

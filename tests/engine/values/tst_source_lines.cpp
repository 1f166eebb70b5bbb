// SPDX-License-Identifier: Apache-2.0
#include "engine/io/source_lines.h"

#include <QtTest/QtTest>

#include <filesystem>
#include <fstream>

using namespace qs;

namespace {

void write(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

constexpr const char* kText
    = "import torch\n\ndef f(x):\r\n    return torch.relu(x)\n\n# end\x1b[31m";

} // namespace

class TestSourceLines : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asRecorded()
    {
        const QTemporaryDir dir;
        const std::filesystem::path file = dir.path().toStdString() + "/net.py";
        write(file, kText);
        const auto found = sourceLines({file.string(), 4, "f", "return torch.relu(x)"}, "", 1);
        QVERIFY(found);
        QCOMPARE(found->path, file.string());
        QVERIFY(found->isSame);
        QCOMPARE(found->firstLine, 3);
        QCOMPARE(found->lines.size(), std::size_t(3));
        QCOMPARE(found->lines[0], std::string("def f(x):")); // without its return
        const auto all = sourceLines({file.string(), 1, "", ""}, "", -1);
        QCOMPARE(all->lines.size(), std::size_t(6));
        QCOMPARE(all->lines[5], std::string("# end?[31m")); // nothing that steers a terminal
        QVERIFY(!sourceLines({file.string(), 4, "f", "return x"}, "", 1)->isSame);
    }

    void belowAFolder()
    {
        const QTemporaryDir dir;
        const std::filesystem::path root = dir.path().toStdString();
        write(root / "net.py", "# another file\n\n\n\n");
        write(root / "pack" / "net.py", kText);
        const SourceLocation recorded {"/gone/project/pack/net.py", 4, "f", "return torch.relu(x)"};
        QVERIFY(!sourceLines(recorded, "", 2));
        QCOMPARE(sourceLines(recorded, root.string(), 2)->path, (root / "pack/net.py").string());
        // The line decides where several could be meant.
        SourceLocation other = recorded;
        other.code = "# another";
        QVERIFY(!sourceLines(other, root.string(), 2)->isSame);
        std::filesystem::remove_all(root / "pack");
        QCOMPARE(sourceLines(recorded, root.string(), 2)->path, (root / "net.py").string());
        QVERIFY(!sourceLines(recorded, root.string(), 2)->isSame);
    }

    void refused()
    {
        const QTemporaryDir dir;
        const std::filesystem::path root = dir.path().toStdString();
        write(root / "secret.txt", kText);
        write(root / "short.py", "one line\n");
        std::filesystem::create_directories(root / "folder.py");
        for (const std::string& path :
             {std::string(), (root / "secret.txt").string(), (root / "short.py").string(),
              (root / "folder.py").string(), std::string("<string>")})
            QVERIFY(!sourceLines({path, 3, "", ""}, "", 2));
        QVERIFY(!sourceLines({(root / "short.py").string(), 0, "", ""}, "", 2));
        // Nothing above the folder is looked at.
        write(root / "inner" / "keep.py", kText);
        QVERIFY(!sourceLines({"../short.py", 1, "", "x"}, (root / "inner").string(), 2));
    }
};

QTEST_GUILESS_MAIN(TestSourceLines)
#include "tst_source_lines.moc"

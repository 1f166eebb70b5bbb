// SPDX-License-Identifier: Apache-2.0
// First, for moc: it stumbles over <compare> where no other standard header came before.
#include "engine/base/error.h"
#include "engine/base/sha256.h"
#include "engine/import/pt2/pt2_metadata.h"
#include "engine/import/pt2/symbol_text.h"

#include <QtTest/QtTest>

using namespace qs;

/// The small readers of what .pt2 files keep as text.
class TestImportText : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void symbols_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QByteArray>("shown");
        const auto row = [](const char* file, const char* shown) {
            QTest::newRow(shown) << QByteArray(file) << QByteArray(shown);
        };
        row("Symbol('s77', positive=True, integer=True)", "s77");
        row("Mul(Integer(24), Symbol('s77', positive=True))", "24*s77");
        row("Add(Mul(Integer(3), Symbol('s1')), Integer(-1))", "3*s1 + -1");
        row("Mul(Integer(2), Add(Symbol('a'), Symbol('b')))", "2*(a + b)");
        row("Pow(Symbol('a'), Integer(2))", "a**2");
        row("torch.utils._sympy.functions.FloorDiv(Symbol('a'), Integer(2))", "a//2");
        row("Max(Integer(1), Symbol('a'))", "Max(1, a)");
        row("what is ( this", "what is ( this");
    }
    void symbols()
    {
        QFETCH(QByteArray, file);
        QFETCH(QByteArray, shown);
        QCOMPARE(symbolText(file.toStdString()), shown.toStdString());
    }
    void deepSymbolsDoNotOverflowTheStack()
    {
        std::string deep;
        for (int i = 0; i < 100000; ++i)
            deep += "Add(";
        QCOMPARE(symbolText(deep), deep);
    }
    void moduleStacks()
    {
        const auto levels = parseModuleStack(
            "L__self__,,torchvision.models.resnet.ResNet;L__self___block,block@1,torch.nn.modules."
            "container.Sequential;L__self___block_0,block.0@1,torch.nn.modules.conv.Conv2d");
        QCOMPARE(levels.size(), std::size_t(3));
        QVERIFY(levels[0] == (Scope {"", "torchvision.models.resnet.ResNet", 0}));
        QVERIFY(levels[2] == (Scope {"block.0", "torch.nn.Conv2d", 1}));
        const auto strict = parseModuleStack(
            "L__self__,,my.Model;1,getattr(getattr(L['self'], 'layer-1')._modules['0'], "
            "'a b').c,my.Block[int, str];2,L['self'].blocks[3],my.Block");
        QCOMPARE(strict.size(), std::size_t(3));
        QCOMPARE(strict[1].path, std::string("layer-1.0.a b.c"));
        QCOMPARE(strict[1].moduleClass, std::string("my.Block[int, str]"));
        QCOMPARE(strict[2].path, std::string("blocks.3"));
        const auto keyed = parseModuleStack("L__self__block.0@3,block.0,my.Block");
        QVERIFY(keyed.size() == 1 && keyed[0] == (Scope {"block.0", "my.Block", 3}));
        QVERIFY(parseModuleStack("").empty());
        QCOMPARE(publicClassName("torch.nn.modules.linear.Linear"), std::string("torch.nn.Linear"));
        QCOMPARE(publicClassName("my.own.Linear"), std::string("my.own.Linear"));
    }
    void innermostFrameOutsideTorch()
    {
        const auto relative = parseStackTrace(
            "File \"model.py\", line 5, in forward\n    y = self.conv(x)\n"
            "File \"torch/nn/modules/conv.py\", line 3, in forward\n    return g()");
        QCOMPARE(QString::fromStdString(relative.file), "model.py");
        const auto at = parseStackTrace(
            "  File \"/data/model.py\", line 80, in forward\n    y = self.conv(x)\n  File "
            "\"/v/lib/python3.11/site-packages/torch/nn/modules/conv.py\", line 553, in "
            "forward\n    return self._conv_forward(input)");
        QVERIFY(at == (SourceLocation {"/data/model.py", 80, "forward", "y = self.conv(x)"}));
        const auto inside
            = parseStackTrace("File \"/v/site-packages/torch/nn/a.py\", line 3, in f\n    g()");
        QCOMPARE(inside.line, 3);
        QVERIFY(parseStackTrace("") == SourceLocation());
    }
    void sha256()
    {
        const auto hash = [](const std::string& text, std::size_t piece) {
            Sha256 sum;
            for (std::size_t at = 0; at < text.size(); at += piece)
                sum.update(text.data() + at, std::min(piece, text.size() - at));
            return sum.hex();
        };
        // The standard's own examples.
        QCOMPARE(hash("", 1),
                 std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        QCOMPARE(hash("abc", 3),
                 std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        const std::string million(1000000, 'a');
        for (const std::size_t piece : {1000000, 63, 64, 65, 7})
            QCOMPARE(
                hash(million, piece),
                std::string("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
    }
};

QTEST_GUILESS_MAIN(TestImportText)
#include "tst_import_text.moc"

// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_sharing.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

std::string numbered(const char* folder, int number)
{
    return std::string("code/__torch__/") + folder + "/___torch_mangle_" + std::to_string(number)
        + ".py";
}

std::string leaf(int number, const std::string& size = "1")
{
    return "class Leaf(Module):\n"
           "  def forward(self: __torch__.leaf.___torch_mangle_"
        + std::to_string(number)
        + ".Leaf,\n"
          "    x: Tensor) -> Tensor:\n"
          "    return torch.mul(x, "
        + size + ")\n";
}

std::string block(int number, int part)
{
    return "class Block(Module):\n"
           "  part : __torch__.leaf.___torch_mangle_"
        + std::to_string(part)
        + ".Leaf\n"
          "  def forward(self: __torch__.block.___torch_mangle_"
        + std::to_string(number)
        + ".Block,\n"
          "    x: Tensor) -> Tensor:\n"
          "    return (self.part).forward(x, )\n";
}

std::string compiled(const ScriptSharing& sharing, const std::string& record)
{
    const std::string* other = sharing.compiledFor(record);
    return other ? *other : record;
}

} // namespace

class TestScriptSharing : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void equalClassesAreCompiledOnce()
    {
        const std::string all = "code/__torch__/all.py";
        ScriptTexts texts {{numbered("leaf", 10), leaf(10)},
                           {numbered("leaf", 12), leaf(12)},
                           {numbered("leaf", 14), leaf(14)},
                           {numbered("block", 11), block(11, 10)},
                           {numbered("block", 13), block(13, 12)},
                           {all,
                            "class All(Module):\n"
                            "  a : __torch__.block.___torch_mangle_11.Block\n"
                            "  b : __torch__.block.___torch_mangle_13.Block\n"}};
        const ScriptSharing sharing(texts);
        QCOMPARE(compiled(sharing, numbered("leaf", 10)), numbered("leaf", 10));
        QCOMPARE(compiled(sharing, numbered("leaf", 12)), numbered("leaf", 10));
        QCOMPARE(compiled(sharing, numbered("leaf", 14)), numbered("leaf", 10));
        QCOMPARE(compiled(sharing, numbered("block", 13)), numbered("block", 11));
        QCOMPARE(texts.at(all),
                 std::string("class All(Module):\n"
                             "  a : __torch__.block.___torch_mangle_11.Block\n"
                             "  b : __torch__.block.___torch_mangle_11.Block\n"));
    }

    void differentPartsMakeDifferentClasses()
    {
        ScriptTexts texts {{numbered("leaf", 10), leaf(10)},
                           {numbered("leaf", 12), leaf(12, "2")},
                           {numbered("block", 11), block(11, 10)},
                           {numbered("block", 13), block(13, 12)}};
        const ScriptTexts before = texts;
        const ScriptSharing sharing(texts);
        for (const auto& [record, text] : before)
            QCOMPARE(compiled(sharing, record), record);
        QVERIFY(texts == before);
    }

    void numbersOfOtherLengthsAreKeptApart() // offsets in the texts would differ
    {
        ScriptTexts texts {{numbered("leaf", 9), leaf(9)}, {numbered("leaf", 10), leaf(10)}};
        const ScriptSharing sharing(texts);
        QCOMPARE(compiled(sharing, numbered("leaf", 10)), numbered("leaf", 10));
        QCOMPARE(compiled(sharing, numbered("leaf", 9)), numbered("leaf", 9));
    }

    void namesInStringsAreText()
    {
        const auto speaking = [](int number) {
            return "class Leaf(Module):\n  word = \"__torch__.leaf.___torch_mangle_"
                + std::to_string(number) + ".Leaf\"\n";
        };
        ScriptTexts texts {{numbered("leaf", 10), speaking(10)},
                           {numbered("leaf", 12), speaking(12)}};
        const ScriptTexts before = texts;
        const ScriptSharing sharing(texts);
        QCOMPARE(compiled(sharing, numbered("leaf", 12)), numbered("leaf", 12));
        QVERIFY(texts == before);
    }

    void codeThatAsksForClassesIsKept()
    {
        ScriptTexts texts {{numbered("leaf", 10), leaf(10)},
                           {numbered("leaf", 12), leaf(12)},
                           {"code/__torch__/asks.py",
                            "def f(x: Any) -> bool:\n"
                            "  return isinstance(x, Tensor)\n"}};
        const ScriptSharing sharing(texts);
        QCOMPARE(compiled(sharing, numbered("leaf", 12)), numbered("leaf", 12));
    }

    void classesThatNameEachOther()
    {
        const auto knot = [](int number, int other) {
            return "class Leaf(Module):\n  other : __torch__.leaf.___torch_mangle_"
                + std::to_string(other)
                + ".Leaf\n  def forward(self: __torch__.leaf.___torch_mangle_"
                + std::to_string(number) + ".Leaf) -> int:\n    return 1\n";
        };
        ScriptTexts texts {{numbered("leaf", 10), knot(10, 12)},
                           {numbered("leaf", 12), knot(12, 10)}};
        const ScriptSharing sharing(texts);
        QCOMPARE(compiled(sharing, numbered("leaf", 12)), numbered("leaf", 10));
    }
};

QTEST_GUILESS_MAIN(TestScriptSharing)
#include "tst_script_sharing.moc"

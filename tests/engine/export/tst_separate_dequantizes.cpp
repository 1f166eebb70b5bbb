// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/separate_dequantizes.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/text/graph_parser.h"
#include "engine/graph/text/graph_printer.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

QString changed(const std::string& text)
{
    const auto graph = parseGraph(text);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    const Graph made = separateDequantizes(*graph);
    const auto sound = verifyGraph(made);
    if (!sound)
        qFatal("%s", sound.error().line().c_str());
    return QString::fromStdString(printGraph(made));
}

/// The head of a graph whose next node takes that id.
std::string head(int next)
{
    return "graph name=\"Net\" format=\"text\" producer=\"\" sha256=\"\" inputs=\"\" outputs=\"\" "
           "converted=0 next="
        + std::to_string(next) + "\nmodule \"\" \"Net\"\n%x #1 = input \"x\" () -> (x: int8[2])\n";
}

const std::string kStep
    = "\"quantized_decomposed.dequantize_per_tensor.default\" (input=%x, scale=0.5, "
      "zero_point=0, quant_min=-128, quant_max=127, dtype=dtype(int8))";

} // namespace

/// A dequantize for each reader, in the graph's text form.
class TestSeparateDequantizes : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void eachReaderHasItsOwn()
    {
        const std::string before = head(6) + "%dq #2 = op " + kStep + " -> (dq: float32[2])\n"
            + "%square #3 = op \"aten.mul.Tensor\" (self=%dq, other=%dq) -> (square: float32[2])\n"
            + "%sum #4 = op \"aten.add.Tensor\" (self=%square, other=%dq) -> (sum: float32[2])\n"
            + "%output #5 = output \"\" (\"\"=[%sum, %dq]) -> ()\n";
        const std::string after = head(8) + "%dq #2 = op " + kStep + " -> (dq: float32[2])\n"
            + "%square #3 = op \"aten.mul.Tensor\" (self=%dq, other=%dq) -> (square: float32[2])\n"
            + "%dq_1 #6 = op " + kStep + " -> (dq_1: float32[2])\n"
            + "%sum #4 = op \"aten.add.Tensor\" (self=%square, other=%dq_1) -> (sum: float32[2])\n"
            + "%dq_2 #7 = op " + kStep + " -> (dq_2: float32[2])\n"
            + "%output #5 = output \"\" (\"\"=[%sum, %dq_2]) -> ()\n";
        QCOMPARE(changed(before), QString::fromStdString(after));
    }
    void oneReaderKeepsIt()
    {
        const std::string text = head(4) + "%dq #2 = op " + kStep + " -> (dq: float32[2])\n"
            + "%output #3 = output \"\" (\"\"=%dq) -> ()\n";
        QCOMPARE(changed(text), QString::fromStdString(text));
    }
    void aResidualBesideLinearLayersIsKeptApart()
    {
        const std::string step
            = "\"quantized_decomposed.dequantize_per_tensor.default\" (input=%x, "
              "scale=0.5, zero_point=0, quant_min=-128, quant_max=127, "
              "dtype=dtype(int8)";
        const std::string linear = " = op \"aten.linear.default\" (input=%";
        for (const bool rows : {true, false}) { // as rows they are the layers' input as it is
            const std::string shape = rows ? "[2, 2]" : "[2, 2, 2]";
            const std::string typed = " -> (", type = ": float32" + shape + ")\n";
            const std::string head = "graph name=\"Net\" format=\"text\" producer=\"\" sha256=\"\" "
                                     "inputs=\"\" outputs=\"\" converted=0 next=";
            const std::string inputs = "\nmodule \"\" \"Net\"\n%x #1 = input \"x\" () -> (x: int8"
                + shape + ")\n%w #2 = input \"w\" () -> (w: float32[2, 2])\n";
            const std::string end
                = typed + "sum" + type + "%output #7 = output \"\" (\"\"=[%a, %b, %sum]) -> ()\n";
            const std::string before = head + "8" + inputs + "%dq #3 = op " + step + ")" + typed
                + "dq" + type + "%a #4" + linear + "dq, weight=%w)" + typed + "a" + type + "%b #5"
                + linear + "dq, weight=%w)" + typed + "b" + type
                + "%sum #6 = op \"aten.add.Tensor\" (self=%a, other=%dq)" + end;
            const std::string own = rows ? ")" : ", out_dtype=dtype(float32))";
            const std::string after = head + "10" + inputs + "%dq #3 = op " + step + ")" + typed
                + "dq" + type + "%a #4" + linear + "dq, weight=%w)" + typed + "a" + type
                + "%dq_1 #8 = op " + step + ")" + typed + "dq_1" + type + "%b #5" + linear
                + "dq_1, weight=%w)" + typed + "b" + type + "%dq_2 #9 = op " + step + own + typed
                + "dq_2" + type + "%sum #6 = op \"aten.add.Tensor\" (self=%a, other=%dq_2)" + end;
            QCOMPARE(changed(before), QString::fromStdString(after));
        }
    }
};

QTEST_GUILESS_MAIN(TestSeparateDequantizes)
#include "tst_separate_dequantizes.moc"

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/graph/pass.h"
#include "engine/graph/text/graph_parser.h"
#include "engine/graph/text/graph_printer.h"

#include <QtTest/QtTest>

namespace qs::test {

/// Reads graphs in a short notation of their text form, one node per line:
///     x: float32[2] = input
///     w: float32[2, 2] = parameter tensor=1
///     y: float32[2] = aten.linear.default(input=%x, weight=%w) scope="fc"
///     region (y: float32[2], z: float32[2]) = quantscope.region.default(operands=[%x])
///     subgraph
///       ...
///     end
///     return %y
/// A node has the name of its first value unless a name precedes the values. A parameter's target
/// is the node's name unless it follows in quotes. An argument without a name is written "=%x". Ids
/// are numbered from 1 by name over all graphs that one object reads, so that a node that a pass
/// keeps must keep its id. `name#9` sets another id.
class GraphText
{
public:
    Graph read(const QString& notation)
    {
        auto graph = parseGraph(textForm(notation).toStdString());
        if (!graph)
            qFatal("%s\n%s", graph.error().line().c_str(), qPrintable(textForm(notation)));
        return std::move(*graph);
    }

    /// Returns one line per node or module. Nodes that `before` lacks, and those in subgraphs, are
    /// printed without id.
    static QStringList lines(const Graph& graph, const Graph& before)
    {
        QStringList found;
        const auto text = QString::fromStdString(printGraph(graph));
        for (QString line : text.split('\n', Qt::SkipEmptyParts)) {
            static const QRegularExpression id("^(\\s*)(%\\S+) #(\\d+)");
            const auto match = id.match(line);
            if (match.hasMatch()
                && (!match.captured(1).isEmpty()
                    || !before.tryGet(NodeId(match.captured(3).toUInt()))))
                line.remove(match.capturedEnd(2), match.capturedLength(3) + 2);
            if (!line.trimmed().startsWith("graph "))
                found << line;
        }
        return found;
    }

private:
    QString textForm(const QString& notation)
    {
        QString nodes;
        for (const QString& line : notation.split('\n')) {
            const QString text = line.trimmed();
            if (text == "subgraph" || text == "end" || text.startsWith("module "))
                nodes += text + (text == "subgraph" ? "\ngraph next=1000\n" : "\n");
            else if (!text.isEmpty())
                nodes += nodeForm(text) + "\n";
        }
        return "graph name=\"Net\" next=" + QString::number(m_ids.size() + 1) + "\n" + nodes;
    }

    QString nodeForm(const QString& line)
    {
        static const QRegularExpression between(",\\s*(?![^\\[]*\\])"),
            head("^(?:(\\w+)(#\\d+)? \\((.*?)\\)|((\\w+)(#\\d+)?: .*?)) = "),
            call("^([^\\s(]+)(?: (\"[^\"]*\"))?(\\(.*\\))?(.*)$");
        if (line.startsWith("return ")) {
            const QStringList values = line.mid(7).split(between);
            return "%output #" + id("output") + " = output \"\" (\"\"=" + values.join(", \"\"=")
                + ") -> ()";
        }
        const auto results = head.match(line);
        if (!results.hasMatch())
            qFatal("no node: %s", qPrintable(line));
        const bool isNamed = !results.captured(1).isEmpty();
        const QString name = results.captured(isNamed ? 1 : 5);
        const QString number = results.captured(isNamed ? 2 : 6);
        QString values = isNamed ? results.captured(3) : results.captured(4);
        values.remove(QRegularExpression("#\\d+"));
        const auto made = call.match(line.mid(results.capturedEnd()));
        QString kind = made.captured(1), target = made.captured(2);
        if (kind == "input" || kind == "parameter" || kind == "constant") {
            target = target.isEmpty() ? "\"" + name + "\"" : target;
        } else {
            target = "\"" + kind + "\"";
            kind = "op";
        }
        QString args = made.captured(3).isEmpty() ? "()" : made.captured(3);
        args.replace(QRegularExpression("([(,] ?)="), "\\1\"\"=");
        return "%" + name + " " + (number.isEmpty() ? "#" + id(name) : number) + " = " + kind + " "
            + target + " " + args + " -> (" + values + ")" + made.captured(4);
    }

    QString id(const QString& name)
    {
        return QString::number(m_ids.try_emplace(name, int(m_ids.size()) + 1).first->second);
    }

    std::map<QString, int> m_ids;
};

/// Expands "Q(%x, ...)" and "DQ(%x, ...)" to quantize and dequantize nodes, and "PARAMS" to their
/// parameters.
inline QString withSteps(QString text)
{
    text.replace(" Q(", " quantized_decomposed.quantize_per_tensor.default(input=");
    text.replace(" DQ(", " quantized_decomposed.dequantize_per_tensor.default(input=");
    return text.replace("PARAMS",
                        "scale=0.5, zero_point=0, quant_min=-128, quant_max=127, "
                        "dtype=dtype(int8)");
}

/// The effect of a pass on a graph, as text. `after` empty: unchanged.
struct PassCase
{
    Pass pass;
    const char* what; ///< subject of the case
    QString before, after;
    std::shared_ptr<StoredTensors> tensors = {};
};

/// Adds test data: a row per case, with its index in the column `at`.
inline void addRows(const std::vector<PassCase>& cases)
{
    QTest::addColumn<int>("at");
    for (std::size_t i = 0; i < cases.size(); ++i)
        QTest::addRow("%s: %s", cases[i].pass.name().c_str(), cases[i].what) << int(i);
}

/// Runs the pass alone and compares the result with `after`.
inline void compareTexts(const PassCase& shown)
{
    GraphText text;
    GraphEdit edit(text.read(shown.before));
    edit.setTensors(shown.tensors);
    const auto before = std::make_shared<const Graph>(edit.build());
    const auto made = runPasses(before, {&shown.pass, 1});
    QVERIFY2(made, made ? "" : made.error().line().c_str());
    const Graph wanted = text.read(shown.after.isEmpty() ? shown.before : shown.after);
    const QStringList lines = GraphText::lines(**made, *before);
    const QStringList expected = GraphText::lines(wanted, *before);
    if (lines != expected)
        qInfo("made:\n%s", qPrintable(lines.join('\n')));
    QCOMPARE(lines, expected);
}

/// Compares the case of the current row; `spell` expands its texts.
inline void compareRow(const std::vector<PassCase>& cases, QString (*spell)(QString) = nullptr)
{
    QFETCH(int, at);
    PassCase shown = cases.at(std::size_t(at));
    if (spell) {
        shown.before = spell(shown.before);
        shown.after = spell(shown.after);
    }
    compareTexts(shown);
}

} // namespace qs::test

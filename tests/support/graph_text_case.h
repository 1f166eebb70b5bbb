// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/graph/pass.h"
#include "engine/graph/text/graph_parser.h"
#include "engine/graph/text/graph_printer.h"

#include <QtTest/QtTest>

namespace qs::test {

/// Graphs in a short notation of their text form, one node a line:
///     x: float32[2] = input
///     w: float32[2, 2] = parameter tensor=1
///     y: float32[2] = aten.linear.default(input=%x, weight=%w) scope="fc"
///     region (y: float32[2], z: float32[2]) = quantscope.region.default(operands=[%x])
///     subgraph
///       ...
///     end
///     return %y
/// A node is called as its first value unless its name stands before them, and a weight's target as
/// the node unless it follows in quotes; an argument without a name reads "=%x". Ids are given by
/// name, counted from 1, in all graphs that one object reads: a node that a pass keeps has to keep
/// its id. `name#9` says another.
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

    /// One line a node or module; what is not in `before` has no id, nor what is in a subgraph.
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

/// Notation with "Q(%x, ...)" and "DQ(%x, ...)" for a quantize and a dequantize, and "PARAMS" for
/// the parameters of one.
inline QString withSteps(QString text)
{
    text.replace(" Q(", " quantized_decomposed.quantize_per_tensor.default(input=");
    text.replace(" DQ(", " quantized_decomposed.dequantize_per_tensor.default(input=");
    return text.replace("PARAMS",
                        "scale=0.5, zero_point=0, quant_min=-128, quant_max=127, "
                        "dtype=dtype(int8)");
}

/// What a pass makes of a graph, as text; `after` empty: the same.
struct PassCase
{
    Pass pass;
    const char* what; ///< it shows
    QString before, after;
    std::shared_ptr<StoredTensors> tensors = {};
};

/// For a function's data: rows of `at`, a place in `cases`.
inline void addRows(const std::vector<PassCase>& cases)
{
    QTest::addColumn<int>("at");
    for (std::size_t i = 0; i < cases.size(); ++i)
        QTest::addRow("%s: %s", cases[i].pass.name().c_str(), cases[i].what) << int(i);
}

/// Runs the pass alone and compares.
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

/// The case of the row; `spell` writes its texts out.
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

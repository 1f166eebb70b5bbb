// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/command_line.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/shown_numbers.h"
#include "tests/ui/window_test.h"
#include "ui/plots/histogram_plot.h"
#include "ui/session/decisions/edge_decisions.h"

#include <QComboBox>
#include <QLabel>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

namespace qs::test {

/// The window on the real engine with the sample model compared, beside the command line.
class EdgeWindow : public WindowTest<RealEngine>
{
protected:
    QTemporaryDir m_folder;
    CommandLine m_commandLine {kSamples + "digits.pt2", m_folder.path(), {"--alternatives"}};
    Recipe m_start;

    Document& document() { return workspace().document(); }
    const Graph& graph() { return *document().model(); }
    const Plan& plan() { return *document().plan(); }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(settled(), 120000); }
    HistogramPlot& histogram() { return *find<HistogramPlot>("histogramPlot"); }

    /// An edge of a value with two quantized readers.
    Edge forked()
    {
        for (const auto& node : graph().nodes())
            if (node->isOperator())
                if (const auto edges = edgesOf(graph(), plan(), {node->id, 0}); edges.size() == 2)
                    return edges.front();
        qFatal("no value has two readers");
    }

    /// An edge to an operator that goes on with the observer of what it reads.
    Edge sharing()
    {
        for (const auto& node : graph().nodes())
            if (const NodePlan* decided = plan().tryGet(graph(), node->id);
                decided && decided->verdict == Verdict::Shared && !decided->activations.empty())
                return {decided->activations.front().second, decided->activations.front().first};
        qFatal("nothing shares an observer");
    }

    EdgeFacts factsOf(const Edge& edge)
    {
        return edgeFacts(graph(), plan(), document().recipe(), edge);
    }

    QJsonObject told(const std::string& name)
    {
        const QJsonObject all = m_commandLine.quantize(document().recipe(), document().settings());
        for (const QJsonValue node : all["nodes"].toArray())
            if (node.toObject()["name"].toString().toStdString() == name)
                return node.toObject();
        qFatal("no node %s", name.c_str());
    }

    int edgeRules()
    {
        int count = 0;
        for (const Rule& rule : document().recipe().mapping.rules)
            count += rule.kind == RuleKind::Edge;
        return count;
    }

    QString label(const char* name)
    {
        auto* found = find<QLabel>(name);
        return found ? found->text() : QString();
    }

    /// A command for the user's metric: a script with this name that prints `expression` of the
    /// array `scores` and the loaded file `found`.
    QString metricCommand(const QString& name, const QByteArray& expression)
    {
        const QString path = m_folder.filePath(name);
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            qFatal("the script cannot be written");
        file.write("import sys, numpy\n"
                   "found = numpy.load(sys.argv[1])\n"
                   "scores = found[[key for key in found.files if key != 'labels'][0]]\n"
                   "print("
                   + expression + ")\n");
        file.close();
        return QStringLiteral("%1 '%2'").arg(QStringLiteral(QS_PYTHON), path);
    }

    void choose(const char* box, const QString& text)
    {
        auto* found = find<QComboBox>(box);
        QVERIFY2(found, box);
        found->setCurrentText(text);
        QCOMPARE(found->currentText(), text);
        Q_EMIT found->activated(found->currentIndex());
    }

    void openAndCompare()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 860);
        m_window->show();
        m_window->openModel(kSamples + "digits.pt2");
        settle();
        RunSettings settings = document().settings();
        settings.device = "cpu";
        settings.comparisonData.clear();
        document().setSettings(settings);
        Recipe recipe = document().recipe();
        recipe.calibration.batches = 2;
        workspace().change("few batches", recipe);
        settle();
        m_start = document().recipe();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(document().comparison());
        pane().expandAll();
        QTRY_VERIFY(pane().isLayoutDone());
    }
    void startAgain()
    {
        Recipe recipe = m_start;
        workspace().change("start", recipe);
        settle();
        workspace().selection().clear();
    }
};

} // namespace qs::test

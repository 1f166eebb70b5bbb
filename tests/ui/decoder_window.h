// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/decoder_graph.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/session/text.h"

#include <QtTest>

namespace qs::test {

constexpr int kLayers = 12;

/// A decoder of twelve layers that lose a little more each.
class DecoderEngine : public FakeEngine
{
public:
    DecoderEngine()
    {
        model = decoderGraph(kLayers);
        lossStep = 0.01;
    }
};

/// A window on that decoder.
class DecoderWindow : public WindowTest<DecoderEngine>
{
protected:
    void openWindow()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
    }
    const GraphDrawing& drawing() { return *pane().view().graphScene().drawing(); }
    /// What is drawn as boxes around blocks, in the order of the graph.
    std::vector<DrawnNode> boxes()
    {
        std::vector<DrawnNode> out;
        for (const auto& node : drawing().nodes)
            if (drawing().tree->entry(node.entry).repeats > 0)
                out.push_back(node);
        return out;
    }
    QStringList boxLabels()
    {
        QStringList out;
        for (const auto& node : boxes())
            out << toQString(drawing().tree->entry(node.entry).label);
        return out;
    }
};

} // namespace qs::test

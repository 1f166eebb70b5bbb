// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/picture/photographer.h"

#include "ui/graph/view/graph_pane.h"
#include "ui/session/workspace.h"
#include "ui/shell/main_window.h"
#include "ui/shell/picture/screenshot.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace qs {

namespace {

QString sizeText(const QSize& size)
{
    return QStringLiteral("%1x%2").arg(size.width()).arg(size.height());
}

/// Returns the node of that name, or the only operator of the module of that path (it may be a
/// member of a fusion); else null.
const Node* nodeNamed(const Graph& model, const std::string& name)
{
    if (const Node* node = model.tryFind(name))
        return node;
    const Node* only = nullptr;
    for (const NodePtr& node : model.nodes()) {
        if (!node->isOperator() || node->scope.path != name)
            continue;
        if (only)
            return nullptr;
        only = node.get();
    }
    return only;
}

/// True if a timer for a refresh is active below `root`.
bool isRefreshDue(const QObject& root)
{
    constexpr int kSoonMs = 1000; // autosaves wait longer
    const auto timers = root.findChildren<QTimer*>();
    return std::any_of(timers.begin(), timers.end(), [](const QTimer* timer) {
        return timer->isActive() && timer->isSingleShot() && timer->interval() < kSoonMs;
    });
}

void complain(const QString& line)
{
    std::fprintf(stderr, "%s\n", qPrintable(line));
}

} // namespace

void sayWhereEnlarged(const QWidget& window, const QSize& wanted)
{
    if (!wanted.isEmpty() && (window.width() > wanted.width() || window.height() > wanted.height()))
        std::fprintf(stderr, "%s\n",
                     qPrintable(QObject::tr("--size %1 is too small for the window: it is %2")
                                    .arg(sizeText(wanted), sizeText(window.size()))));
}

Photographer::Photographer(MainWindow& window, ScreenshotOrder order)
    : m_window(window)
    , m_order(std::move(order))
{
    m_clock.start();
    auto& pipeline = window.workspace().pipeline();
    connect(&pipeline, &Pipeline::failed, this, [this](Stage, const Error& error) {
        complain(QString::fromStdString(error.line()));
        // Queued: reading a project may fail before the event loop runs, where exit() has no
        // effect.
        QTimer::singleShot(0, this, [] { QCoreApplication::exit(1); });
    });
    connect(&window.workspace().document(), &Document::resultsChanged, this, [this] {
        if (m_resultSeconds == 0 && m_window.workspace().document().comparison())
            m_resultSeconds = double(m_clock.elapsed()) / 1000;
    });
    connect(&m_timer, &QTimer::timeout, this, [this] { step(); });
    m_timer.start(15);
}

void Photographer::step()
{
    auto& workspace = m_window.workspace();
    if (workspace.pipeline().isBusy() || isRefreshDue(m_window) || isRefreshDue(workspace)) {
        m_quiet = 0;
        return;
    }
    const bool open = workspace.document().model() != nullptr;
    if (!m_order.model.isEmpty() && (!open || !m_window.graphPane().isLayoutDone()))
        return;
    if (open && m_order.compares && !workspace.document().comparison())
        return;
    if (open && !m_order.select.isEmpty() && !m_selected) {
        m_selected = true;
        select();
        return;
    }
    // Wait for two idle rounds: queued repaints of the plots follow the last result.
    if (++m_quiet < 3)
        return;
    m_timer.stop();
    sayWhereEnlarged(m_window, m_order.size);
    const auto written
        = writeScreenshot(m_window, workspace.document(), m_window.graphPane(), m_order.file,
                          double(m_clock.elapsed()) / 1000, m_resultSeconds);
    if (!written)
        complain(QString::fromStdString(written.error().line()));
    QCoreApplication::exit(written ? 0 : 1);
}

void Photographer::select()
{
    auto& workspace = m_window.workspace();
    const std::string name = m_order.select.toStdString();
    const GraphPtr& model = workspace.document().model();
    const int module = workspace.foldTree() ? workspace.foldTree()->moduleEntry(name) : -1;
    if (const Node* node = nodeNamed(*model, name)) {
        workspace.selectNode(node->id);
    } else if (module >= 0) {
        workspace.selectEntry(module);
    } else {
        complain(tr("%1: no node or module is named '%2'").arg(m_order.model, m_order.select));
        QCoreApplication::exit(1);
        return;
    }
    m_window.graphPane().revealSelection();
}

} // namespace qs

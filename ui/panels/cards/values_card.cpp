// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/values_card.h"

#include "ui/graph/stored_inside.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::size_t kMostValues = 12;

/// A histogram of a value's elements between minimum and maximum.
class SpreadBars : public QWidget
{
public:
    SpreadBars(std::vector<std::int64_t> counts, const QString& words, QWidget* parent)
        : QWidget(parent)
        , m_counts(std::move(counts))
    {
        setNames(*this, "valueSpread", QObject::tr("Spread of the elements: %1").arg(words),
                 QObject::tr("How the elements are spread: %1").arg(words));
        setFixedHeight(px(26));
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter p(this);
        p.fillRect(QRectF(0, height() - 1, width(), 1), theme().border);
        const auto most = *std::max_element(m_counts.begin(), m_counts.end());
        const double step = double(width()) / double(m_counts.size());
        for (std::size_t i = 0; i < m_counts.size(); ++i) {
            if (m_counts[i] == 0)
                continue;
            const double tall = std::max(1.0, (height() - 2) * double(m_counts[i]) / double(most));
            p.fillRect(QRectF(double(i) * step, height() - 1 - tall, std::max(1.0, step - 1), tall),
                       theme().histogram);
        }
    }

private:
    std::vector<std::int64_t> m_counts;
};

} // namespace

ValuesCard::ValuesCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Values"), parent)
    , m_workspace(workspace)
{
    refresh();
}

void ValuesCard::refresh()
{
    const Filling filling(*this);
    m_waiting = false;
    const auto& model = m_workspace.document().model();
    const auto& tree = m_workspace.foldTree();
    const auto& selection = m_workspace.selection();
    std::vector<StoredValue> stored;
    if (model && tree && !selection.isModule() && !selection.edge()
        && m_workspace.selectedEntries().size() == 1)
        stored = storedInside(*model, *tree, selection.nodes());
    setVisible(!stored.empty());
    for (std::size_t i = 0; i < std::min(stored.size(), kMostValues); ++i)
        addValue(toQString(stored[i].name), stored[i].node);
    if (stored.size() > kMostValues)
        addText(tr("and %1 more").arg(stored.size() - kMostValues), true);
}

void ValuesCard::addValue(const QString& name, NodeId node)
{
    const ValuePreview* preview = m_workspace.previews().ask(node);
    m_waiting |= !preview;
    if (!preview) {
        const auto& type = m_workspace.document().model()->value({node, 0}).type;
        addRow(name, toQString(type.text()));
        return;
    }
    const QString type = toQString(preview->type);
    if (!preview->text.empty()) {
        addRow(name, QStringLiteral("%1  %2").arg(toQString(preview->text), type).trimmed());
        return;
    }
    addRow(name, type);
    const QString range = rangeText(*preview);
    if (!range.isEmpty())
        addWide(range);
    if (!preview->histogram.empty())
        addWide(new SpreadBars(preview->histogram, range, this));
    if (!preview->first.empty())
        addWide(firstText(*preview));
}

} // namespace qs

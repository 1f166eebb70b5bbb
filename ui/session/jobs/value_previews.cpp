// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/value_previews.h"

#include "ui/session/workspace.h"

#include <QStringList>
#include <QTimer>

#include <algorithm>

namespace qs {

namespace {

const QString kPreviewTag = QStringLiteral("preview");
/// Previews have a few hundred bytes each.
constexpr std::size_t kMostKept = 2000;

QString shortNumber(double value)
{
    return QString::number(value, 'g', 3);
}

} // namespace

ValuePreviews::ValuePreviews(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_start(new QTimer(this))
{
    m_start->setSingleShot(true);
    connect(m_start, &QTimer::timeout, this, &ValuePreviews::readWanted);
    const auto forget = [this] {
        m_workspace.pipeline().jobs().cancel(kPreviewTag);
        m_known.clear();
        m_wanted.clear();
    };
    connect(&workspace.document(), &Document::modelChanged, this, forget);
    connect(&workspace.document(), &Document::graphEdited, this, forget);
}

const ValuePreview* ValuePreviews::ask(NodeId node)
{
    if (const auto it = m_known.find(node); it != m_known.end())
        return &it->second;
    if (std::find(m_wanted.begin(), m_wanted.end(), node) == m_wanted.end())
        m_wanted.push_back(node);
    if (!m_reading)
        m_start->start(0);
    return nullptr;
}

void ValuePreviews::readWanted()
{
    const GraphPtr model = m_workspace.document().model();
    if (!model || m_wanted.empty() || m_reading)
        return;
    m_reading = true;
    auto& engine = m_workspace.pipeline().engine();
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kPreviewTag,
        [&engine, model, nodes = m_wanted](JobContext& job) {
            std::map<NodeId, ValuePreview> out;
            for (const NodeId node : nodes) {
                auto preview = engine.storedValue(model, node, job);
                if (!preview && preview.error().code == ErrorCode::Cancelled)
                    break;
                if (preview)
                    out[node] = std::move(*preview);
                else
                    out[node].text = preview.error().message;
            }
            return out;
        },
        this,
        [this, number = m_workspace.document().modelNumber()](std::map<NodeId, ValuePreview> read) {
            m_reading = false;
            if (number == m_workspace.document().modelNumber()) {
                if (m_known.size() > kMostKept)
                    m_known.clear();
                std::erase_if(m_wanted, [&read](NodeId node) { return read.contains(node); });
                m_known.merge(read);
                Q_EMIT arrived();
            }
            readWanted();
        });
}

QString rangeText(const ValuePreview& preview)
{
    if (!preview.min)
        return preview.nonFinite > 0 ? QObject::tr("no finite value") : QString();
    QString text = QObject::tr("%1 … %2 · mean %3")
                       .arg(shortNumber(*preview.min), shortNumber(*preview.max),
                            shortNumber(*preview.mean));
    if (preview.nonFinite > 0)
        text += QObject::tr(" · %1 not finite").arg(preview.nonFinite);
    return text;
}

QString firstText(const ValuePreview& preview)
{
    QStringList parts;
    for (const double value : preview.first)
        parts << shortNumber(value);
    if (preview.count > std::int64_t(preview.first.size()))
        parts << QStringLiteral("…");
    return parts.join(QStringLiteral(", "));
}

} // namespace qs

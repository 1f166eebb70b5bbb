// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/findings_panel.h"

#include "engine/convert/ranges/scale_bounds.h"
#include "engine/convert/ranges/shared_ranges.h"
#include "engine/export/file_origin.h"
#include "ui/session/coalesce.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QRegularExpression>

#include <algorithm>

namespace qs {

namespace {

constexpr int kNodeRole = Qt::UserRole;
constexpr int kModuleRole = Qt::UserRole + 1;

/// Returns the first node that a warning names in quotes.
QString namedNode(const Graph& model, const QString& text)
{
    static const QRegularExpression quotedName(QStringLiteral("'([^']+)'"));
    for (auto it = quotedName.globalMatch(text); it.hasNext();) {
        QString name = it.next().captured(1);
        if (model.tryFind(name.toStdString()))
            return name;
    }
    return {};
}

/// Returns one line: place, finding, remedy.
QString traceLine(const TraceFinding& finding)
{
    QString text = QString::fromStdString(finding.place());
    if (!text.isEmpty())
        text += QStringLiteral(" · ");
    text += QString::fromStdString(finding.what);
    if (!finding.attempts.empty()) {
        QStringList attempts;
        for (const auto& attempt : finding.attempts)
            attempts << QString::fromStdString(attempt);
        text += QStringLiteral(" (%1)").arg(attempts.join(QStringLiteral(", ")));
    }
    if (!finding.hint.empty())
        text += QStringLiteral("; ") + QString::fromStdString(finding.hint);
    return text;
}

} // namespace

FindingsPanel::FindingsPanel(Workspace& workspace, QWidget* parent)
    : QTreeWidget(parent)
    , m_workspace(workspace)
{
    setNames(*this, "findingsPanel", tr("Findings"), tr("Click a row to select its node"));
    setColumnCount(2);
    setHeaderHidden(true);
    setRootIsDecorated(true);
    setUniformRowHeights(true);
    setIndentation(14);
    setFrameShape(QFrame::NoFrame);
    setTextElideMode(Qt::ElideRight);
    header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    header()->setStretchLastSection(true);
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.document(), &Document::modelChanged, this, &FindingsPanel::readTrace);
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::planChanged, this, later);
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(this, &QTreeWidget::itemClicked, this, &FindingsPanel::choose);
    connect(this, &QTreeWidget::itemActivated, this, &FindingsPanel::choose);
    readTrace();
    refresh();
}

void FindingsPanel::readTrace()
{
    const GraphPtr& model = m_workspace.document().model();
    m_trace = model ? readTraceReport(model->info().path, model->info().sha256) : std::nullopt;
    m_origin
        = model ? originFindings(recordOfFile(model->info().path)) : std::vector<std::string>();
}

void FindingsPanel::showTrace(int& count)
{
    using Kind = TraceFinding::Kind;
    static const struct
    {
        std::vector<Kind> kinds;
        const char* title;
        const char* name;
    } kSections[] = {
        {{Kind::Failure}, QT_TR_NOOP("Export failures"), "findingsFailures"},
        {{Kind::Frozen}, QT_TR_NOOP("Decided by the example's values"), "findingsFrozen"},
        {{Kind::Untaken}, QT_TR_NOOP("Code that the export did not run"), "findingsUntaken"},
        {{Kind::Training, Kind::Stub},
         QT_TR_NOOP("Leftovers in the exported model"),
         "findingsLeftovers"},
        {{Kind::Advice}, QT_TR_NOOP("Places that tend to freeze or break"), "findingsAdvice"},
    };
    for (const auto& section : kSections) {
        std::vector<Finding> findings;
        for (const TraceFinding& finding : m_trace->findings)
            if (std::count(section.kinds.begin(), section.kinds.end(), finding.kind))
                findings.push_back(
                    {QString::fromStdString(finding.module), traceLine(finding), true});
        count += int(findings.size());
        addSection(tr(section.title), QString::fromLatin1(section.name), findings);
    }
}

/// Returns the findings on ranges: results that leave a fixed range; after a calibration, scales
/// beyond the backend's bounds and values that share a range with wider ones.
std::vector<FindingsPanel::Finding> FindingsPanel::rangeFindings() const
{
    const auto& document = m_workspace.document();
    const Graph& model = *document.model();
    std::vector<Finding> found;
    for (const PlanFinding& finding : document.plan()->findings)
        found.push_back({QString::fromStdString(model.get(finding.node).name),
                         QString::fromStdString(finding.text)});
    const CalibrationPtr& calibration = document.calibration();
    if (!calibration || !calibration->prepared || !calibration->observations)
        return found;
    const QString stale
        = document.isStale(Stage::Calibrate) ? tr(" (of other decisions)") : QString();
    const PreparedModel& prepared = *calibration->prepared;
    for (const PlanFinding& finding :
         scaleBoundFindings(*prepared.model, *prepared.plan, calibration->qparams))
        found.push_back({QString::fromStdString(prepared.model->get(finding.node).name),
                         QString::fromStdString(finding.text) + stale});
    for (const SharedRange& shared :
         sharedRanges(*calibration->prepared, calibration->qparams, *calibration->observations)) {
        const NodeId node
            = shared.separator ? shared.separator : shared.members[shared.worst].value.node;
        const Node* named = model.tryGet(node);
        found.push_back({named ? QString::fromStdString(named->name) : QString(),
                         QString::fromStdString(shared.text) + stale});
    }
    return found;
}

void FindingsPanel::refresh()
{
    clear();
    const auto& document = m_workspace.document();
    const GraphPtr& model = document.model();
    int count = 0;
    const auto show
        = [&](const QString& title, const char* name, const std::vector<Finding>& findings) {
              count += int(findings.size());
              addSection(title, QString::fromLatin1(name), findings);
          };
    if (model) {
        std::vector<Finding> origin;
        for (const std::string& line : m_origin)
            origin.push_back({QString(), QString::fromStdString(line)});
        show(tr("How the file was made"), "findingsOrigin", origin);
    }
    if (model && document.plan()) {
        std::vector<Finding> unused, others;
        for (const auto& warning : document.plan()->warnings) {
            const QString text = QString::fromStdString(warning);
            const bool isUnused = text.contains(QLatin1String("matches no"));
            (isUnused ? unused : others).push_back({namedNode(*model, text), text});
        }
        show(tr("Rules that match nothing"), "findingsRules", unused);
        show(tr("Plan warnings"), "findingsPlan", others);
        show(tr("Ranges that cost precision"), "findingsRanges", rangeFindings());
    }
    if (m_trace)
        showTrace(count);
    if (model && document.converted()) {
        std::vector<Finding> unlowered, dead;
        for (const Residue& residue : document.converted()->residue) {
            const Node* node = model->tryGet(residue.node);
            auto& list = residue.kind == Residue::Kind::DeadPair ? dead : unlowered;
            list.push_back({QString::fromStdString(node ? node->name : residue.name),
                            QString::fromStdString(residue.reason)});
        }
        const QString stale
            = document.isStale(Stage::Convert) ? tr(" (of other decisions)") : QString();
        show(tr("Computed in float between quantize and dequantize") + stale, "findingsUnlowered",
             unlowered);
        show(tr("Quantize-dequantize pairs without effect") + stale, "findingsDead", dead);
    }
    if (count == 0) {
        auto* item
            = new QTreeWidgetItem(this, {model ? tr("Nothing to report") : QString(), QString()});
        item->setFlags(Qt::NoItemFlags);
        item->setForeground(0, theme().muted);
    }
    if (count != m_count) {
        m_count = count;
        Q_EMIT countChanged(count);
    }
}

void FindingsPanel::addSection(const QString& title, const QString& name,
                               const std::vector<Finding>& findings)
{
    if (findings.empty())
        return;
    auto* section = new QTreeWidgetItem(
        this, {QStringLiteral("%1 · %2").arg(title).arg(findings.size()), QString()});
    section->setData(0, Qt::AccessibleDescriptionRole, name);
    section->setFont(0, uiFont(12, 600));
    section->setFirstColumnSpanned(true);
    section->setFlags(Qt::ItemIsEnabled);
    for (const Finding& finding : findings) {
        const bool isRoot = finding.isModule && finding.node.isEmpty();
        const Node* node = finding.isModule || finding.node.isEmpty()
            ? nullptr
            : m_workspace.document().model()->tryFind(finding.node.toStdString());
        const Facts& facts = m_workspace.facts();
        const QString text = facts.titled(finding.text);
        auto* item = new QTreeWidgetItem(section,
                                         {isRoot     ? tr("(model)")
                                              : node ? facts.title(node->id)
                                                     : finding.node,
                                          text});
        item->setFont(0, monoFont(11));
        item->setFont(1, uiFont(12));
        item->setToolTip(0, item->text(0));
        item->setToolTip(1, text);
        item->setData(0, finding.isModule ? kModuleRole : kNodeRole, finding.node);
    }
    section->setExpanded(true);
}

void FindingsPanel::choose(QTreeWidgetItem* item)
{
    const auto& model = m_workspace.document().model();
    if (const QVariant module = item->data(0, kModuleRole); model && module.isValid()) {
        chooseModule(module.toString().toStdString());
        return;
    }
    const QString name = item->data(0, kNodeRole).toString();
    const Node* node = model && !name.isEmpty() ? model->tryFind(name.toStdString()) : nullptr;
    if (!node)
        return;
    m_workspace.selectNode(node->id);
    Q_EMIT revealWanted();
}

void FindingsPanel::chooseModule(const std::string& path)
{
    if (!m_workspace.foldTree())
        return;
    // A module inside a fusion is drawn as the fused node.
    if (m_workspace.foldTree()->moduleEntry(path) < 0)
        for (const NodePtr& node : m_workspace.document().model()->nodes())
            if (m_workspace.foldTree()->unitOf(node->id) >= 0
                && ModuleTree::isWithin(node->scope.path, path)) {
                m_workspace.selectNode(node->id);
                Q_EMIT revealWanted();
                return;
            }
    // A module without operators is not in the tree: its parent represents it.
    std::string shown = path;
    int entry = m_workspace.foldTree()->moduleEntry(shown);
    while (entry < 0 && !shown.empty()) {
        shown = ModuleTree::parentPath(shown);
        entry = m_workspace.foldTree()->moduleEntry(shown);
    }
    if (entry < 0)
        return;
    m_workspace.selectEntry(entry);
    Q_EMIT revealWanted();
}

} // namespace qs

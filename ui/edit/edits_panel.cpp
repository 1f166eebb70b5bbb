// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/edits_panel.h"

#include "engine/edit/cures/model_cures.h"
#include "engine/edit/edit_titles.h"
#include "ui/edit/graph_editor.h"
#include "ui/graph/style/graph_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTreeWidget>

namespace qs {

EditsPanel::EditsPanel(Workspace& workspace, GraphEditor& editor, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_editor(editor)
    , m_list(new QTreeWidget(this))
    , m_cures(new QTreeWidget(this))
    , m_save(makeButton("editsSave", tr("Save edited model…"),
                        tr("Write the edited float model as a .pt2"), this))
    , m_takeAway(makeButton(
          "editsTakeAway", tr("Remove"),
          tr("Remove the edit or the cure; edits that depend on it are then left out"), this))
    , m_original(new QCheckBox(tr("Measure against the original model"), this))
{
    setObjectName(QStringLiteral("editsPanel"));
    setFocusProxy(m_list);
    setNames(*m_list, "editsList", tr("Edits of the graph"));
    setNames(*m_cures, "curesList", tr("Cures"),
             tr("Decisions that reduce a loss; a cure without a tick is kept but has no effect"));
    m_list->setHeaderLabels({tr("Edit"), tr("State")});
    m_cures->setHeaderLabels({tr("Cure"), tr("State")});
    for (QTreeWidget* list : {m_list, m_cures}) {
        list->setRootIsDecorated(false);
        list->setUniformRowHeights(true);
        list->setFrameShape(QFrame::NoFrame);
        list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
        list->header()->setStretchLastSection(true);
    }
    auto* hint = new QLabel(tr("Everything is decided on the edited model"), this);
    hint->setStyleSheet(inkStyle(theme().muted));
    setNames(*m_original, "editsAgainst", {},
             tr("On: errors of edits and quantization together, at the nodes that both "
                "models have. Off: errors against the edited float model"));
    auto* last = makeHBox(nullptr, {8, 0, 8, 4});
    addItems(*last, {{hint, 1}, m_original, m_save, m_takeAway});
    addItems(*makeVBox(this, {}, 4), {{m_list, 1}, {m_cures, 1}, last});
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::graphEdited, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(&workspace.document(), &Document::planChanged, this, later); // cures that do not fit
    connect(&workspace.document(), &Document::settingsChanged, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    connect(m_original, &QCheckBox::clicked, this, &EditsPanel::againstWanted);
    connect(m_list, &QTreeWidget::itemClicked, this, &EditsPanel::choose);
    connect(m_list, &QTreeWidget::itemActivated, this, &EditsPanel::choose);
    connect(m_cures, &QTreeWidget::itemClicked, this, &EditsPanel::chooseCure);
    connect(m_cures, &QTreeWidget::itemActivated, this, &EditsPanel::chooseCure);
    connect(m_cures, &QTreeWidget::itemChanged, this, [this](QTreeWidgetItem* row, int column) {
        if (column == 0)
            switchCure(m_workspace, std::size_t(m_cures->indexOfTopLevelItem(row)),
                       row->checkState(0) != Qt::Checked);
    });
    // Both lists together have one selected row: the one to remove.
    for (const auto& [list, other] : {std::pair(m_list, m_cures), std::pair(m_cures, m_list)})
        connect(list, &QTreeWidget::itemSelectionChanged, this, [this, list = list, other = other] {
            if (!list->selectedItems().isEmpty())
                other->clearSelection();
            m_takeAway->setEnabled(!m_list->selectedItems().isEmpty()
                                   || !m_cures->selectedItems().isEmpty());
        });
    connect(m_save, &QPushButton::clicked, this, &EditsPanel::saveWanted);
    connect(m_takeAway, &QPushButton::clicked, this, &EditsPanel::takeAway);
    for (QTreeWidget* list : {m_list, m_cures}) {
        auto* key = new QShortcut(QKeySequence::Delete, list, nullptr, nullptr,
                                  Qt::WidgetWithChildrenShortcut);
        connect(key, &QShortcut::activated, m_takeAway, &QPushButton::click);
    }
    refresh();
}

void EditsPanel::refresh()
{
    const Document& document = m_workspace.document();
    m_list->clear();
    const auto& steps = document.recipe().edits;
    std::optional<EditTitles> titles;
    if (document.model() && !steps.empty())
        titles.emplace(*document.edited());
    for (std::size_t i = 0; document.model() && i < steps.size(); ++i) {
        const EditedModelPtr edited = m_editor.editedForm(steps[i].form);
        const bool known = edited && i < edited->outcomes.size();
        const std::string problem = known ? edited->outcomes[i].problem : std::string();
        const QString state = known && !problem.empty() ? tr("left out: %1").arg(toQString(problem))
            : known                                     ? tr("done")
            : steps[i].form == EditForm::Float          ? QStringLiteral("…")
                                                        : tr("done when the model is converted");
        auto* row = new QTreeWidgetItem(
            m_list,
            {QStringLiteral("%1. %2").arg(i + 1).arg(toQString(titles->of(steps[i]))), state});
        for (int column : {0, 1})
            row->setToolTip(column, row->text(column));
        if (!problem.empty())
            row->setForeground(1, theme().danger);
    }
    refreshCures();
    m_takeAway->setEnabled(false);
    m_original->setChecked(document.settings().againstOriginal);
    m_original->setEnabled(document.model() != nullptr);
    m_save->setEnabled(document.model() && changesModel(document.recipe()));
    Q_EMIT countChanged(int(steps.size()) + m_cures->topLevelItemCount());
}

void EditsPanel::refreshCures()
{
    const QSignalBlocker quiet(m_cures); // filling the list must not change decisions
    m_cures->clear();
    for (const CureRow& cure : cureRows(m_workspace.document())) {
        const QString state = cure.off ? tr("off")
            : cure.problem.isEmpty()   ? QString()
                                       : tr("left out: %1").arg(cure.problem);
        auto* row = new QTreeWidgetItem(m_cures, {cure.text, state});
        row->setCheckState(0, cure.off ? Qt::Unchecked : Qt::Checked);
        for (int column : {0, 1})
            row->setToolTip(column, row->text(column));
        if (!cure.off && !cure.problem.isEmpty())
            row->setForeground(1, theme().danger);
    }
    m_cures->setVisible(m_cures->topLevelItemCount() > 0);
}

void EditsPanel::takeAway()
{
    const auto indexIn = [](QTreeWidget* list) {
        const auto chosen = list->selectedItems();
        return chosen.isEmpty() ? -1 : list->indexOfTopLevelItem(chosen.front());
    };
    if (const int edit = indexIn(m_list); edit >= 0)
        m_editor.takeAway(std::size_t(edit));
    else if (const int cure = indexIn(m_cures); cure >= 0)
        takeCureAway(m_workspace, std::size_t(cure));
}

void EditsPanel::chooseCure()
{
    const auto rows = cureRows(m_workspace.document());
    const auto index = std::size_t(m_cures->indexOfTopLevelItem(m_cures->currentItem()));
    if (index < rows.size())
        selectNodes(rows[index].nodes);
}

void EditsPanel::selectNodes(std::vector<NodeId> nodes)
{
    if (m_workspace.selectDrawn(std::move(nodes)))
        Q_EMIT revealWanted();
}

void EditsPanel::choose()
{
    auto* row = m_list->currentItem();
    const auto& steps = m_workspace.document().recipe().edits;
    const auto index = std::size_t(row ? m_list->indexOfTopLevelItem(row) : -1);
    if (!row || index >= steps.size())
        return;
    const EditedModelPtr edited = m_editor.editedForm(steps[index].form);
    if (!edited || index >= edited->outcomes.size())
        return;
    std::vector<NodeId> nodes;
    const Graph& model = *m_workspace.document().model();
    for (const NodeId touched : edited->outcomes[index].touched) {
        const NodeId node = steps[index].form == EditForm::Float
            ? touched
            : floatNodeOf(*edited->graph, &model, touched);
        nodes.push_back(node);
    }
    selectNodes(std::move(nodes));
}

} // namespace qs

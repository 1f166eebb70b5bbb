// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/edits_panel.h"

#include "engine/edit/edit_titles.h"
#include "ui/edit/graph_editor.h"
#include "ui/graph/style/graph_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QTreeWidget>

namespace qs {

EditsPanel::EditsPanel(Workspace& workspace, GraphEditor& editor, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_editor(editor)
    , m_list(new QTreeWidget(this))
    , m_save(makeButton("editsSave", tr("Save edited model…"),
                        tr("Write the edited float model as a .pt2"), this))
    , m_takeAway(makeButton(
          "editsTakeAway", tr("Take away"),
          tr("Take the edit out of the list; edits that need it are then left out"), this))
    , m_original(new QCheckBox(tr("Measure against the original model"), this))
{
    setObjectName(QStringLiteral("editsPanel"));
    setFocusProxy(m_list);
    setNames(*m_list, "editsList", tr("Edits of the graph"));
    m_list->setHeaderLabels({tr("Edit"), tr("State")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    m_list->header()->setStretchLastSection(true);
    auto* hint = new QLabel(tr("Everything is decided on the edited model"), this);
    hint->setStyleSheet(inkStyle(theme().muted));
    setNames(
        *m_original, "editsAgainst", {},
        tr("Errors are those of edits and quantization together, at the nodes that both models "
           "have; else the edited model in float is the measure"));
    auto* last = makeHBox(nullptr, {8, 0, 8, 4});
    addItems(*last, {{hint, 1}, m_original, m_save, m_takeAway});
    addItems(*makeVBox(this, {}, 4), {{m_list, 1}, last});
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::graphEdited, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(&workspace.document(), &Document::settingsChanged, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    connect(m_original, &QCheckBox::clicked, this, &EditsPanel::againstWanted);
    connect(m_list, &QTreeWidget::itemClicked, this, &EditsPanel::choose);
    connect(m_list, &QTreeWidget::itemActivated, this, &EditsPanel::choose);
    connect(m_list, &QTreeWidget::itemSelectionChanged, this,
            [this] { m_takeAway->setEnabled(!m_list->selectedItems().isEmpty()); });
    connect(m_save, &QPushButton::clicked, this, &EditsPanel::saveWanted);
    connect(m_takeAway, &QPushButton::clicked, this, [this] {
        if (auto* row = m_list->currentItem())
            m_editor.takeAway(std::size_t(m_list->indexOfTopLevelItem(row)));
    });
    auto* key = new QShortcut(QKeySequence::Delete, m_list, nullptr, nullptr,
                              Qt::WidgetWithChildrenShortcut);
    connect(key, &QShortcut::activated, m_takeAway, &QPushButton::click);
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
    m_takeAway->setEnabled(false);
    m_original->setChecked(document.settings().againstOriginal);
    m_original->setEnabled(document.model() != nullptr);
    m_save->setEnabled(!steps.empty());
    Q_EMIT countChanged(int(steps.size()));
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
        if (model.tryGet(node) && m_workspace.foldTree()->unitOf(node) >= 0)
            nodes.push_back(node);
    }
    if (nodes.empty())
        return;
    m_workspace.selection().selectNodes(nodes);
    Q_EMIT revealWanted();
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/style_panel.h"

#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableView>

namespace qs {

namespace {

/// Edits a colour by a list of distinguishable colours; another name or code can be typed.
class ColourDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&,
                          const QModelIndex&) const override
    {
        auto* box = new QComboBox(parent);
        setNames(*box, "styleColour", QObject::tr("Colour"));
        box->setEditable(true);
        box->addItem(QString());
        for (const NamedColour& colour : ruleColours()) {
            QPixmap swatch(12, 12);
            swatch.fill(QColor(QLatin1String(colour.code)));
            box->addItem(QIcon(swatch), QObject::tr(colour.name));
        }
        return box;
    }
    void setEditorData(QWidget* editor, const QModelIndex& index) const override
    {
        static_cast<QComboBox*>(editor)->setCurrentText(index.data(Qt::EditRole).toString());
    }
    void setModelData(QWidget* editor, QAbstractItemModel* model,
                      const QModelIndex& index) const override
    {
        model->setData(index, static_cast<QComboBox*>(editor)->currentText(), Qt::EditRole);
    }
};

} // namespace

StylePanel::StylePanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_rules(workspace.styleRules())
    , m_model(new StyleRuleModel(m_rules, this))
    , m_table(new QTableView(this))
    , m_note(new QLabel(this))
{
    setObjectName(QStringLiteral("stylePanel"));
    setFocusProxy(m_table);
    setNames(*m_table, "styleTable", tr("Style rules"));
    m_table->setModel(m_model);
    m_table->setItemDelegateForColumn(StyleRuleModel::Colour, new ColourDelegate(m_table));
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed
                             | QAbstractItemView::AnyKeyPressed);
    m_table->verticalHeader()->setDefaultSectionSize(24);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setSectionResizeMode(StyleRuleModel::Query, QHeaderView::Stretch);
    const int widths[] = {0, 96, 116, 84, 100};
    for (int column = StyleRuleModel::Colour; column <= StyleRuleModel::Matches; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->installEventFilter(this);

    m_add = makeButton("styleAdd", tr("Add"), tr("Add a rule (Insert)"), this);
    m_remove = makeButton("styleRemove", tr("Remove"), tr("Remove the rule (Delete)"), this);
    m_up = makeButton("styleUp", tr("Up"), tr("Move the rule up (Ctrl+Shift+Up)"), this);
    m_down = makeButton("styleDown", tr("Down"), tr("Move the rule down (Ctrl+Shift+Down)"), this);
    m_note->setObjectName(QStringLiteral("styleNote"));
    m_note->setFont(uiFont(11));
    m_note->setWordWrap(true);

    auto* column = makeVBox(this, {12, 6, 12, 6}, 6);
    auto* row = new QHBoxLayout;
    addItems(*row, {m_add, m_remove, m_up, m_down, {m_note, 1}});
    addItems(*column, {row, {m_table, 1}});

    connect(m_add, &QPushButton::clicked, this, [this] { addRule({}); });
    connect(m_remove, &QPushButton::clicked, this, &StylePanel::removeRule);
    connect(m_up, &QPushButton::clicked, this, [this] { moveRule(-1); });
    connect(m_down, &QPushButton::clicked, this, [this] { moveRule(1); });
    connect(&m_rules, &StyleRules::changed, this, &StylePanel::refresh);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &StylePanel::refresh);
    refresh();
}

int StylePanel::currentRow() const
{
    return m_table->currentIndex().row();
}

void StylePanel::refresh()
{
    const int row = currentRow(), rows = m_model->rowCount();
    m_remove->setEnabled(row >= 0);
    m_up->setEnabled(row > 0);
    m_down->setEnabled(row >= 0 && row + 1 < rows);
    QString error;
    if (row >= 0 && row < int(m_rules.rules().size()))
        error = m_rules.error(std::size_t(row));
    m_note->setStyleSheet(inkStyle(error.isEmpty() ? theme().muted : theme().danger));
    m_note->setText(
        !error.isEmpty() ? error
            : rows == 0
            ? tr("A rule gives the nodes that a search finds a colour, a label or less detail. %1")
                  .arg(searchHint())
            : tr("The first rule that finds a node decides. The rules are kept for every model and "
                 "saved with a project."));
}

void StylePanel::addRule(const QString& query)
{
    const auto& colours = ruleColours();
    const auto& colour = colours[std::size_t(m_model->rowCount()) % colours.size()];
    const int row = m_model->add(query, QString::fromLatin1(colour.code));
    const QModelIndex at
        = m_model->index(row, query.isEmpty() ? StyleRuleModel::Query : StyleRuleModel::Label);
    m_table->setCurrentIndex(at);
    m_table->setFocus();
    m_table->edit(at);
    refresh();
}

void StylePanel::removeRule()
{
    if (currentRow() >= 0)
        m_model->remove(currentRow());
    refresh();
}

void StylePanel::moveRule(int by)
{
    if (currentRow() < 0)
        return;
    const int column = m_table->currentIndex().column();
    m_table->setCurrentIndex(m_model->index(m_model->move(currentRow(), by), column));
    refresh();
}

/// True for keys that this panel handles, some of which are shortcuts of the window.
bool StylePanel::isOurKey(int key, Qt::KeyboardModifiers modifiers) const
{
    const auto held = modifiers & ~Qt::KeypadModifier;
    if (held == (Qt::ControlModifier | Qt::ShiftModifier))
        return key == Qt::Key_Up || key == Qt::Key_Down;
    return (held == Qt::NoModifier || held == Qt::ShiftModifier)
        && (key == Qt::Key_Insert || key == Qt::Key_Delete
            || (key >= Qt::Key_Space && key <= Qt::Key_ydiaeresis));
}

bool StylePanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_table)
        return QWidget::eventFilter(watched, event);
    if (event->type() == QEvent::ShortcutOverride) {
        auto* key = static_cast<QKeyEvent*>(event);
        if (isOurKey(key->key(), key->modifiers()))
            event->accept();
        return false;
    }
    if (event->type() != QEvent::KeyPress)
        return false;
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() & Qt::ControlModifier) {
        if (!isOurKey(key->key(), key->modifiers()))
            return false;
        moveRule(key->key() == Qt::Key_Up ? -1 : 1);
        return true;
    }
    if (key->key() == Qt::Key_Insert)
        addRule({});
    else if (key->key() == Qt::Key_Delete)
        removeRule();
    else
        return false;
    return true;
}

} // namespace qs

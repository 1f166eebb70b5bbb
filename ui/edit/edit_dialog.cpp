// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/edit_dialog.h"

#include "engine/edit/way_back.h"
#include "ui/session/text.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>

#include <nlohmann/json.hpp>

namespace qs {

EditDialog::EditDialog(GraphEditor& editor, const QString& title, const QString& ok,
                       QWidget* parent)
    : QDialog(parent)
    , m_editor(editor)
    , m_form(new QFormLayout)
    , m_problem(makeProblemLabel("editProblem", this))
{
    setObjectName(QStringLiteral("editDialog"));
    setWindowTitle(title);
    setMinimumWidth(560);
    m_form->setHorizontalSpacing(14);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_form->setVerticalSpacing(8);
    auto* buttons = new QDialogButtonBox(this);
    m_ok = buttons->addButton(ok, QDialogButtonBox::AcceptRole);
    m_ok->setObjectName(QStringLiteral("editOk"));
    m_ok->setDefault(true);
    buttons->addButton(QDialogButtonBox::Cancel);
    auto* column = makeVBox(this, {20, 16, 20, 14}, 12);
    column->setSizeConstraint(QLayout::SetMinimumSize);
    addItems(*column, {m_form, m_problem});
    column->addStretch(1);
    column->addWidget(buttons);
    connect(m_ok, &QPushButton::clicked, this, &EditDialog::tryIt);
    // The dialog is about the current graph. Its own edit closes it before these signals.
    const Document* document = &editor.document();
    connect(document, &Document::modelChanged, this, &QDialog::reject);
    connect(document, &Document::graphEdited, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void EditDialog::askMember(const QStringList& members, std::function<void(int)> ask)
{
    if (members.size() > 1) {
        auto* box = new QComboBox(this);
        box->setObjectName(QStringLiteral("editMember"));
        box->addItems(members);
        m_form->addRow(tr("&Which"), box);
        connect(box, &QComboBox::currentIndexChanged, this, [this, ask](int member) {
            askAgain(1);
            ask(member);
            adjustSize();
        });
    }
    ask(0);
}

/// Removes the fields from this row on.
void EditDialog::askAgain(int firstRow)
{
    while (m_form->rowCount() > firstRow)
        m_form->removeRow(firstRow);
    m_operator = m_choice = m_input = nullptr;
    m_name = m_file = nullptr;
    m_argumentBox = nullptr;
    m_schema = nullptr;
    m_back = nullptr;
    m_nameIsOurs = true;
    m_given.clear();
    m_arguments.clear();
    m_problem->hide();
    make = {};
    complete = {};
}

void EditDialog::askOperator(const std::string& target, bool fixed,
                             const QHash<QString, QString>& given)
{
    m_given = given;
    m_operator = new QComboBox(this);
    m_operator->setObjectName(QStringLiteral("editOperator"));
    m_operator->setEditable(true);
    m_operator->setInsertPolicy(QComboBox::NoInsert);
    QStringList names;
    if (!fixed)
        for (const std::string& name : operatorTargets())
            names << toQString(name);
    m_operator->addItems(names);
    auto* completer = new QCompleter(names, m_operator);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    m_operator->setCompleter(completer);
    m_operator->setCurrentText(toQString(target));
    m_operator->setEnabled(!fixed);
    m_form->addRow(tr("&Operator"), m_operator);
    m_schema = makeParagraph(QString(), this);
    m_form->addRow(QString(), m_schema);
    m_argumentBox = new QWidget(this);
    m_argumentBox->setLayout(new QFormLayout);
    m_argumentBox->layout()->setContentsMargins(0, 0, 0, 0);
    m_form->addRow(QString(), m_argumentBox);
    connect(m_operator, &QComboBox::currentTextChanged, this, [this] {
        showArguments();
        if (m_name && m_nameIsOurs)
            m_name->setText(toQString(m_editor.freeName(this->target())));
    });
    showArguments();
}

void EditDialog::askChoice(const QString& label, const QStringList& items, bool typed)
{
    m_choice = new QComboBox(this);
    m_choice->setObjectName(QStringLiteral("editChoice"));
    m_choice->addItems(items);
    m_choice->setEditable(typed);
    if (typed) {
        m_choice->setInsertPolicy(QComboBox::NoInsert);
        m_choice->completer()->setFilterMode(Qt::MatchContains);
        m_choice->completer()->setCompletionMode(QCompleter::PopupCompletion);
    }
    m_form->addRow(label, m_choice);
}

void EditDialog::askName(const std::string& name)
{
    m_name = new QLineEdit(toQString(name), this);
    m_name->setObjectName(QStringLiteral("editName"));
    m_form->addRow(tr("&Name"), m_name);
    connect(m_name, &QLineEdit::textEdited, this, [this] { m_nameIsOurs = false; });
}

void EditDialog::askBack()
{
    m_back = new QCheckBox(tr("Insert the &inverse before the readers"), this);
    setNames(*m_back, "editBack", {},
             tr("Adds a dequantize with the same arguments, or a cast to the previous dtype"));
    m_form->addRow(QString(), m_back);
    const auto show = [this] {
        const bool has = hasWayBack(target());
        m_back->setVisible(has);
        m_back->setChecked(has); // readers of a float usually accept only floats
    };
    connect(m_operator, &QComboBox::currentTextChanged, this, show);
    show();
}

bool EditDialog::back() const
{
    return m_back && m_back->isChecked();
}

void EditDialog::choose(int choice)
{
    m_choice->setCurrentIndex(choice);
}

void EditDialog::askInputs(const std::vector<GraphEditor::Reader>& inputs, int proposed)
{
    m_input = new QComboBox(this);
    m_input->setObjectName(QStringLiteral("editInput"));
    for (const auto& input : inputs)
        m_input->addItem(input.text);
    m_input->setCurrentIndex(proposed);
    m_form->addRow(tr("&Input"), m_input);
}

void EditDialog::askFile(const QString& label, const QString& filter)
{
    auto* row = new QWidget(this);
    auto* line = makeHBox(row);
    m_file = new QLineEdit(row);
    m_file->setObjectName(QStringLiteral("editFile"));
    auto* browse = new QPushButton(tr("Browse…"), row);
    addItems(*line, {{m_file, 1}, browse});
    m_form->addRow(label, row);
    connect(browse, &QPushButton::clicked, this, [this, filter] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Choose a file"), {}, filter);
        if (!path.isEmpty())
            m_file->setText(path);
    });
}

int EditDialog::input() const
{
    return m_input->currentIndex();
}

std::string EditDialog::file() const
{
    return m_file->text().trimmed().toStdString();
}

std::string EditDialog::target() const
{
    return m_operator->currentText().trimmed().toStdString();
}

int EditDialog::choice() const
{
    return m_choice->isEditable() ? m_choice->findText(m_choice->currentText())
                                  : m_choice->currentIndex();
}

QString EditDialog::chosenText() const
{
    return m_choice->currentText();
}

std::string EditDialog::name() const
{
    return m_name->text().trimmed().toStdString();
}

void EditDialog::showArguments()
{
    m_arguments.clear();
    auto& form = static_cast<QFormLayout&>(*m_argumentBox->layout());
    while (form.rowCount() > 0)
        form.removeRow(0);
    const auto schema = operatorSchema(target());
    m_schema->setText(schema ? toQString(schema->text) : QString());
    if (!schema)
        return;
    for (const OperatorArgument& argument : schema->arguments) {
        if (argument.isTensor)
            continue; // inputs are wired in the graph
        auto* field = new QLineEdit(m_argumentBox);
        const QString name = toQString(argument.name);
        field->setObjectName(QStringLiteral("argument_") + name);
        field->setAccessibleName(name);
        field->setPlaceholderText(argument.isNeeded() ? tr("needed")
                                                      : toQString(argument.defaultJson));
        field->setText(m_given.value(name));
        form.addRow(QStringLiteral("%1 (%2)").arg(name, toQString(argument.type)), field);
        m_arguments.emplace_back(argument, field);
    }
    m_argumentBox->setVisible(!m_arguments.empty());
    form.activate();
    adjustSize();
}

Result<std::string> EditDialog::arguments() const
{
    auto out = nlohmann::ordered_json::object();
    for (const auto& [argument, field] : m_arguments) {
        const QString text = field->text().trimmed();
        if (text.isEmpty() || text == m_given.value(toQString(argument.name)))
            continue;
        auto value = nlohmann::ordered_json::parse(text.toStdString(), nullptr, false);
        if (value.is_discarded()) // plain text: "tanh", float16
            value = text.toStdString();
        out[argument.name] = std::move(value);
    }
    return out.empty() ? std::string() : out.dump();
}

void EditDialog::tryIt()
{
    auto step = make();
    if (!step) {
        showProblem(toQString(step.error().line()));
        return;
    }
    std::vector<EditStep> steps {*step};
    if (complete) {
        auto all = complete(*step);
        if (!all) {
            showProblem(toQString(all.error().line()));
            return;
        }
        steps = std::move(*all);
    }
    m_ok->setEnabled(false);
    m_editor.attempt(steps, [self = QPointer<EditDialog>(this)](const QString& problem) {
        if (!self)
            return; // the dialog was closed meanwhile
        self->m_ok->setEnabled(true);
        if (problem.isEmpty())
            self->accept();
        else
            self->showProblem(problem);
    });
}

void EditDialog::showProblem(const QString& text)
{
    m_problem->setText(text);
    m_problem->show();
    adjustSize();
}

} // namespace qs

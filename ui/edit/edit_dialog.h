// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/edit/operator_catalog.h"
#include "ui/edit/graph_editor.h"
#endif

#include <QDialog>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace qs {

/// Asks for one edit of the graph: an operator with completion, a field for each of its arguments
/// with type and default, readers, values, a name. If an edit does not fit, shows the reason and
/// stays open. GUI thread only.
class EditDialog : public QDialog
{
    Q_OBJECT

public:
    /// `ok`: text of the button, "Insert".
    EditDialog(GraphEditor& editor, const QString& title, const QString& ok, QWidget* parent);

    /// Asks for one of these operators if there are several; the first is preset. `ask` adds the
    /// other fields for the chosen operator.
    void askMember(const QStringList& members, std::function<void(int member)> ask);
    /// Asks for an operator of the engine, with one field for each argument. `fixed`: the operator
    /// cannot be changed. `given`: the current literals, as JSON by name.
    void askOperator(const std::string& target, bool fixed, const QHash<QString, QString>& given);
    /// Asks for one of these items; `choice()` returns its index. `typed`: other text may be typed.
    void askChoice(const QString& label, const QStringList& items, bool typed = false);
    void choose(int choice);
    void askName(const std::string& name);
    /// Asks whether to insert the inverse (dequantize, cast) before the readers.
    void askBack();
    bool back() const;
    /// Asks for an input of a node; `input()` returns its index. `proposed`: the preset.
    void askInputs(const std::vector<GraphEditor::Reader>& inputs, int proposed);
    void askFile(const QString& label, const QString& filter);

    std::string target() const;
    int choice() const;
    QString chosenText() const;
    std::string name() const;
    int input() const;
    std::string file() const;
    /// Returns the literals that were changed or typed, as a JSON object for recipes.
    Result<std::string> arguments() const;

    /// Returns the edit from the fields; called when the button is pressed.
    std::function<Result<EditStep>()> make;
    /// Expands the edit to several that belong together; may be empty.
    std::function<Result<std::vector<EditStep>>(const EditStep&)> complete;

private:
    void askAgain(int firstRow);
    void showArguments();
    void tryIt();
    void showProblem(const QString& text);

    GraphEditor& m_editor;
    QFormLayout* m_form;
    QComboBox* m_operator = nullptr;
    QComboBox* m_choice = nullptr;
    QComboBox* m_input = nullptr;
    QLineEdit* m_name = nullptr;
    QLineEdit* m_file = nullptr;
    QWidget* m_argumentBox = nullptr;
    QLabel* m_schema = nullptr;
    QLabel* m_problem;
    QPushButton* m_ok;
    QCheckBox* m_back = nullptr;
    bool m_nameIsOurs = true; ///< follows the operator until the user types
    QHash<QString, QString> m_given;
    std::vector<std::pair<OperatorArgument, QLineEdit*>> m_arguments;
};

} // namespace qs

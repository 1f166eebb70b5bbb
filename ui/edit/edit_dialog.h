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
/// with type and default, readers, values, a name. Says why an edit does not fit and stays open.
/// GUI thread only.
class EditDialog : public QDialog
{
    Q_OBJECT

public:
    /// `ok` is the word on the button: "Insert".
    EditDialog(GraphEditor& editor, const QString& title, const QString& ok, QWidget* parent);

    /// Which of these operators is meant, where there are several: the first, unless the user says
    /// otherwise. `ask` asks for the rest, of the one that is meant.
    void askMember(const QStringList& members, std::function<void(int member)> ask);
    /// A box with the operators of the engine and one field for each argument of the chosen one.
    /// `given`: the current literals, as JSON by name.
    void askOperator(const std::string& target, bool fixed, const QHash<QString, QString>& given);
    /// One of these; the index of the choice is `choice()`.
    void askChoice(const QString& label, const QStringList& items, bool typed = false);
    void choose(int choice);
    void askName(const std::string& name);
    /// Whether what the operator makes is led back (dequantized, cast) before it is read.
    void askBack();
    bool back() const;
    /// Which input of a node; the index is `input()`, `proposed` to begin with.
    void askInputs(const std::vector<GraphEditor::Reader>& inputs, int proposed);
    void askFile(const QString& label, const QString& filter);

    std::string target() const;
    int choice() const;
    QString chosenText() const;
    std::string name() const;
    int input() const;
    std::string file() const;
    /// The literals that were changed or typed, as the JSON object that a recipe holds.
    Result<std::string> arguments() const;

    /// Makes the edit from what was asked; called when the button is pressed.
    std::function<Result<EditStep>()> make;
    /// Makes more than one edit of it, which belong together; may be empty.
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
    bool m_nameIsOurs = true; ///< follows the operator until somebody types
    QHash<QString, QString> m_given;
    std::vector<std::pair<OperatorArgument, QLineEdit*>> m_arguments;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/export/forms/code_forms.h"
#include "ui/session/workspace.h"
#endif

#include <QObject>

#include <functional>
#include <optional>

namespace qs {

/// Tries an edit on the open model, or on the shown converted form. If it fits, makes it one
/// undoable change of the recipe; an edited form is then converted at once. GUI thread only.
class GraphEditor : public QObject
{
    Q_OBJECT

public:
    explicit GraphEditor(Workspace& workspace, QObject* parent = nullptr);

    /// Sets the function that returns the shown form. Without it, edits apply to the float model.
    void setShownForm(std::function<CodeForm()> shown) { m_shown = std::move(shown); }
    /// The form that edits apply to.
    EditForm form() const;
    /// The graph of that form; null for a converted form while no conversion is current.
    GraphPtr graph() const;
    /// The operators of the edited converted form that originate from the selected nodes, in its
    /// order; empty without such a form.
    std::vector<NodeId> selectedInForm() const;
    /// The edits of a form of the current conversion; null without edits.
    EditedModelPtr editedForm(EditForm form) const;

    /// Tries the edit on a pool thread and calls `done` with the reason why it does not fit, or ""
    /// if it was made. A newer attempt cancels the older.
    void attempt(const EditStep& step, std::function<void(const QString& problem)> done);
    /// Tries edits that belong together: all are made, or none. `text`: name of the step in the
    /// history; empty: that of the first edit.
    void attempt(std::vector<EditStep> steps, std::function<void(const QString& problem)> done,
                 const QString& text = {});
    /// Removes one edit from the list; later edits that depend on it stay listed as not fitting.
    void takeAway(std::size_t index);

    const Document& document() const { return m_workspace.document(); }
    /// Returns the address of a value of the open model; kind None if it has none.
    ValueAddress addressOf(ValueRef value) const;
    /// Returns "insert aten.relu.default after stem · conv2d", with the current titles.
    QString textOf(const EditStep& step) const;
    /// Returns a name for an added operator that no node and no earlier edit uses.
    std::string freeName(const std::string& target) const;
    /// A reader of a value: its address and its displayed text.
    struct Reader
    {
        ReaderAddress address;
        QString text;
    };
    std::vector<Reader> readersOf(ValueRef value) const;
    /// Returns the node's arguments that read a value.
    std::vector<Reader> inputsOf(NodeId node) const;
    /// Returns the index of the edge's reader among these; 0 if it is not among them.
    int placeOf(const std::vector<Reader>& readers, const Edge& edge) const;

Q_SIGNALS:
    /// The graph has the edit; the nodes that it touched are selected.
    void changed();

private:
    void selectTouched();
    ConvertedPtr conversion() const;
    std::shared_ptr<const Addresses> addresses() const;
    /// Applies the result of tried edits, or reports why they do not fit.
    void take(const Recipe& before, Recipe recipe, const EditedModel& tried, std::size_t count,
              const QString& text, const std::function<void(const QString&)>& done);

    Workspace& m_workspace;
    std::function<CodeForm()> m_shown;
    bool m_selects = false; ///< select the touched nodes in the next graph
    mutable std::pair<GraphPtr, std::shared_ptr<const Addresses>> m_formAddresses; ///< cached
};

} // namespace qs

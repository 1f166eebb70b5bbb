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

/// Tries an edit of the graph on the open model, or on the converted form that is shown, and, where
/// it fits, makes it one undoable change of the recipe. An edited form is converted at once. GUI
/// thread only.
class GraphEditor : public QObject
{
    Q_OBJECT

public:
    explicit GraphEditor(Workspace& workspace, QObject* parent = nullptr);

    /// Where the form that the graph shows is asked for; without it the float model is edited.
    void setShownForm(std::function<CodeForm()> shown) { m_shown = std::move(shown); }
    /// The form that edits are of.
    EditForm form() const;
    /// The graph of that form; null for a converted form while no conversion is current.
    GraphPtr graph() const;
    /// The operators of the converted form that came from the selected nodes, in its order; empty
    /// where there is no such form.
    std::vector<NodeId> selectedInForm() const;
    /// The edits of a form of the current conversion; null without edits.
    EditedModelPtr editedForm(EditForm form) const;

    /// Calls `done` with why the edit does not fit, empty where it was made. The newest try wins.
    void attempt(const EditStep& step, std::function<void(const QString& problem)> done);
    /// The same for edits that belong together: all of them, or none. `text`: what the step of the
    /// history is called; empty: as the first of them.
    void attempt(std::vector<EditStep> steps, std::function<void(const QString& problem)> done,
                 const QString& text = {});
    /// Takes one edit out of the list; edits after it that needed it are left out and say so.
    void takeAway(std::size_t index);

    const Document& document() const { return m_workspace.document(); }
    /// How edits name a value of the open model; kind None for what has no address.
    ValueAddress addressOf(ValueRef value) const;
    /// "insert aten.relu.default after stem · conv2d", of the edits as they are done now.
    QString textOf(const EditStep& step) const;
    /// A name for an added operator that no node and no earlier edit has.
    std::string freeName(const std::string& target) const;
    /// Who reads the value, as edits name it, with a text for people.
    struct Reader
    {
        ReaderAddress address;
        QString text;
    };
    std::vector<Reader> readersOf(ValueRef value) const;
    /// The node's arguments that read a value.
    std::vector<Reader> inputsOf(NodeId node) const;
    /// Which of these the edge is; the first if none is.
    int placeOf(const std::vector<Reader>& readers, const Edge& edge) const;

Q_SIGNALS:
    /// The model's graph has the edit; the nodes that it touched are selected.
    void changed();

private:
    void selectTouched();
    ConvertedPtr conversion() const;
    std::shared_ptr<const Addresses> addresses() const;
    /// What the tried edits did, or why they do not fit.
    void take(const Recipe& before, Recipe recipe, const EditedModel& tried, std::size_t count,
              const QString& text, const std::function<void(const QString&)>& done);

    Workspace& m_workspace;
    std::function<CodeForm()> m_shown;
    bool m_selects = false; ///< with the next graph
    mutable std::pair<GraphPtr, std::shared_ptr<const Addresses>> m_formAddresses; ///< kept
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"

#include <QObject>

#include <functional>

namespace qs {

/// Tries an edit of the graph on the open model and, where it fits, makes it one undoable change of
/// the recipe. GUI thread only.
class GraphEditor : public QObject
{
    Q_OBJECT

public:
    explicit GraphEditor(Workspace& workspace, QObject* parent = nullptr);

    /// Calls `done` with why the edit does not fit, empty where it was made. The newest try wins.
    void attempt(const EditStep& step, std::function<void(const QString& problem)> done);
    /// The same for edits that belong together: all of them, or none. `text`: what the step of the
    /// history is called; empty: as the first of them.
    void attempt(const std::vector<EditStep>& steps,
                 std::function<void(const QString& problem)> done, const QString& text = {});
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

    Workspace& m_workspace;
    bool m_selects = false; ///< with the next graph
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/export/forms/code_forms.h"
#include "ui/session/fold_tree.h"
#endif

#include <QObject>
#include <QString>

#include <array>

namespace qs {

class Workspace;

/// One form of the model as a graph with its hierarchy; null until it is made.
struct GraphForm
{
    GraphPtr graph;
    FoldTreePtr tree;
};

/// The four forms of the model as graphs. The float form is the workspace's. The others are made on
/// request from the current conversion, or from an outline without one. A changed plan or
/// conversion drops them. GUI thread only.
class GraphForms : public QObject
{
    Q_OBJECT

public:
    explicit GraphForms(Workspace& workspace, QObject* parent = nullptr);
    GraphForm form(CodeForm form) const;
    /// Requests the converted forms unless they are made; `changed` follows.
    void want();
    /// True if the converted forms of the open model are not made yet; `want` leads to `changed`.
    bool isPending() const { return !m_made; }
    /// A note on estimated figures or missing parts; else empty.
    const QString& note() const { return m_note; }

Q_SIGNALS:
    void changed();

private:
    void drop();

    Workspace& m_workspace;
    std::array<GraphForm, kCodeForms.size()> m_forms;
    QString m_note;
    bool m_wanted = false, m_made = false;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/export/forms/code_forms.h"
#endif

#include <QWidget>

#include <array>
#include <optional>

class QComboBox;
class QLabel;

namespace qs {

class CodeView;
class ElidedLabel;
class SourceView;
class Workspace;

/// The forms of the model as code, one alone or two side by side: lines that differ are tinted,
/// both scroll together, and the selected nodes' lines are marked in each. Before a conversion,
/// converted forms are outlines of the current plan, with names only. Instead of a second form, the
/// panel can show the Python source of the selected node. GUI thread only.
class CodePanel : public QWidget
{
    Q_OBJECT

public:
    explicit CodePanel(Workspace& workspace, QWidget* parent = nullptr);
    /// Shows a form, and another one beside it.
    void showForms(CodeForm left, std::optional<CodeForm> right);

protected:
    void showEvent(QShowEvent* event) override;

private:
    using Forms = std::array<std::vector<CodeLine>, kCodeForms.size()>;
    struct Printed
    {
        std::shared_ptr<const Forms> forms;
        QString note; ///< on estimated or missing figures
    };

    void link(CodeView& from, CodeView& to);
    void reload();
    void arrange();
    void mark(bool reveal);
    bool needsConversion() const;
    /// The second form; -1 without one.
    int otherForm() const;

    Workspace& m_workspace;
    QComboBox* m_leftForm;
    QComboBox* m_rightForm;
    ElidedLabel* m_note;
    CodeView* m_left;
    CodeView* m_right;
    SourceView* m_source;
    std::shared_ptr<const Forms> m_forms;
    QString m_shownNote;
    bool m_dirty = true;
};

} // namespace qs

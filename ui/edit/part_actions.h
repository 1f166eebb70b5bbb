// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/edit/graph_editor.h"
#endif

#include <QObject>

class QWidget;

namespace qs {

class Actions;
class MessageBar;

/// Extracts the selected operators as a separate model and saves its data: the values of the part's
/// inputs when the whole model runs on the chosen data. The part is then calibrated on them;
/// undoing the extraction restores the earlier data. GUI thread only.
class PartActions : public QObject
{
    Q_OBJECT

public:
    PartActions(Actions& actions, Workspace& workspace, GraphEditor& editor, MessageBar& messages,
                QWidget& window, QObject* parent);

    /// Extracts the selection in the form that edits apply to, which must exist.
    void extract();

private:
    /// Shows the message that the part needs other data, with the button that makes them.
    void offerData();
    void askForFile();
    void saveData(const QString& path);
    void refresh();
    /// After an undo or redo of an extraction: chooses the data of the current model or part.
    void followEdits();

    /// The data of a part, and those that were chosen before.
    struct PartData
    {
        std::vector<EditStep> edits; ///< edits that lead to the part
        std::string part, calibration, comparison;
        bool isChosen = true;
    };

    Actions& m_actions;
    Workspace& m_workspace;
    GraphEditor& m_editor;
    MessageBar& m_messages;
    QWidget& m_window;
    std::vector<PartData> m_partData; ///< of the open model, the latest last
};

} // namespace qs

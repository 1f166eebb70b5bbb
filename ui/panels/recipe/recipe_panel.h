// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QTimer;

namespace qs {

class ElidedLabel;
class RecipeEditor;
class Workspace;

/// The recipe as text, edited both ways: it follows every decision and every undo, and a valid text
/// becomes the recipe as one undoable step. Marks the line of an error. Beside it the
/// history: a click returns to that step. GUI thread only.
class RecipePanel : public QWidget
{
    Q_OBJECT

public:
    explicit RecipePanel(Workspace& workspace, QWidget* parent = nullptr);
    RecipeEditor& editor() { return *m_editor; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void follow();
    void apply();
    void say(const QString& text, bool wrong);

    Workspace& m_workspace;
    RecipeEditor* m_editor;
    ElidedLabel* m_state;
    QTimer* m_typing;
    bool m_following = false; ///< the text is being set, not typed
};

} // namespace qs

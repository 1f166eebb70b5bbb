// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/recipe/recipe_panel.h"

#include "ui/panels/recipe/recipe_editor.h"
#include "ui/session/decisions/recipe_text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QKeyEvent>
#include <QLabel>
#include <QTimer>
#include <QUndoView>

namespace qs {

namespace {

/// Pause after the last key before the text is read.
constexpr int kTypingPauseMs = 250;

} // namespace

RecipePanel::RecipePanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_editor(new RecipeEditor(this))
    , m_state(new ElidedLabel(QString(), uiFont(11.5), this))
    , m_typing(new QTimer(this))
{
    setObjectName(QStringLiteral("recipePanel"));
    setNames(*m_editor, "recipeText", tr("Recipe as text"));
    m_editor->installEventFilter(this);
    setFocusProxy(m_editor);
    m_state->setObjectName(QStringLiteral("recipeState"));
    m_state->setContentsMargins(12, 4, 12, 4);
    setAttribute(Qt::WA_StyledBackground);
    setStyleSheet(
        QStringLiteral("QWidget#recipePanel, QWidget#recipePanel QWidget { background: %1; } "
                       "QListView { padding-left: 8px; }")
            .arg(theme().panel.name()));
    auto* text = new QWidget(this);
    addItems(*makeVBox(text, {}, 0), {{m_editor, 1}, m_state});

    auto* past = new QWidget(this);
    auto* heading = new QLabel(tr("History"), past);
    heading->setFont(uiFont(12, 600));
    heading->setContentsMargins(12, 6, 12, 4);
    auto* history = new QUndoView(&workspace.undoStack(), past);
    setNames(*history, "recipeHistory", tr("History of decisions"),
             tr("Click a step to go back to it; its results come back too"));
    history->setEmptyLabel(tr("as opened"));
    history->setFrameShape(QFrame::NoFrame);
    history->setWordWrap(true);
    history->setSpacing(1);
    history->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    addItems(*makeVBox(past, {}, 0), {heading, {history, 1}});

    auto* halves = makeSplitter("recipeHalves", Qt::Horizontal, this);
    halves->addWidget(text);
    halves->addWidget(past);
    halves->setStretchFactor(0, 3);
    halves->setStretchFactor(1, 1);
    halves->setSizes({660, 260});
    makeHBox(this)->addWidget(halves);

    m_typing->setSingleShot(true);
    m_typing->setInterval(kTypingPauseMs);
    connect(m_typing, &QTimer::timeout, this, &RecipePanel::apply);
    connect(m_editor, &QPlainTextEdit::textChanged, this, [this] {
        if (!m_following)
            m_typing->start();
    });
    connect(&workspace.document(), &Document::recipeChanged, this, &RecipePanel::follow);
    follow();
}

void RecipePanel::say(const QString& text, bool wrong)
{
    m_state->setText(text);
    m_state->setColor(wrong ? theme().danger : theme().muted);
}

/// Shows the document's recipe. A typed text with the same meaning stays unchanged.
void RecipePanel::follow()
{
    const bool open = m_workspace.document().model() != nullptr;
    m_editor->setReadOnly(!open);
    const auto shown = readRecipeText(m_editor->toPlainText());
    if (!open || !shown || !(*shown == m_workspace.document().recipe())) {
        m_following = true;
        m_typing->stop();
        m_editor->setPlainText(
            open ? QString::fromStdString(recipeToJson(m_workspace.document().recipe()))
                 : QString());
        m_following = false;
    }
    m_editor->setProblem(0, {});
    say(tr("Follows every decision; a valid edit is applied at once."), false);
}

void RecipePanel::apply()
{
    const auto typed = readRecipeText(m_editor->toPlainText());
    if (!typed) {
        m_editor->setProblem(typed.error().line, typed.error().message);
        say(QStringLiteral("%1: %2").arg(typed.error().place(), typed.error().message), true);
        return;
    }
    m_editor->setProblem(0, {});
    say(tr("Taken."), false);
    m_workspace.change(tr("edit the recipe's text"), *typed);
}

bool RecipePanel::eventFilter(QObject* watched, QEvent* event)
{
    // Undo applies to the last decision, unless the text has a change that is not yet a decision.
    if (event->type() == QEvent::ShortcutOverride && m_editor->problemLine() == 0
        && !m_typing->isActive()) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->ignore();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace qs

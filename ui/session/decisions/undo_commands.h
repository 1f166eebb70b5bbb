// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/project/decision_history.h"
#endif
#include "ui/session/document.h"

#include <QUndoCommand>

#include <optional>
#include <string>
#include <vector>

class QUndoStack;

namespace qs {

/// The target of an assignment.
struct AssignTarget
{
    RuleKind kind = RuleKind::Node; ///< Node, ModuleName, ObjectType or Global
    std::vector<std::string> keys; ///< node names, a module path, a type name
    friend bool operator==(const AssignTarget&, const AssignTarget&) = default;
};

/// The recipe with the target's rules set to `qconfigName` ("" = keep float), or removed if it is
/// empty. Pure.
Recipe assignQConfig(const Recipe& recipe, const AssignTarget& target,
                     const std::optional<std::string>& qconfigName);

/// One undoable change of the recipe: remembers the recipes before and after. Repeated assignments
/// to the same target merge into one.
class RecipeCommand : public QUndoCommand
{
public:
    RecipeCommand(Document& document, const QString& text, Recipe after);
    /// A change that was made in an earlier session.
    RecipeCommand(Document& document, const QString& text, Recipe before, Recipe after);
    void undo() override;
    void redo() override;
    /// While quiet, undo and redo leave the document alone: the stack is being filled.
    void setQuiet(bool quiet) { m_quiet = quiet; }
    const Recipe& before() const { return m_before; }
    const Recipe& after() const { return m_after; }

protected:
    Document& m_document;
    Recipe m_before;
    Recipe m_after;

private:
    bool m_quiet = false;
};

class AssignCommand : public RecipeCommand
{
public:
    AssignCommand(Document& document, AssignTarget target,
                  const std::optional<std::string>& qconfigName);
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* other) override;

private:
    AssignTarget m_target;
};

/// The steps that the stack can undo and redo, all of them changes of the document's recipe; empty
/// if they do not lead to the current recipe.
DecisionHistory historyOf(const QUndoStack& stack, const Document& document);
/// Replaces the stack's content by the history; the document does not change. No effect if the
/// history does not lead to the current recipe.
void restoreHistory(QUndoStack& stack, Document& document, const DecisionHistory& history);

} // namespace qs

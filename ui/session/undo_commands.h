// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/document.h"

#include <QUndoCommand>

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// What an assignment is aimed at.
struct AssignTarget
{
    RuleKind kind = RuleKind::Node; ///< Node, ModuleName, ObjectType or Global
    std::vector<std::string> keys; ///< node names, a module path, a type name
    friend bool operator==(const AssignTarget&, const AssignTarget&) = default;
};

/// The recipe with the target's rules set to `qconfigName` ("" = keep float), or taken away when
/// empty. Pure.
Recipe assignQConfig(const Recipe& recipe, const AssignTarget& target,
                     const std::optional<std::string>& qconfigName);

/// One undoable change of the recipe: remembers the recipes before and after. Repeated assignments
/// to the same target merge into one.
class RecipeCommand : public QUndoCommand
{
public:
    RecipeCommand(Document& document, const QString& text, Recipe after);
    void undo() override;
    void redo() override;

protected:
    Document& m_document;
    Recipe m_before;
    Recipe m_after;
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

} // namespace qs

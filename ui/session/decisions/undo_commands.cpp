// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/undo_commands.h"

#include "ui/session/facts.h"
#include "ui/session/text.h"

#include <QUndoStack>

#include <algorithm>

namespace qs {

namespace {

/// Up to this many nodes are listed by name.
constexpr int kNamedKeys = 3;

/// "conv1 · conv2d", "conv1 + bn1", "12 nodes", "module layer1", "all Conv2d + ReLU", "the whole
/// model"
QString describe(const Document& document, const AssignTarget& target)
{
    if (target.kind == RuleKind::Global)
        return QObject::tr("the whole model");
    if (target.kind == RuleKind::Node && document.model()) {
        std::vector<NodeId> nodes;
        for (const auto& key : target.keys)
            if (const Node* node = document.model()->tryFind(key))
                nodes.push_back(node->id);
        if (nodes.size() == target.keys.size())
            return titlesOf(document, nodes);
    }
    QStringList names;
    for (const auto& key : target.keys)
        names << toQString(key);
    if (target.kind == RuleKind::ObjectType) {
        for (QString& name : names)
            name = name.section(QLatin1Char('.'), -1);
        return QObject::tr("all %1").arg(names.join(QStringLiteral(" + ")));
    }
    const bool module = target.kind == RuleKind::ModuleName;
    if (names.size() <= kNamedKeys && !module)
        return names.join(QStringLiteral(" + "));
    if (names.size() != 1)
        return QStringLiteral("%1 %2")
            .arg(names.size())
            .arg(module ? QObject::tr("modules") : QObject::tr("nodes"));
    return QObject::tr("module %1").arg(names.front());
}

QString describe(const Document& document, const AssignTarget& target,
                 const std::optional<std::string>& qconfigName)
{
    const QString whom = describe(document, target);
    if (!qconfigName)
        return QObject::tr("clear the rule of %1").arg(whom);
    const QString name
        = qconfigName->empty() ? QStringLiteral("float") : QString::fromStdString(*qconfigName);
    return QObject::tr("set %1 to %2").arg(whom, name);
}

} // namespace

Recipe assignQConfig(const Recipe& recipe, const AssignTarget& target,
                     const std::optional<std::string>& qconfigName)
{
    Recipe out = recipe;
    NamedQConfig wanted;
    if (qconfigName && !qconfigName->empty()) {
        wanted.name = *qconfigName;
        wanted.config = findQConfig(recipe, *qconfigName);
    }
    auto& rules = out.mapping.rules;
    for (const auto& key : target.keys) {
        const auto matches = [&](const Rule& rule) {
            return !rule.fromBackend && rule.kind == target.kind && rule.key == key;
        };
        const auto it = std::find_if(rules.begin(), rules.end(), matches);
        if (!qconfigName) {
            // Edge rules on the node's results count as decisions on the node.
            std::erase_if(rules, [&](const Rule& rule) {
                return matches(rule)
                    || (target.kind == RuleKind::Node && rule.kind == RuleKind::Edge
                        && rule.key == key);
            });
        } else if (it != rules.end()) {
            it->qconfig = wanted;
        } else {
            Rule rule;
            rule.kind = target.kind;
            rule.key = key;
            rule.qconfig = wanted;
            rules.push_back(std::move(rule));
        }
    }
    return out;
}

RecipeCommand::RecipeCommand(Document& document, const QString& text, Recipe after)
    : QUndoCommand(text)
    , m_document(document)
    , m_before(document.recipe())
    , m_after(std::move(after))
{
}

RecipeCommand::RecipeCommand(Document& document, const QString& text, Recipe before, Recipe after)
    : QUndoCommand(text)
    , m_document(document)
    , m_before(std::move(before))
    , m_after(std::move(after))
{
}

void RecipeCommand::undo()
{
    if (!m_quiet)
        m_document.setRecipe(m_before, QObject::tr("undo: %1").arg(text()));
}

void RecipeCommand::redo()
{
    if (!m_quiet)
        m_document.setRecipe(m_after, text());
}

AssignCommand::AssignCommand(Document& document, AssignTarget target,
                             const std::optional<std::string>& qconfigName)
    : RecipeCommand(document, describe(document, target, qconfigName),
                    assignQConfig(document.recipe(), target, qconfigName))
    , m_target(std::move(target))
{
}

bool AssignCommand::mergeWith(const QUndoCommand* other)
{
    const auto* later = dynamic_cast<const AssignCommand*>(other);
    if (!later || later->m_target != m_target)
        return false;
    m_after = later->m_after;
    setText(later->text());
    setObsolete(m_after == m_before);
    return true;
}

DecisionHistory historyOf(const QUndoStack& stack, const Document& document)
{
    DecisionHistory out;
    for (int i = 0; i < stack.count(); ++i) {
        const auto* command = dynamic_cast<const RecipeCommand*>(stack.command(i));
        if (!command)
            return {};
        if (i == 0)
            out.recipes.push_back(command->before());
        out.recipes.push_back(command->after());
        out.texts.push_back(command->text().toStdString());
    }
    out.current = std::size_t(stack.index());
    const bool leadsHere = !out.recipes.empty() && out.recipes[out.current] == document.recipe();
    return leadsHere ? out : DecisionHistory();
}

void restoreHistory(QUndoStack& stack, Document& document, const DecisionHistory& history)
{
    if (history.texts.empty() || !(history.recipes[history.current] == document.recipe()))
        return;
    stack.clear();
    std::vector<RecipeCommand*> commands; // the stack's
    for (std::size_t i = 0; i < history.texts.size(); ++i) {
        commands.push_back(new RecipeCommand(document, toQString(history.texts[i]),
                                             history.recipes[i], history.recipes[i + 1]));
        commands.back()->setQuiet(true);
        stack.push(commands.back());
    }
    stack.setIndex(int(history.current));
    for (RecipeCommand* command : commands)
        command->setQuiet(false);
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/graph_editor.h"

#include "engine/edit/edit_titles.h"
#include "ui/session/text.h"

#include <algorithm>

namespace qs {

namespace {

const QString kTryTag = QStringLiteral("tryEdit");

/// "conv2d" for "aten.conv2d.default".
std::string wordOf(const std::string& target)
{
    const auto first = target.find('.'), last = target.rfind('.');
    return first == last ? target : target.substr(first + 1, last - first - 1);
}

/// One entry for each place where an argument of the node reads a value.
template<class Visit>
void forEachPlace(const Node& node, Visit visit)
{
    for (const NamedArgument& argument : node.args) {
        if (const ValueRef* ref = argument.value.asRef())
            visit(argument.name, -1, *ref);
        const auto* list = argument.value.asList();
        for (std::size_t i = 0; list && i < list->size(); ++i)
            if (const ValueRef* ref = (*list)[i].asRef())
                visit(argument.name, int(i), *ref);
    }
}

QString placeText(const std::string& title, const std::string& argument, int item)
{
    QString text = QStringLiteral("%1, %2").arg(toQString(title), toQString(argument));
    return item < 0 ? text : text + QStringLiteral("[%1]").arg(item);
}

} // namespace

GraphEditor::GraphEditor(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
    connect(&workspace, &Workspace::treeChanged, this, [this] {
        if (m_selects && !m_workspace.document().isGraphStale())
            selectTouched();
    });
}

void GraphEditor::attempt(const EditStep& step, std::function<void(const QString&)> done)
{
    attempt(std::vector<EditStep> {step}, std::move(done));
}

void GraphEditor::attempt(const std::vector<EditStep>& steps,
                          std::function<void(const QString&)> done, const QString& text)
{
    const Document& document = m_workspace.document();
    if (!document.model())
        return;
    Recipe recipe = document.recipe();
    recipe.edits.insert(recipe.edits.end(), steps.begin(), steps.end());
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kTryTag,
        [engine = &m_workspace.pipeline().engine(), file = document.edited()->file,
         recipe](JobContext& job) { return engine->edit(file, recipe, job); },
        this,
        [this, before = document.recipe(), recipe, done = std::move(done), count = steps.size(),
         text = text.isEmpty() ? textOf(steps.front()) : text](Result<EditedModelPtr> tried) {
            if (!tried) {
                if (tried.error().code != ErrorCode::Cancelled)
                    done(toQString(tried.error().line()));
                return;
            }
            const auto& outcomes = (*tried)->outcomes;
            for (std::size_t i = outcomes.size() - count; i < outcomes.size(); ++i)
                if (!outcomes[i].problem.empty()) {
                    done(toQString(outcomes[i].problem));
                    return;
                }
            if (!(m_workspace.document().recipe() == before)) {
                done(tr("another decision was made meanwhile; try again"));
                return;
            }
            m_selects = true;
            m_workspace.change(text, recipe);
            done({});
        });
}

void GraphEditor::takeAway(std::size_t index)
{
    Recipe recipe = m_workspace.document().recipe();
    if (index >= recipe.edits.size())
        return;
    const QString text = textOf(recipe.edits[index]);
    recipe.edits.erase(recipe.edits.begin() + std::ptrdiff_t(index));
    m_workspace.change(tr("take away: %1").arg(text), std::move(recipe));
}

void GraphEditor::selectTouched()
{
    m_selects = false;
    const auto& edited = m_workspace.document().edited();
    if (!edited || edited->outcomes.empty())
        return;
    const auto& tree = m_workspace.foldTree();
    for (const NodeId node : edited->outcomes.back().touched)
        if (m_workspace.document().model()->tryGet(node) && tree && tree->unitOf(node) >= 0) {
            m_workspace.selectNode(node);
            break;
        }
    Q_EMIT changed();
}

ValueAddress GraphEditor::addressOf(ValueRef value) const
{
    const auto& edited = m_workspace.document().edited();
    return edited ? edited->addresses->of(value) : ValueAddress();
}

QString GraphEditor::textOf(const EditStep& step) const
{
    const auto& edited = m_workspace.document().edited();
    return toQString(edited ? EditTitles(*edited).of(step) : editText(step));
}

std::string GraphEditor::freeName(const std::string& target) const
{
    const auto& edited = m_workspace.document().edited();
    const std::string base = wordOf(target);
    for (int number = 0;; ++number) {
        std::string name = number == 0 ? base : base + "_" + std::to_string(number);
        if (!edited || (edited->addresses->isFree(name) && !edited->graph->tryFind(name)))
            return name;
    }
}

std::vector<GraphEditor::Reader> GraphEditor::readersOf(ValueRef value) const
{
    std::vector<Reader> out;
    const Graph& graph = *m_workspace.document().model();
    const NodeTitles titles(graph);
    std::vector<NodeId> seen;
    for (const Use& use : graph.users(value)) {
        const Node& node = graph.get(use.node);
        if (std::find(seen.begin(), seen.end(), node.id) != seen.end())
            continue;
        seen.push_back(node.id);
        if (node.kind == NodeKind::Output) {
            for (std::size_t i = 0; i < node.args.size(); ++i)
                if (const ValueRef* ref = node.args[i].value.asRef(); ref && *ref == value)
                    out.push_back({{{}, {}, int(i)}, tr("output %1 of the model").arg(i)});
            continue;
        }
        forEachPlace(node, [&](const std::string& argument, int item, ValueRef ref) {
            if (ref == value)
                out.push_back({{addressOf({node.id, 0}), argument, item},
                               placeText(titles.of(node), argument, item)});
        });
    }
    return out;
}

std::vector<GraphEditor::Reader> GraphEditor::inputsOf(NodeId id) const
{
    std::vector<Reader> out;
    const Graph& graph = *m_workspace.document().model();
    const NodeTitles titles(graph);
    const Node& node = graph.get(id);
    forEachPlace(node, [&](const std::string& argument, int item, ValueRef ref) {
        out.push_back({{addressOf({id, 0}), argument, item},
                       tr("%1, now %2")
                           .arg(placeText(titles.of(node), argument, item),
                                toQString(valueTitle(titles, graph, ref)))});
    });
    return out;
}

int GraphEditor::placeOf(const std::vector<Reader>& readers, const Edge& edge) const
{
    const Node* reader = document().model()->tryGet(edge.reader.node);
    if (!reader || edge.reader.argument >= reader->args.size())
        return 0;
    const bool isOutput = reader->kind == NodeKind::Output;
    const NamedArgument& argument = reader->args[edge.reader.argument];
    const ValueAddress address = isOutput ? ValueAddress() : addressOf({reader->id, 0});
    const auto* list = argument.value.asList();
    const auto isMeant = [&](const ReaderAddress& place) {
        if (isOutput)
            return place.node == address && place.item == int(edge.reader.argument);
        if (!(place.node == address) || place.argument != argument.name)
            return false;
        const auto* item = list && place.item >= 0 && std::size_t(place.item) < list->size()
            ? (*list)[std::size_t(place.item)].asRef()
            : nullptr;
        return !list || (item && *item == edge.value);
    };
    const auto found = std::find_if(readers.begin(), readers.end(),
                                    [&](const Reader& reader) { return isMeant(reader.address); });
    return found == readers.end() ? 0 : int(found - readers.begin());
}

} // namespace qs

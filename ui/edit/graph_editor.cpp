// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/graph_editor.h"

#include "engine/edit/edit_titles.h"
#include "engine/graph/operators/operator_name.h"
#include "ui/graph/style/graph_style.h"
#include "ui/session/text.h"

#include <algorithm>

namespace qs {

namespace {

const QString kTryTag = QStringLiteral("tryEdit");

/// Calls `visit` for each place where an argument of the node reads a value.
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

EditForm GraphEditor::form() const
{
    switch (m_shown ? m_shown() : CodeForm::Float) {
    case CodeForm::Reference:
        return EditForm::Reference;
    case CodeForm::Lowered:
        return EditForm::Lowered;
    case CodeForm::Float:
    case CodeForm::Prepared:
        break;
    }
    return EditForm::Float;
}

ConvertedPtr GraphEditor::conversion() const
{
    return document().isStale(Stage::Convert) ? nullptr : document().converted();
}

GraphPtr GraphEditor::graph() const
{
    const EditForm of = form();
    if (of == EditForm::Float)
        return document().model();
    const ConvertedPtr converted = conversion();
    if (!converted)
        return nullptr;
    return of == EditForm::Reference ? converted->reference : converted->lowered;
}

std::vector<NodeId> GraphEditor::selectedInForm() const
{
    const GraphPtr shown = graph();
    const Graph* model = document().model().get();
    const Selection& selection = m_workspace.selection();
    std::vector<NodeId> wanted = selection.nodes();
    if (const auto& edge = selection.edge())
        wanted = {edge->value.node, edge->reader.node};
    std::vector<NodeId> found;
    for (const NodePtr& node : shown ? shown->nodes() : std::span<const NodePtr>())
        if (node->isOperator()
            && std::find(wanted.begin(), wanted.end(), floatNodeOf(*shown, model, node->id))
                != wanted.end())
            found.push_back(node->id);
    return found;
}

EditedModelPtr GraphEditor::editedForm(EditForm form) const
{
    if (form == EditForm::Float)
        return document().isGraphStale() ? nullptr : document().edited();
    const ConvertedPtr converted = conversion();
    if (!converted)
        return nullptr;
    return form == EditForm::Reference ? converted->referenceEdits : converted->loweredEdits;
}

std::shared_ptr<const Addresses> GraphEditor::addresses() const
{
    if (form() == EditForm::Float)
        return document().edited() ? document().edited()->addresses : nullptr;
    if (const EditedModelPtr edited = editedForm(form()))
        return edited->addresses;
    const GraphPtr shown = graph();
    if (shown && m_formAddresses.first != shown)
        m_formAddresses = {shown, std::make_shared<const Addresses>(shown)};
    return shown ? m_formAddresses.second : nullptr;
}

void GraphEditor::attempt(const EditStep& step, std::function<void(const QString&)> done)
{
    attempt(std::vector<EditStep> {step}, std::move(done));
}

void GraphEditor::attempt(std::vector<EditStep> steps, std::function<void(const QString&)> done,
                          const QString& text)
{
    const EditForm of = form();
    const GraphPtr shown = graph();
    if (!shown)
        return;
    for (EditStep& step : steps)
        step.form = of;
    Recipe recipe = document().recipe();
    recipe.edits.insert(recipe.edits.end(), steps.begin(), steps.end());
    const EditedModelPtr edited = of == EditForm::Float ? document().edited() : editedForm(of);
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kTryTag,
        [engine = &m_workspace.pipeline().engine(), file = edited ? edited->file : shown, recipe,
         of](JobContext& job) {
            return of == EditForm::Float ? engine->edited(file, recipe, job)
                                         : editModel(file, recipe.edits, job, of);
        },
        this,
        [this, before = document().recipe(), recipe, done = std::move(done), count = steps.size(),
         text = text.isEmpty() ? textOf(steps.front()) : text](Result<EditedModelPtr> tried) {
            if (tried)
                take(before, recipe, **tried, count, text, done);
            else if (tried.error().code != ErrorCode::Cancelled)
                done(m_workspace.facts().titled(toQString(tried.error().line())));
        });
}

void GraphEditor::take(const Recipe& before, Recipe recipe, const EditedModel& tried,
                       std::size_t count, const QString& text,
                       const std::function<void(const QString&)>& done)
{
    const auto& outcomes = tried.outcomes;
    for (std::size_t i = outcomes.size() - count; i < outcomes.size(); ++i)
        if (!outcomes[i].problem.empty()) {
            done(toQString(outcomes[i].problem));
            return;
        }
    if (!(document().recipe() == before)) {
        done(tr("another decision was made meanwhile; try again"));
        return;
    }
    m_selects = tried.form == EditForm::Float;
    m_workspace.change(text, std::move(recipe));
    if (!m_selects)
        m_workspace.pipeline().runUpTo(Stage::Convert); // with the existing calibration
    done({});
}

void GraphEditor::takeAway(std::size_t index)
{
    Recipe recipe = m_workspace.document().recipe();
    if (index >= recipe.edits.size())
        return;
    const QString text = textOf(recipe.edits[index]);
    const bool isConverted
        = recipe.edits[index].form != EditForm::Float && editedForm(recipe.edits[index].form);
    recipe.edits.erase(recipe.edits.begin() + std::ptrdiff_t(index));
    m_workspace.change(tr("take away: %1").arg(text), std::move(recipe));
    if (isConverted)
        m_workspace.pipeline().runUpTo(Stage::Convert);
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
    const auto known = addresses();
    return known ? known->of(value) : ValueAddress();
}

QString GraphEditor::textOf(const EditStep& step) const
{
    const EditedModelPtr edited
        = step.form == EditForm::Float ? document().edited() : editedForm(step.form);
    return toQString(edited ? EditTitles(*edited).of(step) : editText(step));
}

std::string GraphEditor::freeName(const std::string& target) const
{
    const auto known = addresses();
    const GraphPtr shown = graph();
    const std::string base(operatorParts(target).word);
    for (int number = 0;; ++number) {
        std::string name = number == 0 ? base : base + "_" + std::to_string(number);
        if (!known || (known->isFree(name) && !shown->tryFind(name)))
            return name;
    }
}

std::vector<GraphEditor::Reader> GraphEditor::readersOf(ValueRef value) const
{
    std::vector<Reader> out;
    const GraphPtr shown = graph();
    const Graph& graph = *shown;
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
    const GraphPtr shown = graph();
    const Graph& graph = *shown;
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
    const GraphPtr shown = graph();
    const Node* reader = shown->tryGet(edge.reader.node);
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

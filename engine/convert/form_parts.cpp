// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/form_parts.h"

#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/output_names.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

/// Builds a graph of a part preceded by the nodes that compute its inputs.
class WholeBuilder
{
public:
    WholeBuilder(const Extraction& extraction, const Graph& part)
        : m_extraction(extraction)
        , m_whole(*extraction.whole)
        , m_part(part)
        , m_next(std::max(m_whole.parts().nextId, part.parts().nextId))
    {
    }

    GraphPtr build()
    {
        m_edit.modules() = m_part.modules();
        m_edit.setTensors(m_part.tensors());
        findUpstream();
        for (const Node* input : m_whole.inputs())
            m_edit.insert(*input);
        copyWhole(true);
        copyPart(true);
        copyWhole(false);
        for (const auto& [input, value] : m_extraction.inputs)
            if (!isOfWhole(m_part.get(input)))
                m_instead[{input, 0}] = copied(value);
        copyPart(false);
        ModelInfo info = m_part.info();
        info.inputTree = m_whole.info().inputTree;
        m_edit.setInfo(std::move(info));
        return std::make_shared<const Graph>(m_edit.build());
    }

private:
    bool isOfWhole(const Node& input) const
    {
        const Node* same = m_whole.tryGet(input.id);
        return same && same->kind == NodeKind::Input;
    }

    void findUpstream()
    {
        std::vector<NodeId> open;
        for (const auto& [input, value] : m_extraction.inputs)
            open.push_back(value.node);
        while (!open.empty()) {
            const NodeId id = open.back();
            open.pop_back();
            if (m_upstream.insert(id).second)
                for (const NamedArgument& argument : m_whole.get(id).args)
                    forEachRef(argument.value, [&](ValueRef ref) { open.push_back(ref.node); });
        }
    }

    ValueRef copied(ValueRef value) const
    {
        const auto copy = m_copies.find(value.node);
        return copy == m_copies.end() ? value : ValueRef {copy->second, value.index};
    }

    /// Copies nodes under new ids, because an edit may have changed the same operator in the part.
    void copyWhole(bool stored)
    {
        for (const NodePtr& node : m_whole.nodes()) {
            if (!m_upstream.contains(node->id) || node->kind == NodeKind::Input
                || node->isStored() != stored)
                continue;
            Node copy = *node;
            copy.id = NodeId(m_next++);
            copy.origin = {}; // the float node is measured only in the part
            copy.args = mapRefs(copy.args, [this](ValueRef ref) { return copied(ref); });
            m_copies[node->id] = m_edit.insert(std::move(copy));
        }
    }

    void copyPart(bool stored)
    {
        for (const NodePtr& node : m_part.nodes()) {
            if (node->kind == NodeKind::Input || node->isStored() != stored)
                continue;
            Node copy = *node;
            copy.args = mapRefs(copy.args, [this](ValueRef ref) {
                const auto other = m_instead.find(ref);
                return other == m_instead.end() ? ref : other->second;
            });
            m_edit.insert(std::move(copy));
        }
    }

    const Extraction& m_extraction;
    const Graph& m_whole;
    const Graph& m_part;
    std::uint32_t m_next;
    GraphEdit m_edit;
    std::unordered_set<NodeId> m_upstream; ///< of the part's inputs
    std::unordered_map<NodeId, NodeId> m_copies; ///< of the whole's nodes
    std::unordered_map<ValueRef, ValueRef> m_instead; ///< of the part's inputs
};

bool isPart(const EditedModelPtr& edits)
{
    return edits && !edits->extractions.empty();
}

GraphPtr wholeOf(const EditedModel& edits)
{
    GraphPtr graph = edits.graph;
    for (auto it = edits.extractions.rbegin(); it != edits.extractions.rend(); ++it)
        graph = WholeBuilder(*it, *graph).build();
    return graph;
}

} // namespace

ConvertedPtr onModelInputs(const ConvertedPtr& converted)
{
    if (!isPart(converted->referenceEdits) && !isPart(converted->loweredEdits))
        return converted;
    auto out = std::make_shared<ConvertedModel>(*converted);
    if (isPart(converted->referenceEdits))
        out->reference = wholeOf(*converted->referenceEdits);
    if (isPart(converted->loweredEdits))
        out->lowered = wholeOf(*converted->loweredEdits);
    return out;
}

std::vector<int> placesInForm(const EditedModelPtr& edits, std::size_t outputs)
{
    std::vector<int> out(outputs, -1);
    for (std::size_t i = 0; !edits && i < outputs; ++i)
        out[i] = int(i);
    for (std::size_t i = 0; edits && i < edits->outputPlaces.size(); ++i)
        if (const int place = edits->outputPlaces[i]; place >= 0 && std::size_t(place) < outputs)
            out[std::size_t(place)] = int(i);
    return out;
}

std::vector<std::string> formOutputNames(const Graph& model, const EditedModelPtr& edits)
{
    std::vector<std::string> names = outputNames(model);
    if (!edits)
        return names;
    std::vector<std::string> out = outputNames(*edits->graph);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (const int place = edits->outputPlaces.at(i); place >= 0)
            out[i] = names.at(std::size_t(place));
    return madeUnique(std::move(out), {});
}

std::vector<std::string> unpairedOutputs(const Graph& model, const EditedModelPtr& edits)
{
    std::vector<std::string> lines;
    if (!edits)
        return lines;
    const std::string form = std::string(editFormName(edits->form)) + " form";
    const auto names = formOutputNames(model, edits);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (edits->outputPlaces[i] < 0)
            lines.push_back("output '" + names[i] + "' of the " + form
                            + " is not measured: the float model does not return it");
    const auto wanted = outputNames(model);
    const auto places = placesInForm(edits, wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (places[i] < 0)
            lines.push_back("output '" + wanted[i] + "' is not measured in the " + form
                            + ", which does not return it");
    return lines;
}

} // namespace qs

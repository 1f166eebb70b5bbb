// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/model_structure.h"

#include <map>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using PlainJson = nlohmann::json;

PlainJson graphModuleOf(const Graph& graph)
{
    const PlainJson record = PlainJson::parse(graph.info().exportRecord, nullptr, false);
    if (!record.is_object())
        return PlainJson::object();
    return record.value("graph_module", PlainJson::object());
}

NamedTupleFields namedTupleFields(const PlainJson& module)
{
    NamedTupleFields fields;
    const auto defs = module.find("treespec_namedtuple_fields");
    if (defs != module.end() && defs->is_object())
        for (const auto& [name, def] : defs->items())
            fields[name] = def.value("field_names", std::vector<std::string>());
    return fields;
}

/// Returns `forward_arg_names` of the root call: positional ones, then keywords. Empty if not
/// recorded.
std::vector<std::string> recordedNames(const PlainJson& module)
{
    for (const PlainJson& entry : module.value("module_call_graph", PlainJson::array())) {
        if (!entry.value("fqn", std::string("?")).empty() || !entry.contains("signature")
            || !entry["signature"].is_object())
            continue;
        const PlainJson names = entry["signature"].value("forward_arg_names", PlainJson());
        if (names.is_array())
            return names.get<std::vector<std::string>>();
    }
    return {};
}

Argument constantOf(const PlainJson& tagged)
{
    if (!tagged.is_object() || tagged.empty())
        return {};
    const PlainJson& held = tagged.begin().value();
    const std::string& tag = tagged.begin().key();
    if (tag == "as_int")
        return held.get<std::int64_t>();
    if (tag == "as_bool")
        return held.get<bool>();
    if (tag == "as_float" && held.is_number())
        return held.get<double>();
    return tag == "as_string" ? Argument(held.get<std::string>()) : Argument();
}

/// Returns the name inside {"as_tensor": {"name": ...}} or {"as_sym_int": {"as_name": ...}}.
std::string nameIn(const PlainJson& tagged)
{
    if (!tagged.is_object() || tagged.empty() || !tagged.begin().value().is_object())
        return {};
    const PlainJson& held = tagged.begin().value();
    return held.value("name", held.value("as_name", std::string()));
}

InputLeaf leafOf(const Node* node)
{
    return {node, {}, node->target.empty() ? node->name : node->target};
}

/// Returns all arguments in the file's signature, including constants; the graph's inputs if the
/// file has no signature.
std::vector<InputLeaf> inputLeaves(const Graph& graph, const PlainJson& module)
{
    std::vector<InputLeaf> leaves;
    std::map<std::string, const Node*> byName;
    for (const Node* input : graph.inputs())
        byName[input->outputs.at(0).name] = input;
    const PlainJson signature = module.value("signature", PlainJson::object());
    for (const PlainJson& spec : signature.value("input_specs", PlainJson::array())) {
        if (const auto user = spec.find("user_input"); user != spec.end()) {
            const PlainJson arg = user->value("arg", PlainJson());
            const auto it = byName.find(nameIn(arg));
            leaves.push_back(it == byName.end() ? InputLeaf {nullptr, constantOf(arg), {}}
                                                : leafOf(it->second));
        } else if (const auto fixed = spec.find("constant_input"); fixed != spec.end()) {
            leaves.push_back({nullptr, constantOf(fixed->value("value", PlainJson())),
                              fixed->value("name", "")});
        }
    }
    if (leaves.empty())
        for (const Node* input : graph.inputs())
            leaves.push_back(leafOf(input));
    return leaves;
}

/// Returns the names of the call's arguments: a single value has its input's name, a container the
/// file's name or a numbered one.
std::vector<std::string> argumentNames(const ModelStructure& structure,
                                       const std::vector<std::string>& recorded)
{
    const TreeSpec& args = structure.inputs.children[0];
    const TreeSpec& kwargs = structure.inputs.children[1];
    std::vector<std::string> names;
    std::size_t leaf = 0;
    for (const TreeSpec& child : args.children) {
        const std::size_t index = names.size();
        std::string name = "args_" + std::to_string(index);
        if (index < recorded.size())
            name = recorded[index];
        else if (child.kind == TreeSpec::Kind::Leaf && !structure.leaves[leaf].name.empty())
            name = structure.leaves[leaf].name;
        names.push_back(std::move(name));
        leaf += child.leafCount();
    }
    names.insert(names.end(), kwargs.keys.begin(), kwargs.keys.end());
    return names;
}

bool fitsInputs(const TreeSpec& spec, std::size_t count)
{
    return spec.kind == TreeSpec::Kind::Tuple && spec.children.size() == 2
        && spec.children[1].kind == TreeSpec::Kind::Dict && spec.leafCount() == count;
}

} // namespace

Result<ModelStructure> modelStructure(const Graph& graph)
{
    const std::size_t outputCount = graph.output().args.size();
    const PlainJson module = graphModuleOf(graph);
    const NamedTupleFields fields = namedTupleFields(module);
    ModelStructure structure;
    structure.leaves = inputLeaves(graph, module);
    const std::string& inputTree = graph.info().inputTree;
    std::vector<std::string> recorded;
    if (!inputTree.empty()) {
        QS_TRY(structure.inputs, parseTreeSpec(inputTree, fields));
        recorded = recordedNames(module);
    }
    if (!fitsInputs(structure.inputs, structure.leaves.size())) {
        QS_TRY(structure.inputs, parseTreeSpec(flatInputSpec(structure.leaves.size())));
        recorded.clear();
    }
    structure.argumentNames = argumentNames(structure, recorded);
    const std::string& outputTree = graph.info().outputTree;
    if (!outputTree.empty()) {
        QS_TRY(structure.outputs, parseTreeSpec(outputTree, fields));
    }
    if (outputTree.empty() || structure.outputs.leafCount() != outputCount) {
        QS_TRY(structure.outputs, parseTreeSpec(flatOutputSpec(outputCount)));
    }
    return structure;
}

} // namespace qs

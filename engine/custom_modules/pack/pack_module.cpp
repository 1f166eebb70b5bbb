// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/pack/pack_module.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/custom_modules/gather_modules.h"
#include "engine/custom_modules/pack/pack_call.h"
#include "engine/custom_modules/pack/pack_check.h"
#include "engine/graph/operators/engine_ops.h"

#include <algorithm>
#include <functional>

namespace qs {

namespace {

using Source = KernelArgument::Source;

/// Appends the names of the parameters used by a call.
void addParameters(const std::vector<KernelArgument>& arguments, Source source,
                   std::vector<std::string>& names)
{
    for (const KernelArgument& argument : arguments) {
        if (argument.source == source)
            names.push_back(argument.from);
        addParameters(argument.parts, source, names);
    }
}

/// Returns the largest index of an input that a call reads, plus one.
std::size_t inputsRead(const std::vector<KernelArgument>& arguments)
{
    std::size_t count = 0;
    for (const KernelArgument& argument : arguments)
        count = std::max({count, argument.source == Source::Input ? argument.input + 1 : 0,
                          inputsRead(argument.parts)});
    return count;
}

class PackModule : public CustomModule
{
public:
    explicit PackModule(PackModuleSpec spec)
        : m_spec(std::move(spec))
    {
    }

    std::string floatClass() const override { return m_spec.floatClass; }
    std::string observedClass() const override { return m_spec.observedClass; }
    std::string quantizedClass(QuantizationMode mode) const override
    {
        const auto found = m_spec.quantizedClass.find(mode);
        return found == m_spec.quantizedClass.end() ? std::string() : found->second;
    }
    bool takes(QuantizationMode mode) const override { return m_spec.kernels.contains(mode); }
    bool isGathered() const override { return true; }
    bool isWhole(const Node& node) const override { return node.isOp(kModuleTarget); }

    std::optional<Refusal> whyNot(const Node& node, QuantizationMode mode) const override
    {
        const GatheredArguments read(node);
        std::vector<const PackCall*> calls {&m_spec.kernels.at(mode)};
        if (m_spec.observed)
            calls.push_back(&*m_spec.observed);
        for (const PackCall* call : calls) {
            std::vector<std::string> names;
            for (const Source source : {Source::Weight, Source::OfOperator})
                addParameters(call->arguments, source, names);
            for (const std::string& name : names)
                if (!read.parameters.contains(name))
                    return refusal(call->kernel + " needs its parameter " + inQuotes(name)
                                       + ", which this one has not",
                                   suggestName(name, read.parameterNames));
            if (inputsRead(call->arguments) > read.inputs.size())
                return refusal(call->kernel + " needs "
                                   + counted(std::int64_t(inputsRead(call->arguments)), "input")
                                   + ", this one reads " + std::to_string(read.inputs.size()),
                               "");
            if (node.outputs.size() != resultCount(*call))
                return refusal("the model reads "
                                   + counted(std::int64_t(node.outputs.size()), "result")
                                   + " of it, " + call->kernel + " gives "
                                   + std::to_string(resultCount(*call)),
                               "a kernel gives what the model reads of a call, in the order in "
                               "which the module computes it");
        }
        const std::vector<std::string> names = outputs(node);
        if (std::all_of(names.begin(), names.end(), std::mem_fn(&std::string::empty)))
            return refusal("it gives no tensor of floats", "");
        return std::nullopt;
    }
    std::string note(const Graph&, const Node&) const override { return {}; }

    std::vector<ValueRef> carried(const Node& node) const override
    {
        const GatheredArguments read(node);
        std::vector<ValueRef> found;
        for (const std::size_t input : m_spec.carried)
            if (input < read.inputs.size())
                found.push_back(read.inputs[input]);
        return found;
    }
    std::vector<ValueRef> weights(const Graph&, const Node& node) const override
    {
        const GatheredArguments read(node);
        std::vector<std::string> names;
        for (const auto& [mode, call] : m_spec.kernels)
            addParameters(call.arguments, Source::Weight, names);
        std::vector<ValueRef> found;
        for (const std::string& name : names)
            if (const auto ref = read.parameters.find(name); ref != read.parameters.end()
                && std::find(found.begin(), found.end(), ref->second) == found.end())
                found.push_back(ref->second);
        return found;
    }
    std::vector<std::string> interiors(const Node& node) const override
    {
        std::vector<std::string> names = outputs(node);
        std::erase(names, std::string());
        return names;
    }
    std::vector<std::string> outputs(const Node& node) const override
    {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            names.push_back(node.outputs[i].type.mayBeFloat()
                                ? "activation_post_process" + (i ? "_" + std::to_string(i) : "")
                                : std::string());
        return names;
    }

    std::vector<NamedArgument> arguments(const Node& node) const override { return node.args; }
    GraphPtr floatBody(const Graph&, const Node& node, const Seal& seal) const override
    {
        GraphEdit body = m_spec.observed ? observedBody(node, *m_spec.observed)
                                         : GraphEdit(*node.subgraphs.at(0));
        const NodeId output = body.order().back();
        std::vector<NamedArgument> leaving = body.get(output).args;
        const std::vector<std::string> names = outputs(node);
        for (std::size_t i = 0; i < leaving.size() && i < names.size(); ++i)
            if (const ValueRef* value = leaving[i].value.asRef(); value && !names[i].empty())
                leaving[i].value = seal(body, *value, names[i], false);
        body.setArgs(output, std::move(leaving));
        return std::make_shared<const Graph>(body.build());
    }
    std::optional<InteriorGrid> fixedGrid(const std::string&, DType) const override
    {
        return std::nullopt;
    }

    Result<NodeId> lower(ModuleDraft& draft, const Graph&, const Node& node, QuantizationMode mode,
                         const GridOf& gridOf) const override
    {
        const bool isStatic = mode == QuantizationMode::Static;
        std::vector<std::optional<InteriorGrid>> grids;
        for (const std::string& name : outputs(node)) {
            grids.emplace_back();
            if (!isStatic || name.empty())
                continue;
            grids.back() = gridOf(name);
            if (!grids.back())
                return fail(ErrorCode::Unsupported, "its result is not quantized");
        }
        const PackCall& call = m_spec.kernels.at(mode);
        PackCallArguments given(draft, node, m_spec.carried, grids, isStatic);
        QS_TRY(std::vector<NamedArgument> args, given.all(call.arguments));
        QS_TRY(std::string target, callTarget(call.kernel));
        Node made;
        made.name = node.name;
        made.target = std::move(target);
        made.args = std::move(args);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            made.outputs.push_back({"", node.outputs[i].type});
            if (grids[i])
                made.outputs[i].type.dtype = grids[i]->dtype;
        }
        return draft.call(std::move(made));
    }

    Result<double> difference(const ModuleRun& run) const override
    {
        const bool isDynamic = takes(QuantizationMode::Dynamic)
            && callTarget(m_spec.kernels.at(QuantizationMode::Dynamic).kernel).value_or("")
                == run.lowered.target;
        return packDifference(run, isDynamic);
    }

private:
    static Refusal refusal(const std::string& why, std::string remedy)
    {
        return {"it is not quantized as a whole: " + why, std::move(remedy)};
    }

    const PackModuleSpec m_spec;
};

} // namespace

CustomModulePtr makePackModule(PackModuleSpec spec)
{
    return std::make_shared<const PackModule>(std::move(spec));
}

} // namespace qs

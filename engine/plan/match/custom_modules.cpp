// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/custom_modules.h"

#include "engine/base/text.h"
#include "engine/configure/quantization_mode.h"
#include "engine/plan/match/constraint_check.h"
#include "engine/plan/match/lstm_op.h"

#include <algorithm>

namespace qs {

bool isCustomModule(const OpName& name)
{
    return name.isModule() && name.name == "torch.nn.LSTM" && name.base == "lstm";
}

void addCustomModuleMatches(const Graph& graph, const OpNames& names, Matches& matches)
{
    for (std::size_t u = 0; u < matches.units.size(); ++u) {
        const Unit& unit = matches.units[u];
        if (!isCustomModule(names[graph.position(unit.root())])
            || matches.matchOf.count(unit.root()))
            continue;
        const auto lastOf = [&](const Match& match) {
            return graph.position(matches.units[match.units.back()].last());
        };
        const std::size_t position = graph.position(unit.last());
        const auto where = std::find_if(matches.matches.begin(), matches.matches.end(),
                                        [&](const Match& m) { return lastOf(m) > position; });
        const int index = int(where - matches.matches.begin());
        for (auto& [node, match] : matches.matchOf)
            match += match >= index;
        matches.matches.insert(where, Match {{u}, -1});
        matches.matchOf[unit.root()] = index;
    }
}

namespace {

/// Why a qconfig cannot give the values inside a module their parameters; empty where it can.
std::string whyNotInside(const QConfig& qconfig)
{
    for (const auto& [what, spec] :
         {std::pair("activation", &qconfig.activation), std::pair("weight", &qconfig.weight)}) {
        if (const auto found = checkChooses(what, *spec))
            return "it has " + found->text;
        if (spec->kind == ObserverKind::ReuseInput)
            return std::string(what) + " observer 'reuse_input' has nothing to reuse inside it";
    }
    if (qconfig.weight.groupSize > 0)
        return "groups are for the weights of linears";
    return isPerChannel(qconfig.activation.qscheme)
        ? "the values inside have one scale each, not one a channel"
        : "";
}

} // namespace

std::optional<Verdicts> decideCustomModule(const Graph& graph, const Node& node, const OpName& name,
                                           const NamedQConfig& qconfig)
{
    if (!isCustomModule(name) || !qconfig.config)
        return std::nullopt;
    const auto mode = quantizationMode(*qconfig.config);
    if (!mode || *mode != QuantizationMode::Static
        || !isIntegerDType(qconfig.config->activation.dtype))
        return std::nullopt;
    Verdicts out;
    out.qconfig = qconfig;
    if (const std::string why = whyNotInside(*qconfig.config); !why.empty()) {
        out.verdict = Verdict::FloatByConstraint;
        out.reason = "qconfig " + inQuotes(qconfig.name) + " does not fit a whole LSTM: " + why;
        return out;
    }
    if (const std::string why = whyNoStaticLstm(node); !why.empty()) {
        out.verdict = Verdict::FloatByBackend;
        out.reason = "a static qconfig quantizes the whole LSTM, but this one " + why;
        out.remedy.text = "quantize it dynamically: give it qconfig 'default_dynamic_qconfig'";
        return out;
    }
    for (const ValueRef ref : {ValueRef {node.id, 0}, readLstm(node)->input}) {
        const DType dtype = graph.value(ref).type.dtype;
        if (dtype == DType::Unknown || dtype == DType::Float32)
            continue;
        out.verdict = Verdict::ShapeOnly;
        out.reason = inQuotes(graph.value(ref).name) + " is " + std::string(dtypeName(dtype))
            + ", only float32 is quantized";
        return out;
    }
    out.referenceModule = "torch.ao.nn.quantized.LSTM";
    out.decision.quantized = true;
    out.decision.customModule = true;
    out.decision.observeWeight = true;
    out.decision.qconfig = qconfig.config;
    if (startsFromZeros(graph, node))
        out.note = "called without initial states: they are zeros, and observed like any other";
    return out;
}

} // namespace qs

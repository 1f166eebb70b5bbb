// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/observe_modules.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/plan/match/custom_matches.h"

namespace qs {

ValueRef insertObserver(GraphEdit& edit, ValueRef value, ObserverId id)
{
    const Node& producer = edit.get(value.node);
    Node node;
    node.name = "activation_post_process";
    node.target = std::string(kObserveTarget);
    node.args = {{"input", value}};
    node.outputs.push_back({"", producer.outputs.at(value.index).type});
    node.scope = producer.scope;
    node.origin = producer.origin;
    node.observer = id;
    return {edit.insert(std::move(node)), 0};
}

bool observeModules(GraphEdit& edit, const Graph& model, const Plan& plan)
{
    bool changed = false;
    for (const PlannedModule& planned : plannedModules(model, plan)) {
        if (planned.mode != QuantizationMode::Static)
            continue;
        const Node& floating = *planned.node;
        const auto observers = interiorObservers(plan, floating.id);
        const Seal observe = [&](GraphEdit& body, ValueRef value, const std::string& interior,
                                 bool again) {
            const auto found = observers.find(interior);
            return again || found == observers.end() ? value
                                                     : insertObserver(body, value, found->second);
        };
        edit.setArgs(floating.id, planned.module->arguments(edit.get(floating.id)));
        Node& node = edit.change(floating.id);
        node.target = std::string(kModuleTarget);
        node.subgraphs = {planned.module->floatBody(model, floating, observe)};
        changed = true;
    }
    return changed;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/custom_modules/observe_lstm.h"

#include "engine/execute/control/recurrence.h"
#include "engine/execute/interpreter.h"
#include "engine/prepare/custom_modules/lstm_body.h"

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

bool observeLstms(GraphEdit& edit, const Graph& model, const Plan& plan)
{
    static constexpr const char* kNames[] {"input", "hx", "params"};
    bool changed = false;
    for (const MatchGroup& group : plan.groups) {
        if (!group.customModule || !group.quantized)
            continue;
        const Node& lstm = model.get(group.root);
        const auto observers = interiorObservers(plan, group.root);
        FloatLstmArithmetic arithmetic(
            readLstm(lstm)->hasBiases,
            [&](GraphEdit& body, ValueRef value, const std::string& interior, bool again) {
                const auto found = observers.find(interior);
                return again || found == observers.end()
                    ? value
                    : insertObserver(body, value, found->second);
            });
        auto args = edit.get(group.root).args;
        args.resize(std::size(kNames));
        for (std::size_t i = 0; i < args.size(); ++i)
            args[i].name = kNames[i];
        edit.setArgs(group.root, std::move(args));
        Node& node = edit.change(group.root);
        node.target = std::string(kLstmTarget);
        node.subgraphs = {buildLstmBody(model, lstm, arithmetic)};
        changed = true;
    }
    return changed;
}

} // namespace qs

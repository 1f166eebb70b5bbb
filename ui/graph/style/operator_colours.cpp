// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/style/operator_colours.h"

#include "engine/graph/operators/operators.h"
#include "ui/style/theme.h"

namespace qs {

QColor opColor(const std::string& op)
{
    switch (factsOf("aten." + op).family) {
    case OperatorFamily::Convolution:
    case OperatorFamily::TransposedConvolution:
        return 0xff3b7dd8;
    case OperatorFamily::Product:
        return 0xff4a9c8c;
    case OperatorFamily::Norm:
        return 0xff8e7cc3;
    case OperatorFamily::Activation:
        return 0xffc0504d;
    case OperatorFamily::Combining:
        return 0xffd98324;
    case OperatorFamily::Pooling:
        return 0xff5f9e5f;
    default:
        return wordColor(QString::fromStdString(op));
    }
}

DType dtypeOf(const Facts& facts, const Graph& graph, NodeId node, NodeId leader)
{
    if (&graph == facts.model())
        if (const auto* planned = facts.observer(facts.outputObserver(leader)))
            return planned->spec.dtype;
    const Node* made = graph.tryGet(node);
    return made && !made->outputs.empty() ? made->outputs.front().type.dtype : DType::Unknown;
}

} // namespace qs

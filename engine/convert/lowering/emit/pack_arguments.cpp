// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/emit/pack_arguments.h"

#include "engine/base/text.h"
#include "engine/convert/lowering/emit/prepack.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>

namespace qs {

namespace {

class PackArguments
{
public:
    PackArguments(GraphEdit& edit, const KernelMatch& match)
        : m_edit(edit)
        , m_match(match)
    {
    }

    Result<std::vector<NamedArgument>> all(const std::vector<KernelArgument>& rows)
    {
        std::vector<NamedArgument> args;
        for (const KernelArgument& row : rows) {
            NamedArgument made {row.name, {}};
            QS_TRY(made.value, one(row));
            args.push_back(std::move(made));
        }
        return args;
    }

private:
    const Node& root() const { return m_edit.get(m_match.chain.front()); }

    Result<Argument> one(const KernelArgument& row)
    {
        using Source = KernelArgument::Source;
        switch (row.source) {
        case Source::Input:
            if (row.input >= m_match.quantized.size())
                return fail(ErrorCode::Unsupported,
                            "the kernel's input '" + row.name + "' is missing");
            return Argument(m_match.quantized[row.input]);
        case Source::OutputScale:
            return Argument(m_match.scale);
        case Source::OutputZeroPoint:
            return Argument(m_match.zeroPoint);
        case Source::Literal:
            return row.literal;
        case Source::OfOperator:
            return ofOperator(row.from);
        case Source::Weight:
            return weight();
        case Source::Bias:
            return bias();
        case Source::Prepacked:
            break;
        }
        QS_TRY(std::vector<NamedArgument> parts, all(row.parts));
        const Node like = root();
        QS_TRY(const ValueRef packed,
               insertPackingCall(m_edit, like, row.from, std::move(parts), m_match.quantize,
                                 m_match.origin));
        return Argument(packed);
    }

    /// An argument of the operator, or its default. A value that it refers to must be stored.
    Result<Argument> ofOperator(const std::string& name) const
    {
        for (const NodeId id : m_match.chain) {
            Argument value;
            if (effectiveArgument(m_edit.get(id), name, value))
                return value;
        }
        return fail(ErrorCode::Unsupported, root().target + " has no argument '" + name + "'");
    }

    Result<Argument> weight() const
    {
        const auto op = weightedOp(root());
        if (!op)
            return fail(ErrorCode::Unsupported, "the operator has no weight to pack");
        const WeightPath path = weightPath(m_edit, argumentRef(root(), op->weight));
        if (!path.source || !path.layout.empty())
            return fail(ErrorCode::Unsupported, "its weight is not stored as it is used");
        const Node& dequantize = m_edit.get(path.source.node);
        if (!dequantize.isOp(kDequantizeTensor))
            return fail(ErrorCode::Unsupported, "its weight is not quantized");
        return Argument(argumentRef(dequantize, "self"));
    }

    Result<Argument> bias() const
    {
        const auto op = weightedOp(root());
        Argument value;
        if (op && !op->bias.empty())
            effectiveArgument(root(), op->bias, value);
        return value;
    }

    GraphEdit& m_edit;
    const KernelMatch& m_match;
};

} // namespace

Result<std::vector<NamedArgument>> packArguments(GraphEdit& edit, const KernelMatch& match)
{
    return PackArguments(edit, match).all(match.row.arguments);
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/base/torch_guard.h"
#include "engine/execute/node_runner.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"
#include "engine/import/torchscript/normalise/torchscript_types.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace qs {

namespace {

/// Of every dimension: large enough for windows and members that operators ask for.
constexpr std::int64_t kSize = 8;

/// Operators that drop dimensions of size one: their rank follows from sizes alone.
bool ranksBySize(const Node& node)
{
    return node.target.starts_with("aten.squeeze");
}

Result<at::IValue> standIn(const ValueType& type, std::optional<std::int64_t> rank)
{
    switch (type.kind) {
    case ValueKind::SymInt:
        return at::IValue(kSize);
    case ValueKind::SymFloat:
        return at::IValue(1.0);
    case ValueKind::SymBool:
        return at::IValue(true);
    case ValueKind::Tensor:
        if (rank && type.dtype != DType::Unknown)
            return at::IValue(
                at::empty(std::vector<std::int64_t>(std::size_t(*rank), kSize),
                          at::TensorOptions(toScalarType(type.dtype)).device(at::kMeta)));
        break;
    default:
        break;
    }
    return fail(ErrorCode::Unsupported, "its type is not known");
}

/// True where a run tells which element type, layout or memory format is wanted: the numbers that
/// stand for them mean something.
bool choosesByNumber(const Node& node, const c10::FunctionSchema& schema)
{
    return std::any_of(
        schema.arguments().begin(), schema.arguments().end(), [&](const c10::Argument& formal) {
            const auto type = formal.real_type();
            const auto optional = type->cast<c10::OptionalType>();
            const auto kind = (optional ? optional->getElementType() : type)->kind();
            const Argument* given = node.tryArg(formal.name());
            return given && given->asRef()
                && (kind == c10::TypeKind::ScalarTypeType || kind == c10::TypeKind::LayoutType
                    || kind == c10::TypeKind::MemoryFormatType);
        });
}

bool lacksResults(const Node& node, const ResultRanks& ranks)
{
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const ValueType& type = node.outputs[i].type;
        if (type.kind == ValueKind::Tensor && (type.dtype == DType::Unknown || !ranks.counts[i]))
            return true;
    }
    return false;
}

} // namespace

void probeResults(Node& node, ResultRanks& ranks, const TypeOf& typeOf, const RankOf& rankOf)
{
    const auto op = node.target.starts_with("aten.") ? findOperator(node.target) : std::nullopt;
    if (!op || !lacksResults(node, ranks) || isForbiddenOperator(node.target)
        || mutatesArguments(op->schema()) || choosesByNumber(node, op->schema()))
        return;
    const ReadValue read = [&](ValueRef ref) { return standIn(typeOf(ref), rankOf(ref)); };
    const RunSubgraph none = [](std::size_t, std::vector<at::IValue>) {
        return fail(ErrorCode::Unsupported, "bodies are not asked");
    };
    const auto made = guardTorchValue<std::vector<at::IValue>>([&] {
        return runCall(node, prepareCall(node), {at::Device(at::kMeta), read, none});
    });
    if (!made || made->size() != node.outputs.size())
        return;
    for (std::size_t i = 0; i < made->size(); ++i) {
        if (!(*made)[i].isTensor())
            continue;
        const at::Tensor& tensor = (*made)[i].toTensor();
        ValueType& type = node.outputs[i].type;
        if (type.isUntyped())
            type.dtype = fromScalarType(tensor.scalar_type());
        if (!ranks.counts[i] && !ranksBySize(node))
            ranks.counts[i] = tensor.dim();
    }
}

} // namespace qs

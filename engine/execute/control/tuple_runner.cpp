// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/tuple_runner.h"

#include "engine/base/each_of.h"
#include "engine/base/text.h"
#include "engine/graph/operators/tuple_ops.h"

#include <ATen/ops/select.h>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

Result<std::size_t> positionOf(const at::IValue& index, std::size_t size, const char* what)
{
    if (!index.isInt())
        return fail(ErrorCode::BadInput,
                    std::string("the index of a ") + what + " is not an integer");
    const std::int64_t given = index.toInt();
    const std::int64_t at = given < 0 ? given + std::int64_t(size) : given;
    if (at < 0 || at >= std::int64_t(size))
        return fail(ErrorCode::BadInput,
                    "element " + std::to_string(given) + " of a " + what + " of "
                        + std::to_string(size));
    return std::size_t(at);
}

Result<at::IValue> elementOf(const at::IValue& container, const at::IValue& index)
{
    if (container.isTuple()) {
        const auto& elements = container.toTupleRef().elements();
        QS_TRY(const std::size_t at, positionOf(index, elements.size(), "tuple"));
        return elements[at];
    }
    if (container.isList()) {
        const auto elements = container.toListRef();
        QS_TRY(const std::size_t at, positionOf(index, elements.size(), "list"));
        return elements[at];
    }
    if (container.isGenericDict()) {
        const auto dictionary = container.toGenericDict();
        const auto found = dictionary.find(index);
        if (found == dictionary.end())
            return fail(ErrorCode::BadInput, "the dictionary has no such key");
        return found->value();
    }
    if (container.isTensor() && index.isInt())
        return at::IValue(at::select(container.toTensor(), 0, index.toInt()));
    return fail(ErrorCode::BadInput, "a " + container.tagKind() + " has no elements to read");
}

Result<at::IValue> pack(const TupleStructure& structure, const Values& leaves, std::size_t& next)
{
    if (!structure.isTuple) {
        if (next >= leaves.size())
            return fail(ErrorCode::BadInput,
                        "it returned " + counted(leaves.size(), "value")
                            + ", too few for its structure");
        return leaves[next++];
    }
    QS_TRY(Values items, eachOf(structure.items, [&](const TupleStructure& item) {
               return pack(item, leaves, next);
           }));
    return at::IValue(c10::ivalue::Tuple::create(std::move(items)));
}

} // namespace

bool isTupleOp(std::string_view target)
{
    return target == kTupleTarget || target == kGetItemTarget || target == "_operator.getitem";
}

Result<at::IValue> runTupleOp(std::string_view target, const Values& args)
{
    if (target == kTupleTarget) {
        if (args.size() != 1 || !(args[0].isList() || args[0].isTuple()))
            return fail(ErrorCode::BadInput, "a tuple is made of one list");
        if (args[0].isTuple())
            return args[0];
        const auto items = args[0].toListRef();
        return at::IValue(c10::ivalue::Tuple::create(Values(items.begin(), items.end())));
    }
    if (args.size() != 2)
        return fail(ErrorCode::BadInput, "getitem takes a container and an index");
    return elementOf(args[0], args[1]);
}

void flattenLeaves(const at::IValue& value, Values& leaves)
{
    if (value.isTuple())
        for (const at::IValue& item : value.toTupleRef().elements())
            flattenLeaves(item, leaves);
    else if (value.isList())
        for (const at::IValue& item : value.toListRef())
            flattenLeaves(item, leaves);
    else
        leaves.push_back(value);
}

Result<Values> packOutputs(const Node& node, const Values& leaves)
{
    Values out;
    std::size_t next = 0;
    for (const Value& output : node.outputs) {
        TupleStructure structure;
        if (output.type.kind == ValueKind::Tuple) {
            QS_TRY(structure, parseTupleStructure(output.type.className));
        }
        QS_TRY(at::IValue value, pack(structure, leaves, next));
        out.push_back(std::move(value));
    }
    return out;
}

} // namespace qs

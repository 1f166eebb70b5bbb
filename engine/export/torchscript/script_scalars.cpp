// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_ops.h"
#include "engine/graph/operators/number_operators.h"

namespace qs {

namespace {

constexpr std::string_view kSum = "sym_sum"; ///< of a whole list
constexpr std::string_view kSame = "pos";

/// Arguments as they are; a single list (of a sum) is unpacked.
Result<std::vector<ScriptValue*>> arguments(ScriptBuilder& builder, const Node& node)
{
    std::vector<ScriptValue*> values;
    for (const NamedArgument& arg : node.args) {
        const Argument::List one {arg.value};
        const auto* list = arg.value.asList();
        for (const Argument& item : list ? *list : one) {
            QS_TRY(ScriptValue * made, builder.argument(item, c10::NumberType::get()));
            values.push_back(made);
        }
    }
    if (values.empty())
        return fail(ErrorCode::BadInput, "it has no argument");
    return values;
}

} // namespace

bool isScalarNode(const Node& node)
{
    const std::string_view word = numberWord(node.target);
    return word == kSum || word == kSame || !scriptNumberOperator(node.target).empty();
}

Result<ScriptValue*> emitScalar(ScriptBuilder& builder, const Node& node)
{
    QS_TRY(const auto values, arguments(builder, node));
    const std::string_view word = numberWord(node.target);
    if (word == kSame)
        return values.front();
    if (word != kSum)
        return builder.call(std::string(scriptNumberOperator(node.target)), values);
    ScriptValue* sum = values.front();
    for (std::size_t i = 1; i < values.size(); ++i)
        sum = builder.call("aten::add", {sum, values[i]});
    return sum;
}

} // namespace qs

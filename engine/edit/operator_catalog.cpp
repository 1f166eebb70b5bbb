// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/operator_catalog.h"

#include "engine/base/json/nearest_name.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

bool holdsTensor(const c10::Type& type)
{
    if (type.kind() == c10::TypeKind::TensorType)
        return true;
    const auto contained = type.containedTypes();
    return std::any_of(contained.begin(), contained.end(),
                       [](const c10::TypePtr& inner) { return holdsTensor(*inner); });
}

bool isUsable(const c10::FunctionSchema& schema, const std::string& target)
{
    const auto tensorIn = [](const std::vector<c10::Argument>& arguments) {
        return std::any_of(arguments.begin(), arguments.end(),
                           [](const c10::Argument& a) { return holdsTensor(*a.type()); });
    };
    return tensorIn(schema.arguments()) && tensorIn(schema.returns()) && !mutatesArguments(schema)
        && !isForbiddenOperator(target);
}

nlohmann::json jsonOf(const at::IValue& value)
{
    if (value.isBool())
        return value.toBool();
    if (value.isInt())
        return value.toInt();
    if (value.isDouble())
        return value.toDouble();
    if (value.isString())
        return value.toStringRef();
    if (!value.isList())
        return nullptr;
    auto out = nlohmann::json::array();
    for (const at::IValue& item : value.toListRef())
        out.push_back(jsonOf(item));
    return out;
}

} // namespace

const std::vector<std::string>& operatorTargets()
{
    static const std::vector<std::string> targets = [] {
        std::vector<std::string> found;
        for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
            const std::string target = targetOf(name);
            const bool ours = target.starts_with("aten.") || isReferenceStep(target);
            if (!ours || target.starts_with("aten._"))
                continue;
            const auto op = findOperator(target);
            if (op && op->hasSchema() && isUsable(op->schema(), target))
                found.push_back(target);
        }
        std::sort(found.begin(), found.end());
        return found;
    }();
    return targets;
}

Result<OperatorSchema> operatorSchema(const std::string& target)
{
    const auto op = findOperator(target);
    if (!op)
        return fail(
            makeError(ErrorCode::NotFound, "operator '" + target + "' is unknown to this LibTorch")
                .withHint(suggestName(target, operatorTargets(), 6)));
    OperatorSchema out {target, c10::str(op->schema()), {}};
    for (const c10::Argument& slot : op->schema().arguments()) {
        OperatorArgument argument {
            slot.name(), slot.real_type()->str(), {}, holdsTensor(*slot.type())};
        if (slot.default_value())
            argument.defaultJson = jsonOf(*slot.default_value()).dump();
        out.arguments.push_back(std::move(argument));
    }
    return out;
}

} // namespace qs

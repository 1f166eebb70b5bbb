// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/script_ops.h"

#include "engine/execute/op_table.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <map>
#include <mutex>
#include <string>

namespace qs {

namespace {

std::shared_ptr<torch::jit::Operator> findInRegistry(const c10::OperatorName& name)
{
    const auto symbol = c10::Symbol::fromQualString(name.name);
    for (const auto& op : torch::jit::getAllOperatorsFor(symbol))
        if (!op->isC10Op() && op->schema().overload_name() == name.overload_name
            && !op->schema().is_vararg() && op->hasOperation())
            return op;
    return nullptr;
}

at::IValue shallowCopy(const at::IValue& value)
{
    if (value.isList())
        return value.toList().copy();
    if (value.isGenericDict())
        return value.toGenericDict().copy();
    return value;
}

} // namespace

const ScriptOperator* findScriptOperator(std::string_view target)
{
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<ScriptOperator>, std::less<>> known;
    std::lock_guard lock(mutex);
    if (const auto it = known.find(target); it != known.end())
        return it->second.get();
    std::unique_ptr<ScriptOperator> found;
    const c10::OperatorName name = operatorName(target);
    const bool plain = target.starts_with("aten.") || target.starts_with("prim.");
    if (plain && !name.name.empty() && !isForbiddenOperator(target) && !findOperator(target))
        if (const auto op = findInRegistry(name)) // LibTorch's registry keeps it alive
            found = std::make_unique<ScriptOperator>(
                ScriptOperator {&op->schema(), op->getOperation()});
    return known.emplace(std::string(target), std::move(found)).first->second.get();
}

void runScriptOperator(const ScriptOperator& op, torch::jit::Stack& stack)
{
    std::vector<at::IValue> changed;
    for (std::size_t i = 0; i < stack.size(); ++i) {
        const auto& slot = op.schema->arguments()[i];
        const auto kind = slot.type()->kind();
        const bool container = kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType;
        if (container && slot.alias_info() && slot.alias_info()->isWrite()) {
            stack[i] = shallowCopy(stack[i]);
            changed.push_back(stack[i]);
        }
    }
    torch::jit::Operation run = op.run; // its call operator is not const
    run(stack);
    stack.insert(stack.end(), changed.begin(), changed.end());
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_weights.h"

#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/import/pt2/pt2_metadata.h"

#include <torch/csrc/jit/passes/quantization/helper.h>

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

constexpr int kMaxObjectDepth = 64;

/// Converts a path to an identifier for a node's name: "layer_1_weight" for "layer-1.weight".
std::string underscored(std::string path)
{
    std::replace_if(
        path.begin(), path.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; },
        '_');
    return path;
}

std::string joined(const std::string& path, const std::string& name)
{
    return path.empty() ? name : path + "." + name;
}

} // namespace

std::string scriptClassName(const c10::Type& type)
{
    std::string name;
    if (const auto* named = type.castRaw<c10::NamedType>(); named && named->name())
        name = named->name()->qualifiedName();
    constexpr std::string_view kPrefix = "__torch__.";
    name = torch::jit::removeTorchMangle(name);
    return publicClassName(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name);
}

ScriptWeights::ScriptWeights(const ScriptFile& file, std::shared_ptr<const Pt2Archive> archive,
                             ScriptScope& root)
    : m_file(file)
    , m_lazy(std::move(archive))
    , m_root(root)
{
    index(file.root, "");
}

/// Returns the object as an item. A module's path is the first that leads to it.
ScriptItem& ScriptWeights::index(const at::IValue& saved, const std::string& path, int depth)
{
    const auto& object = saved.toObjectRef();
    const auto type = object.type();
    const auto [entry, isNew] = m_objects.try_emplace(&object);
    if (!isNew)
        return entry->second;
    ScriptItem& made = entry->second; // the reference remains valid
    made = makeContainer(ScriptContainer::Kind::Object, type,
                         std::vector<ScriptItem>(type->numAttributes()));
    containerOf(made)->path = path;
    containerOf(made)->saved = saved;
    if (!type->is_module() || depth > kMaxObjectDepth)
        return made;
    m_classes[path] = scriptClassName(*type);
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
        const std::string name = joined(path, type->getAttributeName(i));
        const at::IValue& value = object.slots().at(i);
        const bool isParameter = type->is_parameter(i), isBuffer = type->is_buffer(i);
        if (value.isTensor() && value.toTensor().defined() && (isParameter || isBuffer))
            m_known.try_emplace(keyOf(value.toTensor()), Known {name, isBuffer, isParameter});
        else if (value.isObject() && value.toObjectRef().type()->is_module())
            index(value, name, depth + 1);
    }
    return made;
}

ScriptWeights::TensorKey ScriptWeights::keyOf(const at::Tensor& tensor)
{
    if (!tensor.has_storage())
        return {reinterpret_cast<const c10::StorageImpl*>(tensor.unsafeGetTensorImpl()), 0, {}, {}};
    return {tensor.storage().unsafeGetStorageImpl(), tensor.storage_offset(), tensor.sizes().vec(),
            tensor.strides().vec()};
}

Result<TensorId> ScriptWeights::store(const at::Tensor& tensor)
{
    TensorId& id = m_known[keyOf(tensor)].stored;
    if (id)
        return id;
    TensorStore& store = *tensorsOf(m_root.edit());
    const auto record = tensor.has_storage()
        ? m_file.records.find(tensor.storage().unsafeGetStorageImpl())
        : m_file.records.end();
    if (m_file.lazy && record != m_file.records.end()) {
        QS_TRY(id, m_lazy.add(store, layoutOf(tensor, record->second)));
    } else {
        id = store.add(tensor.detach().set_requires_grad(tensor.requires_grad()));
    }
    return id;
}

ScriptItem ScriptWeights::source(Node node, const std::string& path, ValueType type)
{
    const bool isWeight = node.kind == NodeKind::Parameter;
    node.name = (node.isBuffer ? "b_" : isWeight ? "p_" : "c_") + underscored(path);
    node.target = path;
    node.scope.path = ModuleTree::parentPath(path);
    node.outputs.push_back({"", std::move(type)});
    if (isWeight)
        m_root.edit().modules().addParameter(path);
    return m_made[path] = {&m_root, {m_root.addSource(std::move(node)), 0}, false};
}

Result<ScriptItem> ScriptWeights::tensor(const at::Tensor& tensor, const Known& as)
{
    if (const auto it = m_made.find(as.path); it != m_made.end())
        return ScriptItem(it->second);
    auto id = store(tensor);
    if (!id)
        return fail(
            makeError(ErrorCode::BadInput, "the weight '" + as.path + "' " + id.error().message));
    Node node;
    node.kind = as.isParameter || as.isBuffer ? NodeKind::Parameter : NodeKind::Constant;
    node.tensor = *id;
    node.isBuffer = node.persistentBuffer = as.isBuffer;
    return source(std::move(node), as.path, typeOfTensor(tensor));
}

ScriptItem ScriptWeights::object(const at::IValue& value, const std::string& hint)
{
    const auto& object = value.toObjectRef();
    const auto type = object.type();
    const std::string name = type->name() ? type->name()->qualifiedName() : "";
    if (name.starts_with("__torch__.torch.classes.")) {
        if (const auto it = m_made.find(hint); it != m_made.end())
            return it->second;
        Node node;
        node.kind = NodeKind::Constant;
        node.tensor = tensorsOf(m_root.edit())->add(value);
        ValueType made;
        made.kind = ValueKind::Custom;
        made.className = isForeignClass(name) ? name : type->name()->name();
        return source(std::move(node), hint, std::move(made));
    }
    return index(value, hint);
}

Result<ScriptItem> ScriptWeights::item(const at::IValue& value, const std::string& hint,
                                       const c10::TypePtr& declared, int depth)
{
    if (depth > kMaxObjectDepth)
        return fail(ErrorCode::BadInput, "the file's constants are nested too deeply");
    if (const ScriptItem* held = heldItem(value))
        return *held;
    if (value.isTensor()) {
        if (!value.toTensor().defined())
            return ScriptItem(at::IValue());
        const c10::ClassType& root = *m_file.root.toObjectRef().type();
        if (const Known known = m_known[keyOf(value.toTensor())]; !known.path.empty())
            return tensor(value.toTensor(), known);
        std::string name = hint;
        while (name.empty() || (hint.empty() && root.hasAttribute(name))) // a constant of the code
            name = "lifted_tensor_" + std::to_string(m_nextConstant++);
        return tensor(value.toTensor(), {name});
    }
    if (value.isObject())
        return object(value, hint);
    if (!value.isTuple() && !value.isList() && !value.isGenericDict())
        return ScriptItem(value);
    std::vector<at::IValue> keys;
    const std::vector<at::IValue> parts = partsOf(value, keys);
    const c10::TypePtr type = declared ? unwrapped(declared) : value.type();
    std::vector<ScriptItem> items;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        QS_TRY(ScriptItem part,
               item(parts[i], hint.empty() ? "" : hint + "." + std::to_string(i), partType(type, i),
                    depth + 1));
        items.push_back(std::move(part));
    }
    ScriptItem made = makeContainer(kindOf(*value.type()), type, std::move(items));
    containerOf(made)->keys = std::move(keys);
    return made;
}

Result<ScriptItem> ScriptWeights::attribute(const ScriptContainer& owner, std::size_t slot)
{
    if (!owner.saved.isObject())
        return ScriptItem();
    const auto& object = owner.saved.toObjectRef();
    const auto type = object.type();
    const std::string path = joined(owner.path, type->getAttributeName(slot));
    const at::IValue& value = object.slots().at(slot);
    if (value.isTensor() && value.toTensor().defined() && type->is_module()
        && (type->is_parameter(slot) || type->is_buffer(slot)))
        return tensor(value.toTensor(), {path, type->is_buffer(slot), type->is_parameter(slot)});
    return item(value, path);
}

const SharedCode* ScriptWeights::sharedCode(const ScriptContainer& module) const
{
    const auto found = module.saved.isObject() ? m_file.sharedCode.find(&module.saved.toObjectRef())
                                               : m_file.sharedCode.end();
    return found == m_file.sharedCode.end() ? nullptr : &found->second;
}

std::string ScriptWeights::classAt(const std::string& path) const
{
    const auto it = m_classes.find(path);
    return it == m_classes.end() ? std::string() : it->second;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_weights.h"

#include "engine/execute/torch_types.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/import/pt2/pt2_metadata.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

constexpr int kMaxObjectDepth = 64;

const void* identity(const at::IValue& object)
{
    return &object.toObjectRef();
}

ValueType tensorType(const at::Tensor& tensor)
{
    ValueType type;
    type.dtype = fromScalarType(tensor.scalar_type());
    type.shapeKnown = true;
    for (const std::int64_t size : tensor.sizes())
        type.shape.push_back(Dim::fixed(size));
    return type;
}

/// Names of nodes are identifiers, whatever modules are called: "layer_1_weight" for
/// "layer-1.weight".
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
    constexpr std::string_view kPrefix = "__torch__.", kMangle = "___torch_mangle_";
    if (name.starts_with(kPrefix))
        name = name.substr(kPrefix.size());
    for (auto at = name.find(kMangle); at != std::string::npos; at = name.find(kMangle)) {
        const auto end = name.find('.', at);
        name.erase(at, end == std::string::npos ? std::string::npos : end + 1 - at);
    }
    return publicClassName(name);
}

ScriptWeights::ScriptWeights(const ScriptFile& file, std::shared_ptr<const Pt2Archive> archive,
                             ScriptScope& root)
    : m_file(file)
    , m_lazy(std::move(archive))
    , m_root(root)
{
    index(file.root, "", 0);
}

void ScriptWeights::index(const at::IValue& module, const std::string& path, int depth)
{
    if (depth > kMaxObjectDepth || !m_paths.try_emplace(identity(module), path).second)
        return;
    const auto& object = module.toObjectRef();
    const auto type = object.type();
    m_classes[path] = scriptClassName(*type);
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
        const std::string name = joined(path, type->getAttributeName(i));
        m_attributes.insert(name);
        const at::IValue& value = object.slots().at(i);
        const bool isParameter = type->is_parameter(i), isBuffer = type->is_buffer(i);
        if (value.isTensor() && value.toTensor().defined() && (isParameter || isBuffer))
            m_known.try_emplace(keyOf(value.toTensor()), Known {name, isBuffer, isParameter});
        else if (value.isObject() && value.toObjectRef().type()->is_module())
            index(value, name, depth + 1);
    }
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
    const TensorKey key = keyOf(tensor);
    if (const auto it = m_stored.find(key); it != m_stored.end())
        return it->second;
    TensorStore& store = *m_root.edit().tensors();
    const auto record = tensor.has_storage()
        ? m_file.records.find(tensor.storage().unsafeGetStorageImpl())
        : m_file.records.end();
    TensorId id;
    if (m_file.lazy && record != m_file.records.end()) {
        QS_TRY(
            id,
            m_lazy.add(store,
                       {record->second, fromScalarType(tensor.scalar_type()), tensor.sizes().vec(),
                        tensor.strides().vec(), tensor.storage_offset(), tensor.requires_grad()}));
    } else {
        id = store.add(tensor.detach().set_requires_grad(tensor.requires_grad()));
    }
    m_stored[key] = id;
    return id;
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
    const bool isWeight = as.isParameter || as.isBuffer;
    node.kind = isWeight ? NodeKind::Parameter : NodeKind::Constant;
    node.name = (as.isParameter ? "p_" : as.isBuffer ? "b_" : "c_") + underscored(as.path);
    node.target = as.path;
    node.tensor = *id;
    node.isBuffer = node.persistentBuffer = as.isBuffer;
    node.scope.path = ModuleTree::parentPath(as.path);
    node.outputs.push_back({"", tensorType(tensor)});
    if (isWeight)
        m_root.edit().modules().addParameter(as.path);
    const ScopedRef ref {&m_root, {m_root.addSource(std::move(node)), 0}, false};
    m_made[as.path] = ref;
    return ScriptItem(ref);
}

Result<ScriptItem> ScriptWeights::customObject(const at::IValue& value, const std::string& hint)
{
    if (const auto it = m_made.find(hint); it != m_made.end())
        return ScriptItem(it->second);
    Node node;
    node.kind = NodeKind::Constant;
    node.name = "c_" + underscored(hint);
    node.target = hint;
    node.tensor = m_root.edit().tensors()->add(value);
    node.scope.path = ModuleTree::parentPath(hint);
    Value made;
    made.type.kind = ValueKind::Custom;
    if (value.isObject())
        if (const auto name = value.toObjectRef().type()->name())
            made.type.className
                = isForeignClass(name->qualifiedName()) ? name->qualifiedName() : name->name();
    node.outputs.push_back(std::move(made));
    const ScopedRef ref {&m_root, {m_root.addSource(std::move(node)), 0}, false};
    m_made[hint] = ref;
    return ScriptItem(ref);
}

std::string ScriptWeights::nextConstant()
{
    std::string name;
    do
        name = "lifted_tensor_" + std::to_string(m_nextConstant++);
    while (m_attributes.contains(name));
    return name;
}

ScriptItem ScriptWeights::rootModule()
{
    return *item(m_file.root, "");
}

Result<ScriptItem> ScriptWeights::item(const at::IValue& value, const std::string& hint, int depth)
{
    if (depth > kMaxObjectDepth)
        return fail(ErrorCode::BadInput, "the file's constants are nested too deeply");
    if (value.isTensor()) {
        if (!value.toTensor().defined())
            return ScriptItem(at::IValue());
        const auto known = m_known.find(keyOf(value.toTensor()));
        if (known != m_known.end())
            return tensor(value.toTensor(), known->second);
        return tensor(value.toTensor(), {hint.empty() ? nextConstant() : hint, false, false});
    }
    using Kind = ScriptContainer::Kind;
    if (value.isObject()) {
        const auto& object = value.toObjectRef();
        const auto type = object.type();
        if (type->name() && type->name()->qualifiedName().starts_with("__torch__.torch.classes."))
            return customObject(value, hint);
        if (const auto it = m_objects.find(&object); it != m_objects.end())
            return it->second;
        auto made = std::make_shared<ScriptContainer>();
        made->kind = Kind::Object;
        made->type = type;
        made->items.resize(type->numAttributes());
        const auto path = m_paths.find(&object);
        made->path = path != m_paths.end() ? path->second : hint;
        m_sources[made.get()] = value;
        m_objects[&object] = made;
        return ScriptItem(made);
    }
    const auto list = [&](const auto& elements, Kind kind) -> Result<ScriptItem> {
        std::vector<ScriptItem> items;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            QS_TRY(
                ScriptItem part,
                item(elements[i], hint.empty() ? "" : hint + "." + std::to_string(i), depth + 1));
            items.push_back(std::move(part));
        }
        return makeContainer(kind, value.type(), std::move(items));
    };
    if (value.isTuple()) {
        const auto elements = value.toTupleRef().elements().vec();
        return list(elements, Kind::Tuple);
    }
    if (value.isList()) {
        const auto elements = value.toListRef().vec();
        return list(elements, Kind::List);
    }
    if (value.isGenericDict()) {
        std::vector<at::IValue> keys, values;
        for (const auto& entry : value.toGenericDict()) {
            keys.push_back(entry.key());
            values.push_back(entry.value());
        }
        QS_TRY(ScriptItem made, list(values, Kind::Dict));
        containerOf(made)->keys = std::move(keys);
        return made;
    }
    return ScriptItem(value);
}

Result<ScriptItem> ScriptWeights::attribute(const ScriptContainer& owner, std::size_t slot)
{
    const auto source = m_sources.find(&owner);
    if (source == m_sources.end())
        return ScriptItem();
    const auto& object = source->second.toObjectRef();
    const auto type = object.type();
    const std::string path = joined(owner.path, type->getAttributeName(slot));
    const at::IValue& value = object.slots().at(slot);
    if (value.isTensor() && value.toTensor().defined() && type->is_module()
        && (type->is_parameter(slot) || type->is_buffer(slot)))
        return tensor(value.toTensor(), {path, type->is_buffer(slot), type->is_parameter(slot)});
    return item(value, path);
}

std::string ScriptWeights::classAt(const std::string& path) const
{
    const auto it = m_classes.find(path);
    return it == m_classes.end() ? std::string() : it->second;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/archive/lazy_tensors.h"
#include "engine/import/torchscript/torchscript_file.h"
#include "engine/import/torchscript/walk/torchscript_values.h"

#include <map>
#include <string>
#include <unordered_map>

namespace qs {

/// Returns the public class name: "torch.nn.Conv2d" for
/// "__torch__.torch.nn.modules.conv.___torch_mangle_3.Conv2d".
std::string scriptClassName(const c10::Type& type);

/// The objects and tensors of a TorchScript file as items: modules with their dotted paths,
/// parameters and buffers as nodes created on first use, everything else as constants.
class ScriptWeights
{
public:
    ScriptWeights(const ScriptFile& file, std::shared_ptr<const Pt2Archive> archive,
                  ScriptScope& root);

    /// Converts a value of the file, or a result of LibTorch's operators, to an item. Tensors
    /// become parameters or constants of the root scope. `declared`: its type, if more specific
    /// than the value's. Fails if a tensor exceeds its record or lists are nested too deeply.
    Result<ScriptItem> item(const at::IValue& value, const std::string& hint,
                            const c10::TypePtr& declared = nullptr, int depth = 0);
    /// Returns an object's attribute as stored in the file.
    Result<ScriptItem> attribute(const ScriptContainer& owner, std::size_t slot);
    /// Returns the records of a module's code if an equal class is compiled for it, else null.
    const SharedCode* sharedCode(const ScriptContainer& module) const;
    /// Returns the class at a module path; "" without a module.
    std::string classAt(const std::string& path) const;

private:
    /// Identity of a tensor of the file: equal keys denote the same tensor.
    using TensorKey = std::tuple<const c10::StorageImpl*, std::int64_t, std::vector<std::int64_t>,
                                 std::vector<std::int64_t>>;
    struct Known
    {
        std::string path;
        bool isBuffer = false;
        bool isParameter = false;
        TensorId stored = {}; ///< set on first use
    };

    ScriptItem& index(const at::IValue& saved, const std::string& path, int depth = 0);
    static TensorKey keyOf(const at::Tensor& tensor);
    Result<TensorId> store(const at::Tensor& tensor);
    Result<ScriptItem> tensor(const at::Tensor& tensor, const Known& as);
    ScriptItem object(const at::IValue& value, const std::string& hint);
    /// Adds the node of a weight or constant.
    ScriptItem source(Node node, const std::string& path, ValueType type);

    const ScriptFile& m_file;
    LazyTensors m_lazy;
    ScriptScope& m_root;
    std::map<TensorKey, Known> m_known; ///< parameters and buffers by their first path
    std::map<std::string, ScopedRef> m_made; ///< nodes by path
    std::unordered_map<const void*, ScriptItem> m_objects; ///< by identity
    std::map<std::string, std::string> m_classes; ///< by module path
    int m_nextConstant = 0;
};

} // namespace qs

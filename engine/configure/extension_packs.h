// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/backend/lowering_table.h"
#include "engine/configure/backend_config.h"
#include "engine/configure/quantization_mode.h"
#include "engine/graph/operators/operators.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// One dimension of a result: `size` if `argument` is empty; else `dimension` of that tensor
/// argument, or that argument's number if `dimension` is unset.
struct PackDim
{
    std::int64_t size = 0;
    std::string argument;
    std::optional<std::int64_t> dimension; ///< negative: from the end
};

/// Type of a result of a pack's operator. Its shape is that of an argument (`like`), the result of
/// an operator on the same arguments (`sizes`), or `dims`.
struct PackResult
{
    std::string like;
    std::string sizes; ///< "mypack::window_shape"
    std::vector<PackDim> dims;
    DType dtype = DType::Unknown; ///< Unknown: that of `like`, else of the first tensor argument
};

/// The results of an operator that has no meta kernel.
struct PackShapes
{
    std::string op; ///< "mypack::window"
    std::vector<PackResult> results;
};

/// A call of a pack's operator for one of its custom modules. Sources of arguments: `Input` (the
/// module's inputs in the order in which it reads them), `Weight` (the qint8 weight of the
/// parameter `from`), `OfOperator` (the float parameter `from`), `OutputScale` and
/// `OutputZeroPoint` (of result `input`), `Literal` and `Prepacked`.
struct PackCall
{
    std::string kernel; ///< "mypack::unit_int8"
    std::vector<KernelArgument> arguments;
};

/// A module class that a pack quantizes as one unit (torch.ao's custom modules).
struct PackModuleSpec
{
    std::string floatClass; ///< name in models
    std::string observedClass; ///< name in torch.ao's maps; "" = any
    /// Class of the converted form by mode, as in torch.ao's maps.
    std::map<QuantizationMode, std::string> quantizedClass;
    std::vector<std::size_t> carried; ///< inputs that are never observed
    /// The float implementation; none = the model's own operators.
    std::optional<PackCall> observed;
    std::map<QuantizationMode, PackCall> kernels; ///< kernel call of each supported mode
    std::string pack;
};

/// A class of a pack whose objects hold a tensor to quantize, and the operators that access it.
/// `get` returns the tensor; `replace` returns an object with another tensor. All listed operators
/// are recognized in graphs; new nodes use the first.
struct PackClassSpec
{
    std::string name; ///< "sites::SparseTensor"
    std::string field; ///< "features"
    std::vector<std::string> get; ///< "sites::SparseTensor_features", "sites::features"
    std::vector<std::string> replace; ///< "sites::SparseTensor_replace_feature"
};

/// A TorchScript file whose methods are operators.
struct PackScript
{
    std::string path; ///< absolute
    std::map<std::string, std::string> methods; ///< by operator, "mypack::unit"
};

/// Content of an extension pack's folder, as described by its `extension.json`
/// (resources/help/extensions.md). A value type without LibTorch; reading it loads no library.
struct ExtensionPack
{
    std::string name, description;
    std::string folder; ///< absolute
    std::string torchVersion; ///< version it was built against
    std::vector<std::string> libraries; ///< absolute paths
    /// Absolute paths; loaded if there is a CUDA device, may be missing.
    std::vector<std::string> cudaLibraries;
    std::vector<PackScript> scripts;
    std::string sha256; ///< of its JSON, its libraries and its scripts
    /// Including the kernels and prepack operators of its rows.
    std::vector<OperatorFacts> operators;
    std::vector<PackShapes> shapes;
    std::vector<BackendPattern> patterns; ///< added to every backend after its own patterns
    std::vector<KernelRow> rows; ///< rows of the lowering table, placed before PyTorch's
    std::vector<PackModuleSpec> modules;
    std::vector<PackClassSpec> classes;
};
using ExtensionPackPtr = std::shared_ptr<const ExtensionPack>;

/// Returns PyTorch's qualified name: "mypack::linear" for "mypack.linear".
std::string qualifiedName(std::string target);

/// The packs of this process, in the order in which they were loaded. Any thread.
std::vector<ExtensionPackPtr> loadedPacks();
/// Registers a pack's operators, patterns and rows. Its libraries must be loaded. Any thread.
void addLoadedPack(ExtensionPackPtr pack);

/// Returns a loaded pack's entry for the class of an object
/// ("__torch__.torch.classes.sites.SparseTensor"); nullopt without one.
std::optional<PackClassSpec> adaptedClass(std::string_view className);

/// Returns the backend with the loaded packs' patterns appended; its own entries take precedence.
Backend withPackPatterns(Backend backend);

/// Fails (BadInput) if a named pack is not loaded; the message says what to do.
Result<void> checkPacksLoaded(const std::vector<std::string>& names);

/// Returns one hash over all loaded packs; "" if none. Part of every cache key of a result.
std::string loadedPacksKey();

} // namespace qs

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

/// One dimension of a result: `size`, unless `argument` is there; then that tensor's dimension, or,
/// without one, that argument's number.
struct PackDim
{
    std::int64_t size = 0;
    std::string argument;
    std::optional<std::int64_t> dimension; ///< negative: from the end
};

/// Type of a result of a pack's operator. Its shape is an argument's (`like`), the result of an
/// operator on the same arguments (`sizes`), else `dims`.
struct PackResult
{
    std::string like;
    std::string sizes; ///< "mypack::window_shape"
    std::vector<PackDim> dims;
    DType dtype = DType::Unknown; ///< Unknown: of `like`, else of the first tensor given
};

/// The results of an operator that has no meta kernel.
struct PackShapes
{
    std::string op; ///< "mypack::window"
    std::vector<PackResult> results;
};

/// A call of a pack's operator for one of its custom modules. Arguments come from `Input` (what the
/// module reads, counted in the order in which it does), `Weight` (the qint8 weight of the
/// parameter `from`), `OfOperator` (the float parameter `from`), `OutputScale` and
/// `OutputZeroPoint` (of result `input`), `Literal` and `Prepacked`.
struct PackCall
{
    std::string kernel; ///< "mypack::unit_int8"
    std::vector<KernelArgument> arguments;
};

/// A module class that a pack quantizes as a whole (torch.ao's custom modules).
struct PackModuleSpec
{
    std::string floatClass; ///< as models name it
    std::string observedClass; ///< as torch.ao's maps name it; "" = any
    std::map<QuantizationMode, std::string> quantizedClass; ///< likewise
    std::vector<std::size_t> carried; ///< inputs that are never observed
    std::optional<PackCall> observed; ///< what runs in float; none = the model's own operators
    std::map<QuantizationMode, PackCall> kernels; ///< its modes
    std::string pack;
};

/// A class of a pack's whose objects hold a tensor that is quantized, and how it is reached.
/// `get` gives it, `replace` an object with another in its place: operators of the graph, of which
/// the first of each is the one that graphs are given.
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

/// Content of an extension pack's folder, as its `extension.json` states it
/// (resources/help/extensions.md). A value without LibTorch; reading it loads
/// nothing.
struct ExtensionPack
{
    std::string name, description;
    std::string folder; ///< absolute
    std::string torchVersion; ///< that it was built against
    std::vector<std::string> libraries; ///< absolute paths
    std::vector<std::string> cudaLibraries; ///< likewise; loaded with a device, may be missing
    std::vector<PackScript> scripts;
    std::string sha256; ///< of its JSON, its libraries and its scripts
    std::vector<OperatorFacts> operators; ///< the kernels and prepack operators of its rows too
    std::vector<PackShapes> shapes;
    std::vector<BackendPattern> patterns; ///< in every backend, after the backend's own
    std::vector<KernelRow> rows; ///< of the lowering table, before PyTorch's
    std::vector<PackModuleSpec> modules;
    std::vector<PackClassSpec> classes;
};
using ExtensionPackPtr = std::shared_ptr<const ExtensionPack>;

/// "mypack::linear" for "mypack.linear", as PyTorch names operators.
std::string qualifiedName(std::string target);

/// The packs of this process, in the order in which they were loaded. Any thread.
std::vector<ExtensionPackPtr> loadedPacks();
/// Makes a pack's operators, patterns and rows known. Its libraries are loaded already. Any thread.
void addLoadedPack(ExtensionPackPtr pack);

/// A loaded pack's entry for the class of an object ("__torch__.torch.classes.sites.SparseTensor");
/// nothing without one.
std::optional<PackClassSpec> adaptedClass(std::string_view className);

/// The backend with the loaded packs' patterns after its own; a pattern that it has itself stays
/// the backend's.
Backend withPackPatterns(Backend backend);

/// Fails (BadInput) if a name is not a loaded pack's: the line says what to do.
Result<void> checkPacksLoaded(const std::vector<std::string>& names);

/// One hash of all loaded packs; "" without any. Part of every key of a result.
std::string loadedPacksKey();

} // namespace qs

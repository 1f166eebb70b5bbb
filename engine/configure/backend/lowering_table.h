// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/backend/lowering_names.h"
#include "engine/configure/recipe.h"
#include "engine/graph/attribute.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The quantization parameters of a kernel's result.
enum class KernelOutput : std::uint8_t
{
    Requantized, ///< the kernel takes scale and zero point as arguments
    AsInput, ///< those of its inputs, which must share them
    AsFirst, ///< those of its first input; the kernel requantizes the others
    Fixed ///< constants: `fixedScale` and `fixedZeroPoint`
};

/// The quantized form of a row's operators (requirement 2.7: it follows from the qconfig).
enum class KernelMode : std::uint8_t
{
    Static, ///< between dequantize and quantize
    Dynamic, ///< after a dynamic quantize-dequantize pair, qint8 weight; float result
    DynamicHalf, ///< after casts to float16 and back, weight likewise; float result
    WeightOnly, ///< float input and result, weight with float zero points
    FloatResult ///< after dequantize, qint8 weight; float result (`MatchGroup::floatResult`)
};
/// "static", "dynamic", "float16", "weight only", "float result".
std::string_view kernelModeName(KernelMode mode);

/// The source of one kernel argument in a row of an extension pack.
struct KernelArgument
{
    enum class Source : std::uint8_t
    {
        Input, ///< the quantized activation number `input`
        Weight, ///< the quantized weight
        Bias, ///< the float bias
        OutputScale,
        OutputZeroPoint,
        OfOperator, ///< argument `from` of the float operators
        Literal, ///< `literal`
        Prepacked ///< the result of the operator `from` applied to `parts`
    };
    std::string name; ///< in the kernel's schema
    Source source = Source::Input;
    /// Index of the input; for OutputScale and OutputZeroPoint, of the result.
    std::size_t input = 0;
    std::string from; ///< "factor"; "mypack::linear_prepack"
    Argument literal {};
    std::vector<KernelArgument> parts {};
    friend bool operator==(const KernelArgument&, const KernelArgument&) = default;
};

/// One row: a chain of operators and the kernel that replaces it.
struct KernelRow
{
    std::vector<std::string> pattern; ///< operator kinds in forward order: {"conv2d", "relu"}
    std::string kernel; ///< "quantized::conv2d_relu.new"; kSameKernel; kNoKernel
    KernelOutput output = KernelOutput::Requantized;
    double fixedScale = 0;
    std::int64_t fixedZeroPoint = 0;
    KernelMode mode = KernelMode::Static;
    /// True: the row applies to modules only, as some of torch.ao's rows. False: it also lowers a
    /// matching function that the backend rejected, as torch.ao does.
    bool modulesAlone = false;
    /// For an extension pack's kernel: the sources of its arguments; arguments not listed keep
    /// their defaults. Empty for LibTorch's kernels, whose schemas suffice.
    std::vector<KernelArgument> arguments {};
    std::string pack {}; ///< the extension pack that the row comes from; "" = none
    friend bool operator==(const KernelRow&, const KernelRow&) = default;
};

/// The same operator, run on the quantized tensor.
inline constexpr std::string_view kSameKernel = "same";
/// The operator does nothing at inference: the quantized tensor passes through.
inline constexpr std::string_view kNoKernel = "none";

/// Returns the rows of the loaded extension packs and of torch.ao's native lowering, of all modes,
/// longest pattern first. Needs no LibTorch, so windows may list them.
std::vector<KernelRow> defaultKernelRows();

/// Returns the default rows with the recipe's additions and removals applied: the table of
/// `convertModel`, in the order in which rows are tried. A row is identified by its pattern, whose
/// names may be modules ("torch.nn.Conv2d"), reference modules
/// ("torch.ao.nn.quantized.reference.Linear"), fused modules ("torch.ao.nn.intrinsic.ConvReLU2d",
/// "nni.ConvReLU2d"), functions, methods or ATen operators. A removal deletes the pattern's rows of
/// all modes, or only the dynamic ones if a name is from a dynamic namespace. An added row replaces
/// the one of the same pattern and mode; its kernel is a LibTorch operator, "same", "none", or a
/// quantized class ("torch.ao.nn.intrinsic.quantized.ConvReLU2d"), which stands for that class's
/// default row. Errors (BadInput): an added row without pattern or kernel, with a name unknown to
/// PyTorch, or with a class that has no row. `kernelTarget` checks that LibTorch has the kernel.
Result<std::vector<KernelRow>> kernelRows(const Recipe& recipe);

/// Returns one line for each removal of the recipe that matches no row, with the nearest name or
/// pattern.
std::vector<std::string> loweringWarnings(const Recipe& recipe);

} // namespace qs

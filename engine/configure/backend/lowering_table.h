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
    Requantized, ///< the kernel takes the scale and zero point
    AsInput, ///< those of its inputs, which share them
    AsFirst, ///< those of its first input; the kernel requantizes the others
    Fixed ///< its own, in `fixedScale` and `fixedZeroPoint`
};

/// The form of a row's operators (requirement 2.7: the mode follows from the qconfig).
enum class KernelMode : std::uint8_t
{
    Static, ///< between dequantize and quantize
    Dynamic, ///< after a dynamic quantize-dequantize pair, weight in qint8; gives float
    DynamicHalf, ///< after a pair of casts through float16, weight likewise; gives float
    WeightOnly, ///< float in and out, the weight with real zero points
    FloatResult ///< after dequantize, weight in qint8; gives float (`MatchGroup::floatResult`)
};
/// "static", "dynamic", "float16", "weight only", "float result".
std::string_view kernelModeName(KernelMode mode);

/// The source of one argument of a kernel, as the row of an extension pack states it.
struct KernelArgument
{
    enum class Source : std::uint8_t
    {
        Input, ///< the quantized activation number `input`
        Weight, ///< the quantized weight
        Bias, ///< the float bias
        OutputScale,
        OutputZeroPoint,
        OfOperator, ///< the float operators' argument `from`
        Literal, ///< `literal`
        Prepacked ///< the result of the operator `from` on `parts`
    };
    std::string name; ///< in the kernel's schema
    Source source = Source::Input;
    std::size_t input = 0; ///< of OutputScale and OutputZeroPoint the result's number
    std::string from; ///< "factor"; "mypack::linear_prepack"
    Argument literal {};
    std::vector<KernelArgument> parts {};
    friend bool operator==(const KernelArgument&, const KernelArgument&) = default;
};

/// One row: a chain of operators and the kernel it becomes.
struct KernelRow
{
    std::vector<std::string> pattern; ///< operator kinds in forward order: {"conv2d", "relu"}
    std::string kernel; ///< "quantized::conv2d_relu.new"; kSameKernel; kNoKernel
    KernelOutput output = KernelOutput::Requantized;
    double fixedScale = 0;
    std::int64_t fixedZeroPoint = 0;
    KernelMode mode = KernelMode::Static;
    /// A function that the backend refused is lowered nevertheless if the row fits, as in torch.ao;
    /// some of torch.ao's rows are of modules alone (true).
    bool modulesAlone = false;
    /// For an extension pack's kernel: the sources of its arguments; others keep their defaults.
    /// Empty for LibTorch's kernels, whose schemas suffice.
    std::vector<KernelArgument> arguments {};
    std::string pack {}; ///< the extension pack that the row comes from; "" = none
    friend bool operator==(const KernelRow&, const KernelRow&) = default;
};

/// The same operator, run on the quantized tensor.
inline constexpr std::string_view kSameKernel = "same";
/// The operator does nothing at inference: the quantized tensor passes through.
inline constexpr std::string_view kNoKernel = "none";

/// The rows of the loaded extension packs and of torch.ao's native lowering, longest pattern first;
/// static, dynamic and weight-only.
/// Plain data without LibTorch, so that windows may list them.
std::vector<KernelRow> defaultKernelRows();

/// The default rows with the recipe's additions and removals applied: the table of `convertModel`,
/// in the order in which rows are tried. A row is found by its pattern, whose names may be modules
/// ("torch.nn.Conv2d"), reference modules ("torch.ao.nn.quantized.reference.Linear"), fused modules
/// ("torch.ao.nn.intrinsic.ConvReLU2d", "nni.ConvReLU2d"), functions, methods or ATen operators. A
/// removal takes the pattern's rows of all modes, or of the dynamic ones where a name is from a
/// dynamic namespace. An added row replaces the one of the same pattern and mode; its kernel is a
/// LibTorch operator, "same", "none", or a quantized class
/// ("torch.ao.nn.intrinsic.quantized.ConvReLU2d"), which stands for that class's default row.
/// Errors (BadInput): an added row without pattern or kernel, with a name that PyTorch does not
/// have, or with a class that stands for no row. `kernelTarget` checks that LibTorch has the
/// kernel.
Result<std::vector<KernelRow>> kernelRows(const Recipe& recipe);

/// One line for each removal of the recipe that finds no row, with the nearest name or pattern.
std::vector<std::string> loweringWarnings(const Recipe& recipe);

} // namespace qs

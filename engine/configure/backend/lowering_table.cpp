// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_table.h"

#include "engine/base/text.h"
#include "engine/configure/backend/lowering_names.h"
#include "engine/configure/backend/lowering_row_check.h"
#include "engine/configure/extension_packs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <sstream>

namespace qs {

namespace {

KernelRow requantized(std::vector<std::string> pattern, std::string kernel)
{
    return {std::move(pattern), std::move(kernel), KernelOutput::Requantized, 0, 0,
            KernelMode::Static};
}

std::vector<std::string> wordsOf(const std::string& text)
{
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), {}};
}

/// Returns the row of a kernel named after its operators: "conv2d relu" is
/// `quantized::conv2d_relu`, followed by an overload if there are several.
KernelRow named(const std::string& operators, const std::string& ending = "")
{
    std::vector<std::string> pattern = wordsOf(operators);
    std::string kernel = "quantized::" + operators + ending;
    std::replace(kernel.begin(), kernel.end(), ' ', '_');
    return requantized(std::move(pattern), std::move(kernel));
}

/// With a number operand the kernel chooses its result's parameters itself, as torch.ao accepts;
/// the kernel check tests whether they fit.
KernelRow withNumber(const std::string& operators)
{
    KernelRow row = named(operators, ".Scalar");
    row.pattern.front() += "_scalar";
    return row;
}

KernelRow ofModules(KernelRow row)
{
    row.modulesAlone = true;
    return row;
}

KernelRow asInput(std::string kind, std::string_view kernel)
{
    return {{std::move(kind)}, std::string(kernel), KernelOutput::AsInput, 0, 0,
            KernelMode::Static};
}

KernelRow asFirst(std::string kind)
{
    return {{std::move(kind)}, std::string(kSameKernel), KernelOutput::AsFirst, 0, 0,
            KernelMode::Static};
}

KernelRow fixed(std::string kind, double scale, std::int64_t zeroPoint)
{
    return {{std::move(kind)}, std::string(kSameKernel), KernelOutput::Fixed, scale,
            zeroPoint,         KernelMode::Static};
}

std::vector<KernelRow> weightedRows()
{
    return {named("conv2d add relu"),     named("conv2d add"),          named("conv1d relu"),
            named("conv2d relu", ".new"), named("conv3d relu", ".new"), named("linear relu"),
            named("linear leaky_relu"),   named("linear tanh"),         named("conv1d"),
            named("conv2d", ".new"),      named("conv3d", ".new"),      named("conv_transpose1d"),
            named("conv_transpose2d"),    named("conv_transpose3d"),    named("linear")};
}

std::vector<KernelRow> plainRows()
{
    return {
        named("add relu"),
        named("mul relu"),
        ofModules(named("batch_norm2d relu")),
        ofModules(named("batch_norm3d relu")),
        withNumber("add relu"),
        withNumber("mul relu"),
        withNumber("add"),
        withNumber("mul"),
        named("add"),
        named("mul"),
        named("matmul"),
        // torch's own cat if all inputs share their parameters. Its result has another memory
        // layout than that of quantized::cat, and the rounding of a following pooling depends on
        // the layout.
        asInput("cat", kSameKernel),
        named("cat"),
        asFirst("stack"),
        ofModules(named("batch_norm2d")),
        ofModules(named("batch_norm3d")),
        named("elu"),
        named("leaky_relu"),
        named("hardswish"),
        named("instance_norm"),
        named("layer_norm"),
        ofModules(named("softmax")),
        ofModules(named("prelu")),
        fixed("sigmoid", 1.0 / 256, 0),
        fixed("hardsigmoid", 1.0 / 256, 0),
        fixed("tanh", 2.0 / 256, 128),
        asInput("max_pool1d", "aten::max_pool1d"),
        asInput("max_pool2d", "aten::max_pool2d"),
        asInput("max_pool3d", "aten::max_pool3d"),
        // A convolution's result is in channels-last layout, which `view` may not support.
        asInput("view", "aten::reshape"),
        // Identity at inference, so it does not round: its consumers use the parameters before it.
        requantized({"dropout"}, std::string(kNoKernel)),
        asInput("detach", kNoKernel),
        asInput("alias", kNoKernel),
    };
}

/// Returns the rows with float results: torch.ao's dynamic and weight-only tables, and the kernels
/// of PT2E's inductor backend.
std::vector<KernelRow> floatRows()
{
    std::vector<KernelRow> rows;
    const auto add = [&rows](KernelMode mode, KernelRow row) {
        row.mode = mode;
        rows.push_back(std::move(row));
    };
    for (const char* operators : {"linear relu", "linear"}) {
        add(KernelMode::Dynamic, named(operators, "_dynamic"));
        add(KernelMode::DynamicHalf, named(operators, "_dynamic_fp16"));
    }
    for (const KernelMode mode : {KernelMode::Dynamic, KernelMode::DynamicHalf}) {
        for (const char* overload : {".input", ".data"})
            for (const char* kind : {"lstm", "gru"})
                add(mode,
                    requantized({std::string(kind) + overload},
                                "aten::quantized_" + std::string(kind) + overload));
        for (const char* cell : {"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"})
            add(mode,
                requantized({cell}, "quantized::quantized_" + std::string(cell) + "_dynamic"));
    }
    for (const char* kind : {"linear", "conv1d", "conv2d", "conv3d"})
        for (const bool withRelu : {true, false})
            if (!withRelu || std::string_view(kind) != "conv3d") // its kernel has no relu
                add(KernelMode::FloatResult,
                    requantized(withRelu ? std::vector<std::string> {kind, "relu"}
                                         : std::vector<std::string> {kind},
                                "onednn::q" + std::string(kind) + "_pointwise"));
    for (const char* bits : {"_byte", "_4bit"})
        for (const char* kind : {"embedding", "embedding_bag"})
            add(KernelMode::WeightOnly, named(kind, bits));
    return rows;
}

/// Operators that run unchanged on quantized tensors.
constexpr const char* kSameOnQuantized
    = "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d "
      "avg_pool3d hardtanh relu6 relu clamp mean upsample_nearest1d upsample_nearest2d "
      "upsample_nearest3d upsample_bilinear2d channel_shuffle flatten reshape permute transpose "
      "t squeeze unsqueeze contiguous narrow slice select expand repeat repeat_interleave "
      "pixel_shuffle pixel_unshuffle clone";

/// Removes the overload from kinds of recurrent networks and the nonlinearity from kinds of cells:
/// rules use neither.
std::string plainKind(std::string kind)
{
    kind = kind.substr(0, kind.find('.'));
    return kind == "rnn_tanh_cell" || kind == "rnn_relu_cell" ? "rnn_cell" : kind;
}

bool samePattern(const std::vector<std::string>& kinds, const std::vector<std::string>& wanted)
{
    return std::equal(
        kinds.begin(), kinds.end(), wanted.begin(), wanted.end(),
        [](const std::string& a, const std::string& b) { return a == b || plainKind(a) == b; });
}

/// True for names from torch.ao's dynamic namespaces.
bool isDynamicClass(const std::vector<std::string>& names)
{
    return std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.find(".dynamic.") != std::string::npos || name.starts_with("nnqd.")
            || name.starts_with("nniqd.");
    });
}

/// True if the pattern contains a class: torch.nn.Softmax, not torch.nn.functional.softmax.
bool namesModule(const std::vector<std::string>& pattern)
{
    return std::any_of(pattern.begin(), pattern.end(), [](const std::string& name) {
        return std::isupper(static_cast<unsigned char>(lastPart(name)[0]));
    });
}

/// Erases the rows that match the removal; returns their number.
std::size_t removeRows(std::vector<KernelRow>& rows, const LoweringRow& removal)
{
    const auto kinds = operatorKindsOf(removal.pattern);
    return std::erase_if(rows, [&](const KernelRow& row) {
        return samePattern(row.pattern, kinds)
            && (!isDynamicClass(removal.pattern)
                || (row.mode != KernelMode::Static && row.mode != KernelMode::FloatResult));
    });
}

/// Returns the rows that a recipe's row stands for: one, or all rows of a quantized class
/// ("torch.ao.nn.quantized.dynamic.LSTM").
std::vector<KernelRow> rowsOf(const LoweringRow& added)
{
    const auto kinds = operatorKindsOf(added.pattern);
    std::vector<KernelRow> known, found;
    for (KernelRow& row : defaultKernelRows())
        known.push_back(std::move(row));
    const bool isKernel = isKernelName(added.to);
    const auto wanted = isKernel ? std::vector<std::string> {} : operatorKindsOfName(added.to);
    const bool dynamic = isDynamicClass({added.to});
    for (const KernelRow& row : known) {
        const bool fits = isKernel
            ? row.kernel == added.to && samePattern(row.pattern, kinds)
            : samePattern(row.pattern, wanted) && row.mode != KernelMode::FloatResult
                && (row.mode == KernelMode::Static || row.mode == KernelMode::WeightOnly)
                    != dynamic;
        if (!fits)
            continue;
        found.push_back(row);
        if (!samePattern(row.pattern, kinds))
            found.back().pattern = kinds;
        found.back().modulesAlone &= namesModule(added.pattern);
    }
    if (!found.empty())
        return found;
    // A pack's kernel used for other operators takes its arguments from the same sources.
    for (const KernelRow& other : known)
        if (isKernel && !other.pack.empty() && other.kernel == added.to) {
            KernelRow row = other;
            row.pattern = kinds;
            return {row};
        }
    KernelRow row = requantized(kinds, added.to);
    row.mode = added.to.ends_with("_dynamic_fp16") ? KernelMode::DynamicHalf
        : added.to.ends_with("_dynamic")           ? KernelMode::Dynamic
                                                   : KernelMode::Static;
    return {row};
}

} // namespace

std::string_view kernelModeName(KernelMode mode)
{
    static constexpr std::array<std::string_view, 5> kNames {"static", "dynamic", "float16",
                                                             "weight only", "float result"};
    return kNames[std::size_t(mode)];
}

std::vector<KernelRow> defaultKernelRows()
{
    std::vector<KernelRow> rows;
    for (const ExtensionPackPtr& pack : loadedPacks())
        rows.insert(rows.end(), pack->rows.begin(), pack->rows.end());
    for (KernelRow& row : weightedRows())
        rows.push_back(std::move(row));
    for (KernelRow& row : plainRows())
        rows.push_back(std::move(row));
    for (const std::string& kind : wordsOf(kSameOnQuantized))
        rows.push_back(asInput(kind, kSameKernel));
    for (KernelRow& row : floatRows())
        rows.push_back(std::move(row));
    return rows;
}

Result<std::vector<KernelRow>> kernelRows(const Recipe& recipe)
{
    std::vector<KernelRow> rows = defaultKernelRows();
    for (const LoweringRow& removal : recipe.loweringRemove)
        removeRows(rows, removal);
    for (const LoweringRow& added : recipe.loweringAdd) {
        QS_CHECK(checkAddedRow(added));
        for (KernelRow& row : rowsOf(added)) {
            std::erase_if(rows, [&](const KernelRow& old) {
                return samePattern(old.pattern, row.pattern) && old.mode == row.mode;
            });
            rows.push_back(std::move(row));
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
        return a.pattern.size() > b.pattern.size();
    });
    return rows;
}

std::vector<std::string> loweringWarnings(const Recipe& recipe)
{
    std::vector<std::string> lines;
    std::vector<KernelRow> rows = defaultKernelRows();
    for (const LoweringRow& removal : recipe.loweringRemove)
        if (removeRows(rows, removal) == 0)
            lines.push_back(removalWarning(removal));
    return lines;
}

} // namespace qs

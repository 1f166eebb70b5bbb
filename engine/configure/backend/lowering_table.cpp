// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_table.h"

#include "engine/base/text.h"
#include "engine/configure/backend/lowering_names.h"
#include "engine/configure/backend/lowering_row_check.h"
#include "engine/configure/extension_packs.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace qs {

namespace {

KernelRow requantized(std::vector<std::string> pattern, std::string kernel)
{
    return {std::move(pattern), std::move(kernel), KernelOutput::Requantized, 0, 0,
            KernelMode::Static};
}

KernelRow ofModules(KernelRow row)
{
    row.modulesAlone = true;
    return row;
}

std::vector<KernelRow> weightedRows()
{
    return {
        requantized({"conv2d", "add", "relu"}, "quantized::conv2d_add_relu"),
        requantized({"conv2d", "add"}, "quantized::conv2d_add"),
        requantized({"conv1d", "relu"}, "quantized::conv1d_relu"),
        requantized({"conv2d", "relu"}, "quantized::conv2d_relu.new"),
        requantized({"conv3d", "relu"}, "quantized::conv3d_relu.new"),
        requantized({"linear", "relu"}, "quantized::linear_relu"),
        requantized({"linear", "leaky_relu"}, "quantized::linear_leaky_relu"),
        requantized({"linear", "tanh"}, "quantized::linear_tanh"),
        requantized({"conv1d"}, "quantized::conv1d"),
        requantized({"conv2d"}, "quantized::conv2d.new"),
        requantized({"conv3d"}, "quantized::conv3d.new"),
        requantized({"conv_transpose1d"}, "quantized::conv_transpose1d"),
        requantized({"conv_transpose2d"}, "quantized::conv_transpose2d"),
        requantized({"conv_transpose3d"}, "quantized::conv_transpose3d"),
        requantized({"linear"}, "quantized::linear"),
    };
}

std::vector<KernelRow> plainRows()
{
    return {
        requantized({"add", "relu"}, "quantized::add_relu"),
        requantized({"mul", "relu"}, "quantized::mul_relu"),
        ofModules(requantized({"batch_norm2d", "relu"}, "quantized::batch_norm2d_relu")),
        ofModules(requantized({"batch_norm3d", "relu"}, "quantized::batch_norm3d_relu")),
        // With a number the kernel chooses its result's parameters itself, as torch.ao accepts; the
        // kernel check sees whether they do.
        requantized({"add_scalar", "relu"}, "quantized::add_relu.Scalar"),
        requantized({"mul_scalar", "relu"}, "quantized::mul_relu.Scalar"),
        requantized({"add_scalar"}, "quantized::add.Scalar"),
        requantized({"mul_scalar"}, "quantized::mul.Scalar"),
        requantized({"add"}, "quantized::add"),
        requantized({"mul"}, "quantized::mul"),
        requantized({"matmul"}, "quantized::matmul"),
        // torch's own cat where all share their parameters: it lays the result out otherwise than
        // quantized::cat, and pooling after it rounds by layout.
        {{"cat"}, std::string(kSameKernel), KernelOutput::AsInput, 0, 0, KernelMode::Static},
        requantized({"cat"}, "quantized::cat"),
        ofModules(requantized({"batch_norm2d"}, "quantized::batch_norm2d")),
        ofModules(requantized({"batch_norm3d"}, "quantized::batch_norm3d")),
        requantized({"elu"}, "quantized::elu"),
        requantized({"leaky_relu"}, "quantized::leaky_relu"),
        requantized({"hardswish"}, "quantized::hardswish"),
        requantized({"instance_norm"}, "quantized::instance_norm"),
        requantized({"layer_norm"}, "quantized::layer_norm"),
        ofModules(requantized({"softmax"}, "quantized::softmax")),
        ofModules(requantized({"prelu"}, "quantized::prelu")),
        {{"sigmoid"},
         std::string(kSameKernel),
         KernelOutput::Fixed,
         1.0 / 256,
         0,
         KernelMode::Static},
        {{"hardsigmoid"},
         std::string(kSameKernel),
         KernelOutput::Fixed,
         1.0 / 256,
         0,
         KernelMode::Static},
        {{"tanh"},
         std::string(kSameKernel),
         KernelOutput::Fixed,
         2.0 / 256,
         128,
         KernelMode::Static},
        {{"max_pool1d"}, "aten::max_pool1d", KernelOutput::AsInput, 0, 0, KernelMode::Static},
        {{"max_pool2d"}, "aten::max_pool2d", KernelOutput::AsInput, 0, 0, KernelMode::Static},
        {{"max_pool3d"}, "aten::max_pool3d", KernelOutput::AsInput, 0, 0, KernelMode::Static},
        // A convolution's result is stored channels last, where `view` may be impossible.
        {{"view"}, "aten::reshape", KernelOutput::AsInput, 0, 0, KernelMode::Static},
        // Nothing happens, so nothing is rounded: its readers take the finer or coarser grid before
        // it.
        requantized({"dropout"}, std::string(kNoKernel)),
        {{"detach"}, std::string(kNoKernel), KernelOutput::AsInput, 0, 0, KernelMode::Static},
        {{"alias"}, std::string(kNoKernel), KernelOutput::AsInput, 0, 0, KernelMode::Static},
    };
}

/// Rows of operators that give float: torch.ao's dynamic and weight-only tables.
std::vector<KernelRow> floatRows()
{
    std::vector<KernelRow> rows;
    const auto add
        = [&rows](KernelMode mode, std::vector<std::string> pattern, std::string kernel) {
              rows.push_back(requantized(std::move(pattern), std::move(kernel)));
              rows.back().mode = mode;
          };
    add(KernelMode::Dynamic, {"linear", "relu"}, "quantized::linear_relu_dynamic");
    add(KernelMode::DynamicHalf, {"linear", "relu"}, "quantized::linear_relu_dynamic_fp16");
    add(KernelMode::Dynamic, {"linear"}, "quantized::linear_dynamic");
    add(KernelMode::DynamicHalf, {"linear"}, "quantized::linear_dynamic_fp16");
    for (const KernelMode mode : {KernelMode::Dynamic, KernelMode::DynamicHalf}) {
        for (const char* overload : {"input", "data"}) {
            add(mode, {std::string("lstm.") + overload},
                std::string("aten::quantized_lstm.") + overload);
            add(mode, {std::string("gru.") + overload},
                std::string("aten::quantized_gru.") + overload);
        }
        for (const char* cell : {"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"})
            add(mode, {cell}, "quantized::quantized_" + std::string(cell) + "_dynamic");
    }
    for (const char* bits : {"byte", "4bit"}) {
        add(KernelMode::WeightOnly, {"embedding"}, std::string("quantized::embedding_") + bits);
        add(KernelMode::WeightOnly, {"embedding_bag"},
            std::string("quantized::embedding_bag_") + bits);
    }
    return rows;
}

constexpr std::array kSameOnQuantized {"adaptive_avg_pool1d",
                                       "adaptive_avg_pool2d",
                                       "adaptive_avg_pool3d",
                                       "avg_pool1d",
                                       "avg_pool2d",
                                       "avg_pool3d",
                                       "hardtanh",
                                       "relu6",
                                       "relu",
                                       "clamp",
                                       "mean",
                                       "upsample_nearest1d",
                                       "upsample_nearest2d",
                                       "upsample_nearest3d",
                                       "upsample_bilinear2d",
                                       "channel_shuffle",
                                       "flatten",
                                       "reshape",
                                       "permute",
                                       "transpose",
                                       "t",
                                       "squeeze",
                                       "unsqueeze",
                                       "contiguous",
                                       "narrow",
                                       "slice",
                                       "select",
                                       "expand",
                                       "repeat",
                                       "repeat_interleave",
                                       "stack",
                                       "pixel_shuffle",
                                       "pixel_unshuffle",
                                       "clone"};

/// A recurrent network's kinds end with its overload, a cell's tell its nonlinearity; rules name
/// neither.
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

/// True where a class stands in the pattern: torch.nn.Softmax, not torch.nn.functional.softmax.
bool namesModule(const std::vector<std::string>& pattern)
{
    return std::any_of(pattern.begin(), pattern.end(), [](const std::string& name) {
        return std::isupper(static_cast<unsigned char>(lastPart(name)[0]));
    });
}

/// Takes the rows out that the removal means; returns how many.
std::size_t removeRows(std::vector<KernelRow>& rows, const LoweringRow& removal)
{
    const auto kinds = operatorKindsOf(removal.pattern);
    return std::erase_if(rows, [&](const KernelRow& row) {
        return samePattern(row.pattern, kinds)
            && (!isDynamicClass(removal.pattern) || row.mode != KernelMode::Static);
    });
}

/// What a recipe's row becomes: one row, or the rows that a quantized class stands for
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
        const bool fits = isKernel ? row.kernel == added.to && samePattern(row.pattern, kinds)
                                   : samePattern(row.pattern, wanted)
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
    // A pack's kernel for other operators than the pack's own takes its arguments likewise.
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
    static constexpr std::array<std::string_view, 4> kNames {"static", "dynamic", "float16",
                                                             "weight only"};
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
    for (const char* kind : kSameOnQuantized)
        rows.push_back(
            {{kind}, std::string(kSameKernel), KernelOutput::AsInput, 0, 0, KernelMode::Static});
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

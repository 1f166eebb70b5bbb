// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/edit_step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Kinds of cures.
enum class CureKind : std::uint8_t
{
    Range, ///< a value is quantized by another qconfig, for all its readers or for some
    Float, ///< operators stay float
    FloatResult, ///< a quantized layer hands its result on as float
    Bound, ///< the constant of a mask gets a bounded magnitude
    Dynamic, ///< an operator takes a dynamic qconfig
    Split ///< a linear reads its largest input channels as floats, the others as integers
};
/// "range", "float", "float_result", "bound", "dynamic", "split".
std::string_view cureKindName(CureKind kind);
std::optional<CureKind> cureKindFromName(std::string_view name);
std::vector<std::string> cureKindNames();

/// A decision that mends a loss, as a recipe holds it (key "cures"). `expandCures` turns it into
/// rules and edits. A value.
struct Cure
{
    CureKind kind = CureKind::Float;
    /// The operator that is cured; of Range the value, of Bound the stored constant or the operator
    /// that holds the number.
    ValueAddress at;
    std::vector<ValueAddress> nodes; ///< Float, Split: further operators that are cured alike
    std::vector<ReaderAddress> readers; ///< Range: whose inputs; empty = every reader
    std::string qconfig; ///< Range, Dynamic, Split (of the input): of the recipe, or a preset
    std::optional<double> bound; ///< Bound: the magnitude, above 0
    std::vector<int> channels {}; ///< Split: of the input, from 0, ascending
    std::optional<double> gainDb; ///< its gain when it was taken; for information only
    std::string by; ///< who took it: "tune 1f3a"; "" = a person
    bool off = false; ///< kept without effect
    friend bool operator==(const Cure&, const Cure&) = default;
};

} // namespace qs

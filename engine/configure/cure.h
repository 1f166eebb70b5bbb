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
    Range, ///< quantizes a value by another qconfig, for all or some of its consumers
    Float, ///< keeps operators float
    FloatResult, ///< a quantized layer returns a float result
    Bound, ///< bounds the magnitude of a mask's constant
    Dynamic, ///< gives an operator a dynamic qconfig
    Split, ///< a linear reads its largest input channels as floats, the others as integers
    Equalize, ///< scales channels between layers so that their weights have the same ranges
    Smooth, ///< scales the channels that layers read by given numbers
    Round, ///< rounds each weight up or down as given, instead of to the nearest integer
    Bias, ///< adds given numbers to biases, against the mean error of a layer
    Train ///< weights and ranges of a training with simulated quantization
};
/// "range", "float", "float_result", "bound", "dynamic", "split", "equalize", "smooth", "round",
/// "bias", "train".
std::string_view cureKindName(CureKind kind);
std::optional<CureKind> cureKindFromName(std::string_view name);
std::vector<std::string> cureKindNames();

/// A decision that reduces an accuracy loss, as stored in a recipe (key "cures"). `expandCures`
/// turns it into rules and edits. A value type.
struct Cure
{
    CureKind kind = CureKind::Float;
    /// The affected operator; for Train unset. For Range, Smooth: the value. For Bound: the stored
    /// constant, or the operator with the number as argument.
    ValueAddress at;
    std::vector<ValueAddress> nodes; ///< Float, Split, Equalize, Round, Bias: further operators
    std::vector<ReaderAddress> readers; ///< Range: consumers affected; empty = all
    /// Range, Dynamic, Split (for the input): a qconfig of the recipe or a preset.
    std::string qconfig;
    std::optional<double> bound; ///< Bound: the magnitude, above 0
    std::vector<int> channels {}; ///< Split: input channels, 0-based, ascending
    std::vector<double> scales {}; ///< Smooth: by channel, above 0
    /// Train: the trained model, a .pt2. Round, Bias: an .npz (`readLayerNumbers`).
    std::string file {};
    std::string sha256 {}; ///< of that file
    std::optional<double> gainDb; ///< gain when the cure was chosen; informational
    std::string by; ///< author: "tune 1f3a"; "" = the user
    bool off = false; ///< disabled, but kept in the recipe
    friend bool operator==(const Cure&, const Cure&) = default;
};

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

namespace qs {

/// Families of operators that some stages treat equally.
enum class OperatorFamily : std::uint8_t
{
    Other,
    Convolution,
    TransposedConvolution,
    Product, ///< of matrices
    Embedding,
    Recurrent,
    Attention,
    Norm,
    Pooling,
    Activation,
    Combining ///< of values, element by element or end to end
};

/// The role of a trained weight in its operator.
enum class OperatorWeight : std::uint8_t
{
    No, ///< no trained weight
    Convolution,
    TransposedConvolution,
    Linear,
    Embedding,
    Other ///< of an extension pack; nothing is folded into it
};

/// The element type of an operator's results if no argument specifies it. Used if the operator's
/// own shape inference fails because the operands are partly unknown.
enum class ResultType : std::uint8_t
{
    Unknown,
    First, ///< that of its first tensor, without type promotion
    Bool,
    Index, ///< int64, or int32 if an argument requests it
    Float32,
    Complex, ///< the complex type of the first's precision: transforms, which have no meta kernels
    Real ///< the type of the real part if the first is complex
};

/// The rank of an operator's results, if it does not depend on sizes or equals a list's length.
enum class ResultRank : std::uint8_t
{
    Unknown,
    First, ///< that of the first argument
    Second,
    SizesSecond, ///< the length of the list of sizes, the second argument
    Two,
    Three,
    Spectrum ///< of stft
};

enum class OperatorTrait : std::uint8_t
{
    MovesValues, ///< only moves values: views, copies, selections
    Permutes, ///< outside training: every value of its first argument once, in any order
    PartOfCalls, ///< moves elements, often as a part of another call such as a product
    MovesWeight, ///< changes a weight's layout or returns it unchanged
    WorksInPlace, ///< its in-place form computes the same values for any arguments
    ReadsStrides, ///< its results depend on the arguments' strides
    NeedsViewableStrides, ///< fails if its argument's strides do not allow a view
    AllocatesResult, ///< composite; its results never alias its arguments
    Averages, ///< over the dimensions `dim`
    ScalesByChannel, ///< f(s x) = s f(x) for numbers s above 0, one per channel
    FastByChannel, ///< same values in any layout; several times as fast in channels last
    HandsArgumentOn, ///< may return its argument or a view without declaring the alias
    LeavesMemory, ///< its results are uninitialized memory
    GivesIndices, ///< the second of its two results holds indices
    Measures, ///< returns a number that depends on a tensor's shape, not on its values
    ReadsNumber, ///< converts a one-element tensor to a number
    Asserts, ///< only checks its arguments
    AboutTracing, ///< checks for the exporter only: a converted tensor need not pass
    Prints,
    Forbidden, ///< accesses files, other processes or the terminal
    // Of TorchScript's operators:
    Folds, ///< can be constant-folded: works on numbers, strings and lists, without side effects;
           ///< its result is not much larger than its arguments
    Restores, ///< pure enough for code that makes an object from its saved state
    AnswersNo ///< tests for a kind of tensor that never occurs here: always false
};

/// A set of traits.
class OperatorTraits
{
public:
    constexpr OperatorTraits() = default;
    constexpr OperatorTraits(std::initializer_list<OperatorTrait> traits)
    {
        for (const OperatorTrait trait : traits)
            m_bits |= bit(trait);
    }
    constexpr bool has(OperatorTrait trait) const { return (m_bits & bit(trait)) != 0; }

private:
    static constexpr std::uint32_t bit(OperatorTrait trait)
    {
        return std::uint32_t(1) << std::uint32_t(trait);
    }
    std::uint32_t m_bits = 0;
};

/// How an operator clamps values: names of the arguments with the bounds ("": no such argument),
/// and the bounds if they are absent.
struct OperatorClamp
{
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
    std::string_view lowArgument = {}, highArgument = {};
};

} // namespace qs

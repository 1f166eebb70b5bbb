// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

namespace qs {

/// Families of operators that some stages treat alike.
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
    Other ///< of an extension pack: nothing folds into it
};

/// The element type of an operator's results if no argument names it. Used where shape inference by
/// the operator itself fails because too little is known of the operands.
enum class ResultType : std::uint8_t
{
    Unknown,
    First, ///< of its first tensor, whatever the others are
    Bool,
    Index, ///< int64, or int32 where an argument asks for it
    Float32,
    Complex, ///< the complex type of the first's precision: transforms, which have no kernels there
    Real ///< the parts' type where the first is complex
};

/// The number of dimensions of an operator's results, where it depends on no size or on a list.
enum class ResultRank : std::uint8_t
{
    Unknown,
    First, ///< that of the first argument
    Second,
    SizesSecond, ///< as many as the list of sizes has, the second argument
    Two,
    Three,
    Spectrum ///< of stft
};

enum class OperatorTrait : std::uint8_t
{
    MovesValues, ///< only moves values: views, copies, selections
    Permutes, ///< every value of its first argument once, in whatever order, where it does not
              ///< train
    PartOfCalls, ///< moves elements, often as a part of another call such as a product
    MovesWeight, ///< lays a weight out otherwise, or hands it on
    WorksInPlace, ///< its in-place form gives the same values, whatever its other arguments are
    ReadsStrides, ///< how its arguments lie in memory shows in its results
    NeedsViewableStrides, ///< fails where its argument's strides allow no view
    AllocatesResult, ///< composite; its results are never its arguments, or views of them
    HandsArgumentOn, ///< may return its argument, or a view, and declares nothing
    LeavesMemory, ///< its results hold whatever was in memory
    GivesIndices, ///< of two results the second holds indices
    Measures, ///< returns a number of a tensor's form, independent of its values
    ReadsNumber, ///< the number out of a tensor of one element
    Asserts, ///< does nothing but check its arguments
    AboutTracing, ///< ... for the exporter alone: a converted tensor need not satisfy it
    Prints,
    Forbidden, ///< reaches outside the model: files, other processes, the terminal
    // Of TorchScript's operators:
    Folds, ///< on numbers, strings and lists: no side effect, and a result not much larger than
           ///< its arguments
    Restores, ///< pure enough for code that makes an object from its saved state
    AnswersNo ///< asks for a kind of tensor that never occurs here: always false
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

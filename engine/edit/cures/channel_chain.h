// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/edit/edit_draft.h"

#include <cstdint>
#include <vector>

namespace qs {

/// The use of a stored tensor as an operator's argument, or as an item of a list argument.
struct StoredUse
{
    NodeId op;
    std::size_t argument = 0;
    NodeId stored;
    int item = -1;
    friend auto operator<=>(const StoredUse&, const StoredUse&) = default;
};

/// Channels that may be divided by numbers above 0 if the weights of the layers that read them are
/// multiplied by these. A layer's weights absorb the division if between it and its readers are
/// only operators for which f(s x) = s f(x). Else one multiplication before the readers divides.
struct ChannelChain
{
    /// Of a stored tensor along the channels that are divided.
    struct Divided
    {
        StoredUse use;
        std::int64_t axis = 0;
    };
    /// A layer's weight whose input channels are multiplied; of a recurrent layer, the one that the
    /// first layer of each direction multiplies its input by.
    struct Reader
    {
        StoredUse weight;
        std::size_t input = 0; ///< the operator's argument that is multiplied by the weight
        std::int64_t axis = 1;
        std::int64_t groups = 1; ///< of a convolution, with `axis` 1
    };
    NodeId maker; ///< a convolution, a linear or a norm; invalid if `multiplied` is set
    ValueRef multiplied; ///< the value that one multiplication divides, for `readers` only
    std::size_t place = 0; ///< dimensions of `multiplied` after its channels
    NodeId batchNorm; ///< after the maker, whose weight and bias are divided then; may be invalid
    std::vector<Divided> divided; ///< a weight, then the bias if there is one
    std::optional<StoredUse> weight; ///< the maker's, along `weightAxis`; empty without one
    std::int64_t weightAxis = 0;
    std::vector<Reader> readers;
    std::int64_t channels = 0;
};

/// Follows the layer's output to the layers that read it. Errors: an operator in between, a reader
/// other than a layer, weights that are not stored, an unknown shape; they name the operator.
Result<ChannelChain> channelChain(const GraphEdit& graph, NodeId maker);

/// The layers that read this value, to which a multiplication gives it with divided channels; other
/// readers keep the value. Errors: no layer reads its channels, layers read them in different
/// dimensions, weights that are not stored, an unknown shape; they name the operator.
Result<ChannelChain> multipliedChain(const GraphEdit& graph, ValueRef value);

/// `channelChain` of the value's operator if that divides this value, else `multipliedChain`.
Result<ChannelChain> dividedChain(const GraphEdit& graph, ValueRef value);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/edit/edit_draft.h"

#include <cstdint>
#include <vector>

namespace qs {

/// The use of a stored tensor as an operator's argument.
struct StoredUse
{
    NodeId op;
    std::size_t argument = 0;
    NodeId stored;
    friend auto operator<=>(const StoredUse&, const StoredUse&) = default;
};

/// A layer whose output channels may be divided by numbers above 0 if the weights of the layers
/// that read them are multiplied by these: between them are only operators for which
/// f(s x) = s f(x).
struct ChannelChain
{
    /// Of a stored tensor along the channels that are divided.
    struct Divided
    {
        StoredUse use;
        std::int64_t axis = 0;
    };
    /// A layer's weight whose input channels are multiplied.
    struct Reader
    {
        StoredUse weight;
        std::int64_t axis = 1;
        std::int64_t groups = 1; ///< of a convolution, with `axis` 1
    };
    NodeId maker; ///< a convolution, a linear or a norm
    NodeId batchNorm; ///< after the maker, whose weight and bias are divided then; may be invalid
    std::vector<Divided> divided; ///< a weight, then the bias if there is one
    std::optional<StoredUse> weight; ///< the maker's, along `weightAxis`; empty for a norm
    std::int64_t weightAxis = 0;
    std::vector<Reader> readers;
    std::int64_t channels = 0;
};

/// Follows the layer's output to the layers that read it. Errors: an operator in between, a reader
/// other than a layer, weights that are not stored, an unknown shape; they name the operator.
Result<ChannelChain> channelChain(const GraphEdit& graph, NodeId maker);

} // namespace qs

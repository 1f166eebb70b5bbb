// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The objects that a Python pickle would create, read from its instructions without creating them.
struct PickleSummary
{
    enum class Root
    {
        Other,
        Dictionary,
        List
    };
    Root root = Root::Other; ///< the first thing that it makes
    std::vector<std::string> classes; ///< "torchvision.models.resnet.ResNet", in order, each once
    std::vector<std::string> texts; ///< the first hundreds, keys among them
    std::size_t tensors = 0;

    /// The first class other than those of tensors, numbers and containers; "" without one.
    std::string foreignClass() const;
    bool holdsText(std::string_view text) const;
};

/// Reads the instructions of protocols 0 to 5 up to where they end or are damaged. Several pickles
/// in a row, as torch.save wrote before torch 1.6, count as one.
PickleSummary summarizePickle(std::string_view bytes);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The objects that a Python pickle would create, determined from its instructions without
/// executing them.
struct PickleSummary
{
    enum class Root
    {
        Other,
        Dictionary,
        List
    };
    Root root = Root::Other; ///< the first object created
    /// "torchvision.models.resnet.ResNet"; in order, without duplicates.
    std::vector<std::string> classes;
    std::vector<std::string> texts; ///< the first hundreds of strings, including keys
    std::size_t tensors = 0;

    /// Returns the first class other than tensors, numbers and containers; "" if none.
    std::string foreignClass() const;
    bool holdsText(std::string_view text) const;
};

/// Reads the instructions of protocols 0 to 5 up to their end or the first damage. Consecutive
/// pickles, as torch.save wrote before torch 1.6, count as one.
PickleSummary summarizePickle(std::string_view bytes);

} // namespace qs

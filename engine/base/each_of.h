// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <iterator>
#include <type_traits>
#include <vector>

namespace qs {

/// Returns the result of `make` for each element, in order, or its first error.
template<class Range, class Make>
auto eachOf(const Range& range, Make&& make)
{
    using Made = typename std::invoke_result_t<Make, decltype(*std::begin(range))>::value_type;
    std::vector<Made> all;
    for (const auto& element : range) {
        Result<Made> made = make(element);
        if (!made)
            return Result<std::vector<Made>>(fail(std::move(made).error()));
        all.push_back(std::move(*made));
    }
    return Result<std::vector<Made>>(std::move(all));
}

} // namespace qs

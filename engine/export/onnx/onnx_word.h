// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace qs {

/// The name of an ONNX operator as a template argument: `compare<"Equal">`.
template<std::size_t Size>
struct OnnxWord
{
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is one
    constexpr OnnxWord(const char (&word)[Size]) { std::copy_n(word, Size, text); }
    char text[Size] {};
};

} // namespace qs

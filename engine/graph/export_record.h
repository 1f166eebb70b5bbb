// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// The record of origin that this program writes into each file that it exports.
struct ExportRecord
{
    std::string program; ///< version of Quantscope
    std::string torch; ///< version of LibTorch
    std::string engine; ///< quantized engine that it was converted for: "x86"
    std::string recipeSha256, modelSha256; ///< the recipe may be unknown
};

} // namespace qs

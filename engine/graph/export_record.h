// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Provenance record in every exported file.
struct ExportRecord
{
    std::string program; ///< version of Quantscope
    std::string torch; ///< version of LibTorch
    std::string engine; ///< quantized engine that it was converted for: "x86"
    std::string recipeSha256, modelSha256; ///< recipeSha256 is empty if unknown
};

} // namespace qs

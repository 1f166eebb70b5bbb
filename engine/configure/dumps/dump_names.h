// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/dumps/torch_names.h"

namespace qs {

/// Converts the printed form of Python classes and functions into names of recipes and backends,
/// for one dumped file. Borrows the document.
class DumpNames
{
public:
    /// For a dumped mapping.
    static Result<DumpNames> make();
    /// For a dumped backend. Scans the whole document first: PyTorch's functional max pools have
    /// the same printed form; their count identifies them, as in torch.ao's backends: one is
    /// max_pool2d, three are max_pool1d to max_pool3d in order.
    static Result<DumpNames> forBackend(const Json& document);

    /// "<class 'torch.nn.modules.conv.Conv2d'>" is torch.nn.Conv2d, "<function relu at 0x7f10>" is
    /// torch.nn.functional.relu, "<built-in method relu of type object at 0x7f10>" is torch.relu,
    /// "<class '__main__.Net'>" is __main__.Net; a plain name is kept, but PyTorch's inner modules
    /// are removed ("torch.nn.modules.conv.Conv2d"). An object unknown to PyTorch keeps its name.
    /// Fails if several functions have this printed form and the document does not identify them.
    Result<std::string> name(const JsonPlace& place) const;
    /// The same for the text `given`; errors name `place`.
    Result<std::string> name(const std::string& given, const JsonPlace& place) const;

private:
    TorchNames m_torch;
    std::vector<std::string> m_pools; ///< functional max pools as printed, in order of appearance
};

} // namespace qs

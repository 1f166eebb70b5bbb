// SPDX-License-Identifier: Apache-2.0
#include "engine/base/error.h"

#include "engine/base/text.h"

namespace qs {

std::string Error::line() const
{
    std::string text;
    if (!file.empty())
        text += file + ": ";
    if (!node.empty())
        text += "node '" + node + "': ";
    text += message;
    if (!hint.empty())
        text += "; " + hint;
    return asOneLine(std::move(text));
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/dumps/torch_names.h"

#include "engine/base/json/json_reader.h"
#include "engine/base/json/nearest_name.h"
#include "engine/configure/resource_folder.h"

#include <sstream>

namespace qs {

Result<TorchNames> TorchNames::load()
{
    QS_TRY(const std::string text,
           readTextFile((resourceFolder() / "backends" / "torch_names.txt").string()));
    TorchNames names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto tab = line.find('\t');
        const std::string name = line.substr(0, tab);
        names.m_names.insert(name);
        if (tab != std::string::npos)
            names.m_byText[line.substr(tab + 1)].push_back(name);
    }
    return names;
}

std::string TorchNames::nearest(std::string_view word) const
{
    return nearestName(word, {m_names.begin(), m_names.end()});
}

const std::vector<std::string>& TorchNames::printedAs(std::string_view text) const
{
    static const std::vector<std::string> kNone;
    const auto found = m_byText.find(text);
    return found == m_byText.end() ? kNone : found->second;
}

std::string withoutAddress(std::string_view printed)
{
    std::string text(printed);
    for (auto at = text.find(" at 0x"); at != std::string::npos; at = text.find(" at 0x", at)) {
        auto end = at + 6;
        while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])))
            ++end;
        text.erase(at, end - at);
    }
    return text;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/export/earlier_exports.h"

#include "engine/base/log.h"
#include "engine/export/result_document.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

EarlierExports::EarlierExports(const std::string& folder)
{
    (void)fromResultFolder(folder, [&](const ResultDocument& result) -> Result<std::string> {
        for (const auto& [form, name] : result.at("exports").items())
            if (const fs::path file = name.get<std::string>();
                file == file.filename() && !file.empty())
                m_paths.push_back((fs::path(folder) / file).string());
        return std::string();
    });
}

void EarlierExports::removeOutdated(const std::vector<std::string>& written,
                                    const std::string& model) const
{
    std::string removed;
    for (const std::string& path : m_paths) {
        std::error_code code;
        const auto isThis = [name = fs::path(path).filename()](const std::string& file) {
            return fs::path(file).filename() == name;
        };
        const bool current = std::any_of(written.begin(), written.end(), isThis)
            || fs::equivalent(path, model, code);
        if (!current && fs::remove(path, code))
            removed += (removed.empty() ? "" : ", ") + path;
    }
    if (!removed.empty())
        note("removed, as it belonged to the result before: " + removed);
}

} // namespace qs

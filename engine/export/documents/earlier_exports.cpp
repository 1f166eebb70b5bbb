// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/earlier_exports.h"

#include "engine/base/log.h"
#include "engine/export/exporter.h"
#include "engine/result/result_document.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace qs {

namespace fs = std::filesystem;

EarlierExports::EarlierExports(const std::string& folder)
{
    const auto result = ResultDocument::read(folder);
    if (!result)
        return;
    (void)result->made<void>([&](const ResultDocument::Json& json) -> Result<void> {
        const auto hashes = json.value("exports_sha256", ResultDocument::Json::object());
        for (const auto& [form, name] : json.at("exports").items()) {
            const std::string file = exportFile(form);
            if (file.empty() || name != file)
                continue;
            m_paths.push_back((fs::path(folder) / file).string());
            if (const std::string beside = file + kBesideSuffix; hashes.contains(beside))
                m_paths.push_back((fs::path(folder) / beside).string());
        }
        m_paths.push_back((fs::path(folder) / kCertificateFile).string());
        return {};
    });
}

void EarlierExports::removeOutdated(const std::vector<std::string>& written,
                                    const std::vector<std::string>& sources) const
{
    std::string removed;
    for (const std::string& path : m_paths) {
        std::error_code code;
        const auto isThis = [name = fs::path(path).filename()](const std::string& file) {
            return fs::path(file).filename() == name;
        };
        const auto isSame
            = [&](const std::string& source) { return fs::equivalent(path, source, code); };
        const bool needed = std::any_of(written.begin(), written.end(), isThis)
            || std::any_of(sources.begin(), sources.end(), isSame);
        if (!needed && fs::is_regular_file(fs::symlink_status(path, code))
            && fs::remove(path, code))
            removed += (removed.empty() ? "" : ", ") + path;
    }
    if (!removed.empty())
        note("removed files of the previous result: " + removed);
}

} // namespace qs

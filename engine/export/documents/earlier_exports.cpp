// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/earlier_exports.h"

#include "engine/base/log.h"
#include "engine/export/documents/result_document.h"
#include "engine/export/exporter.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

EarlierExports::EarlierExports(const std::string& folder)
{
    (void)fromResultFolder(folder, [&](const ResultDocument& result) -> Result<std::string> {
        const auto hashes = result.value("exports_sha256", nlohmann::ordered_json::object());
        for (const auto& [form, name] : result.at("exports").items()) {
            const std::string file = exportFile(form);
            if (file.empty() || name != file)
                continue;
            m_paths.push_back((fs::path(folder) / file).string());
            if (const std::string beside = file + kBesideSuffix; hashes.contains(beside))
                m_paths.push_back((fs::path(folder) / beside).string());
        }
        m_paths.push_back((fs::path(folder) / kCertificateFile).string());
        return std::string();
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
        note("removed what belongs to the previous result: " + removed);
}

} // namespace qs

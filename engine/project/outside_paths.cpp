// SPDX-License-Identifier: Apache-2.0
#include "engine/project/outside_paths.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/files/file_pattern.h"
#include "engine/base/files/read_file.h"
#include "engine/base/files/user_config.h"
#include "engine/base/json/json_reader.h"
#include "engine/configure/backend_config.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr auto kSampleData = "sample"; ///< data that the model's own file holds
constexpr std::size_t kMostConfirmed = 1000; ///< most files whose confirmations are kept

/// The path with links resolved as far as it exists.
fs::path realPath(const std::string& path)
{
    std::error_code code;
    const fs::path real = fs::weakly_canonical(fs::absolute(path, code), code);
    return code ? fs::path(path).lexically_normal() : real;
}

class OutsideOf
{
public:
    explicit OutsideOf(const std::string& file)
        : m_folder(realPath(file).parent_path())
    {
    }

    void add(const std::string& path)
    {
        std::error_code code;
        if (path.empty() || path == kSampleData || !fs::exists(path, code))
            return;
        const fs::path real = realPath(path);
        const fs::path below = real.lexically_relative(m_folder);
        const bool isInside = !below.empty() && *below.begin() != "..";
        if (!isInside && std::find(paths.begin(), paths.end(), real.string()) == paths.end())
            paths.push_back(real.string());
    }

    void add(const Recipe& recipe)
    {
        if (isBackendPath(recipe.target()))
            add(recipe.target());
        for (const EditStep& step : recipe.edits)
            add(step.file);
        for (const Cure& cure : recipe.cures)
            add(cure.file);
    }

    std::vector<std::string> paths;

private:
    fs::path m_folder;
};

/// Path of the file with the confirmations; empty if the user has no settings folder.
std::string confirmedFile()
{
    return userConfigFile("confirmed.json");
}

/// The confirmations, `{file: [path, ...]}`; empty if they cannot be read.
Json readConfirmed()
{
    const auto text = readTextFile(confirmedFile());
    Json confirmed = text && !isDeepJson(*text) ? Json::parse(*text, nullptr, false) : Json();
    return confirmed.is_object() ? confirmed : Json::object();
}

} // namespace

std::vector<std::string> pathsOutside(const Recipe& recipe, const std::string& file)
{
    OutsideOf outside(file);
    outside.add(recipe);
    return outside.paths;
}

std::vector<std::string> pathsOutside(const Project& project, const std::string& file)
{
    OutsideOf outside(file);
    for (const std::string& path :
         {project.modelPath, project.dataPath, project.comparisonPath, project.resultFolder})
        for (const std::string& named : namedFiles(path))
            outside.add(named);
    outside.add(project.recipe);
    for (const Recipe& recipe : project.history.recipes)
        outside.add(recipe);
    return outside.paths;
}

std::vector<std::string> unconfirmedPaths(const std::string& file, std::vector<std::string> paths)
{
    if (paths.empty())
        return paths;
    const Json confirmed = readConfirmed();
    const auto known = confirmed.find(realPath(file).string());
    if (known != confirmed.end() && known->is_array())
        std::erase_if(paths, [&](const std::string& path) {
            return std::find(known->begin(), known->end(), Json(path)) != known->end();
        });
    return paths;
}

Result<void> confirmPaths(const std::string& file, const std::vector<std::string>& paths)
{
    const std::vector<std::string> fresh = unconfirmedPaths(file, paths);
    const std::string kept = confirmedFile();
    if (fresh.empty() || kept.empty())
        return {};
    Json confirmed = readConfirmed();
    if (confirmed.size() >= kMostConfirmed)
        confirmed.erase(confirmed.begin());
    Json& known = confirmed[realPath(file).string()];
    if (!known.is_array())
        known = Json::array();
    for (const std::string& path : fresh)
        known.push_back(path);
    std::error_code code;
    fs::create_directories(fs::path(kept).parent_path(), code);
    return writeFileAtomically(
        kept, confirmed.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace qs

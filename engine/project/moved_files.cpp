// SPDX-License-Identifier: Apache-2.0
#include "engine/project/moved_files.h"

#include "engine/base/files/file_hash.h"
#include "engine/base/files/file_pattern.h"
#include "engine/base/files/read_file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr int kDepth = 2;
constexpr std::size_t kMostFiles = 300;
/// Most bytes read to find a model by its content; beyond that the user is asked.
constexpr std::uintmax_t kMostBytes = std::uintmax_t(2) << 30;

/// Files below the folder for which `wanted` is true, nearest first.
template<class Wanted>
std::vector<fs::path> filesBelow(const fs::path& folder, Wanted wanted)
{
    std::vector<fs::path> found, level {folder};
    std::size_t seen = 0;
    for (int depth = 0; depth <= kDepth; ++depth) {
        std::vector<fs::path> next;
        for (const fs::path& at : level) {
            std::error_code code;
            for (fs::directory_iterator entry(at, code), end; !code && entry != end;
                 entry.increment(code)) {
                std::error_code unknown;
                if (++seen > kMostFiles * 20 || found.size() >= kMostFiles)
                    return found;
                if (entry->is_directory(unknown) && !entry->is_symlink(unknown))
                    next.push_back(entry->path());
                else if (wanted(entry->path()))
                    found.push_back(entry->path());
            }
        }
        std::sort(next.begin(), next.end());
        level = std::move(next);
    }
    return found;
}

fs::path folderOf(const std::string& projectPath)
{
    std::error_code code;
    return fs::absolute(projectPath, code).parent_path();
}

} // namespace

Result<bool> isModelOf(const Project& project, const std::string& path, const JobContext& job)
{
    if (project.modelSha256.empty())
        return true;
    QS_TRY(const std::string now, fileSha256(path, job));
    return now == project.modelSha256;
}

Result<std::string> findModel(const Project& project, const std::string& projectPath,
                              const JobContext& job)
{
    std::error_code code;
    const fs::path was(project.modelPath);
    if (fs::exists(was, code))
        return project.modelPath;
    std::vector<fs::path> files = filesBelow(folderOf(projectPath), [&](const fs::path& path) {
        return path.extension() == was.extension();
    });
    std::stable_partition(files.begin(), files.end(),
                          [&](const fs::path& path) { return path.filename() == was.filename(); });
    std::uintmax_t bytes = 0;
    for (const fs::path& path : files) {
        const std::uintmax_t size = fs::file_size(path, code);
        if (code || bytes + size > kMostBytes)
            continue;
        bytes += size;
        if (project.modelSha256.empty() && path.filename() != was.filename())
            continue;
        const auto same = isModelOf(project, path.string(), job);
        QS_CHECK(job.check());
        if (same.value_or(false)) // skips files that cannot be read
            return path.string();
    }
    return std::string();
}

std::string findData(const std::string& path, const std::string& projectPath)
{
    std::error_code code;
    const fs::path was(path);
    const auto stands = [&code](const fs::path& place) { // its first file, if it names several
        return fs::exists(namedFiles(place.string()).front(), code);
    };
    if (path.empty() || path == "sample" || stands(was))
        return path;
    const fs::path folder = folderOf(projectPath);
    if (stands(folder / was.filename())) // also a folder of images
        return (folder / was.filename()).string();
    const auto files = filesBelow(
        folder, [&](const fs::path& file) { return file.filename() == was.filename(); });
    return files.empty() ? std::string() : files.front().string();
}

RunSettings settingsOf(const Project& project, const std::string& projectPath)
{
    const auto place = [&](const std::string& was) {
        std::string found = findData(was, projectPath);
        return found.empty() ? was : found;
    };
    return {project.dataPath.empty() ? "sample" : place(project.dataPath),
            place(project.comparisonPath), project.device, project.againstOriginal,
            project.allLocalTerms};
}

} // namespace qs

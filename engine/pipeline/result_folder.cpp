// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/result_folder.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/json/json_reader.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/configure/backend_config.h"
#include "engine/export/exporter.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace qs {

namespace fs = std::filesystem;

namespace {

/// The outermost missing folder among `folder` and its parents; empty if all exist.
std::string firstMissing(fs::path folder)
{
    std::string missing;
    std::error_code code;
    folder = fs::absolute(folder, code).lexically_normal();
    if (!folder.has_filename())
        folder = folder.parent_path();
    while (!folder.empty() && !fs::exists(folder, code)) {
        missing = folder.string();
        folder = folder.parent_path();
    }
    return missing;
}

/// How the numbers of cures are named: the first characters of their hash, and this end.
constexpr std::size_t kHashInName = 16;
constexpr const char* kNumbersEnd = ".cure.npz";

/// Names of files of an earlier result that a new one may lack: those that exist.
std::vector<std::string> earlierNames(const std::string& folder)
{
    std::vector<std::string> names {kBackendFile, kTrainedFile};
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code))
        if (const std::string name = entry.path().filename().string(); name.ends_with(kNumbersEnd))
            names.push_back(name);
    return names;
}

/// Subfolder of the staging folder for files that new ones replace.
constexpr const char* kEarlier = "earlier";

/// Files that were moved; they are moved back if a later move fails.
class Moves
{
public:
    bool move(const fs::path& from, const fs::path& to)
    {
        fs::rename(from, to, m_failure);
        if (!m_failure)
            m_done.emplace_back(from, to);
        return !m_failure;
    }
    /// Moves all files back; returns why the last move failed.
    std::string takeBack()
    {
        std::error_code ignored;
        for (auto it = m_done.rbegin(); it != m_done.rend(); ++it)
            fs::rename(it->second, it->first, ignored);
        return m_failure.message();
    }

private:
    std::error_code m_failure;
    std::vector<std::pair<fs::path, fs::path>> m_done;
};

/// Every name that a run may write, and then remove or replace, in a result folder.
std::vector<std::string> writtenNames(const std::vector<std::string>& forms)
{
    std::vector<std::string> names(kRecordFiles.begin(), kRecordFiles.end());
    names.emplace_back(kCheckpointFile);
    names.emplace_back(kCertificateFile); // written later by `verify`
    for (const std::string& form : forms)
        if (const std::string file = exportFile(form); !file.empty()) {
            names.push_back(file);
            if (file.ends_with(".onnx")) // data file for weights that are too large
                names.push_back(file + ".data");
        }
    return names;
}

} // namespace

Result<void> checkResultFolder(const std::string& folder, const std::vector<std::string>& sources,
                               const std::vector<std::string>& forms)
{
    for (const std::string& name : writtenNames(forms)) {
        const fs::path target = fs::path(folder) / name;
        std::error_code code;
        const fs::file_status status = fs::symlink_status(target, code);
        if (!fs::exists(status))
            continue;
        for (const std::string& source : sources)
            if (!source.empty() && fs::equivalent(target, source, code) && !code)
                return fail(
                    makeError(ErrorCode::BadInput, "the results would replace it, as " + name)
                        .inFile(source)
                        .withHint("choose another folder for the results than " + folder));
        if (fs::is_regular_file(status))
            continue;
        const char* what = fs::is_directory(status) ? "a folder"
            : fs::is_symlink(status)                ? "a link"
                                                    : "no regular file";
        return fail(
            makeError(ErrorCode::Io, std::string("is ") + what + ", where a file is to be written")
                .inFile(target.string())
                .withHint("move it away or choose another folder; nothing was written"));
    }
    return {};
}

std::string fileInResult(const Cure& cure)
{
    return cure.kind == CureKind::Train ? kTrainedFile
                                        : cure.sha256.substr(0, kHashInName) + kNumbersEnd;
}

std::string writtenRecipe(Recipe recipe)
{
    for (Cure& cure : recipe.cures)
        if (!cure.file.empty())
            cure.file = fileInResult(cure);
    recipe.backend = isBackendPath(recipe.target()) ? kBackendFile : recipe.target();
    return recipeToJson(recipe);
}

Result<void> checkRecipeSpared(const std::string& path, const Recipe& recipe,
                               const std::string& folder)
{
    const fs::path target = fs::path(folder) / "recipe.json";
    std::error_code code;
    if (path.empty() || !fs::equivalent(target, path, code) || code)
        return {};
    QS_TRY(const std::string text, readTextFile(path));
    if (text == writtenRecipe(recipe))
        return {};
    return fail(makeError(ErrorCode::BadInput, "the results would rewrite this recipe")
                    .inFile(path)
                    .withHint("copy it elsewhere or choose another folder than " + folder));
}

Result<ResultFolder> ResultFolder::create(const std::string& folder)
{
    ResultFolder result;
    result.m_made = firstMissing(folder);
    result.m_folder = folder;
    QS_CHECK(ensureWritableFolder(folder));
    removeAbandoned(folder);
    auto made = makeClaimedFolder((fs::path(folder) / kTemporaryBegin).string());
    if (!made)
        return fail(makeError(ErrorCode::Io, "cannot make a folder inside it").inFile(folder));
    result.m_staging = std::move(made->path);
    result.m_claim = std::move(made->claim);
    return result;
}

ResultFolder::ResultFolder(ResultFolder&& other) noexcept
    : m_folder(std::move(other.m_folder))
    , m_staging(std::exchange(other.m_staging, {}))
    , m_claim(std::move(other.m_claim))
    , m_made(std::exchange(other.m_made, {}))
{
}

ResultFolder::~ResultFolder()
{
    std::error_code code;
    if (!m_staging.empty())
        fs::remove_all(m_staging, code);
    m_claim = {};
    // Removes only empty folders that this object made; removal fails if another program added
    // files or replaced the folder.
    if (m_made.empty())
        return;
    for (fs::path path = fs::absolute(m_folder, code).lexically_normal();
         path.string().size() >= m_made.size(); path = path.parent_path())
        if (!path.has_filename() || rmdir(path.c_str()) == 0)
            continue;
        else
            break;
}

Result<std::vector<std::string>> ResultFolder::publish(const std::string& last)
{
    std::error_code code;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(m_staging, code))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return name != last; });
    Moves moves;
    const fs::path earlier = fs::path(m_staging) / kEarlier;
    fs::create_directory(earlier, code);
    const auto takeAway = [&](const std::string& name) {
        const fs::path target = fs::path(m_folder) / name;
        return !fs::exists(fs::symlink_status(target, code)) || moves.move(target, earlier / name);
    };
    std::vector<std::string> paths;
    bool done = takeAway(last);
    for (const std::string& name : earlierNames(m_folder))
        done = done
            && (std::find(names.begin(), names.end(), name) != names.end() || takeAway(name));
    std::string at = (fs::path(m_folder) / last).string();
    syncFolder(m_folder);
    for (std::size_t i = 0; done && i < names.size(); ++i) {
        const fs::path target = fs::path(m_folder) / names[i];
        at = target.string();
        done = takeAway(names[i]) && moves.move(fs::path(m_staging) / names[i], target);
        paths.push_back(target.string());
    }
    if (!done) {
        const std::string cause = moves.takeBack();
        return fail(makeError(ErrorCode::Io, "cannot put the file in place: " + cause).inFile(at));
    }
    syncFolder(m_folder);
    m_made.clear();
    return paths;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/path_claim.h"
#include "engine/base/result.h"
#include "engine/configure/recipe.h"

#include <string>
#include <vector>

namespace qs {

/// File in a result folder with the backend, if the backend is not a shipped one but a file.
inline constexpr const char* kBackendFile = "backend.json";

/// Checks, before anything runs, that a run may write its results into the folder. `sources`: the
/// files that it reads (model, data; empty ones and "sample" are skipped), `forms`: the exports it
/// writes. Errors, naming the file: a result, an export or the statistics of an interrupted run
/// would overwrite a source (BadInput); the path is a folder, a link or a device (Io).
Result<void> checkResultFolder(const std::string& folder, const std::vector<std::string>& sources,
                               const std::vector<std::string>& forms);

/// The name of a cure's file in a result folder: `kTrainedFile`, or by the content of its numbers.
std::string fileInResult(const Cure& cure);

/// The text of `recipe.json` in a result folder. A backend file and the files of cures have their
/// names in that folder.
std::string writtenRecipe(Recipe recipe);

/// Refuses (BadInput) a recipe that was read from the folder's own `recipe.json` (`path`) if
/// writing the results would change that file's text.
Result<void> checkRecipeSpared(const std::string& path, const Recipe& recipe,
                               const std::string& folder);

/// The folder of `--out`. Files are written to a hidden folder inside it and moved to their names
/// together at the end, so that a failed or cancelled run leaves no partial result: no new file and
/// no new folder.
class ResultFolder
{
public:
    /// Makes the folder if needed, and removes hidden folders of runs that were killed. The
    /// error (Io) names it and the cause.
    static Result<ResultFolder> create(const std::string& folder);
    ResultFolder(ResultFolder&& other) noexcept;
    ResultFolder& operator=(ResultFolder&&) = delete;
    /// Removes files that were not published.
    ~ResultFolder();

    /// The folder to write files to.
    const std::string& staging() const { return m_staging; }
    /// Moves every file into the folder, `last` after all others; returns their paths. Removes an
    /// earlier `last` first: even after a crash, the folder never holds a result document with
    /// files of another run. After an error (Io) the folder is unchanged.
    Result<std::vector<std::string>> publish(const std::string& last);

private:
    ResultFolder() = default;

    std::string m_folder;
    std::string m_staging;
    PathClaim m_claim; ///< on the hidden folder
    std::string m_made; ///< the outermost folder that did not exist before, or empty
};

} // namespace qs

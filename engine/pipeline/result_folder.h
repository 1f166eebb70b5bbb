// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/path_claim.h"
#include "engine/base/result.h"
#include "engine/configure/recipe.h"

#include <string>
#include <vector>

namespace qs {

/// What a result folder carries of a backend that is a file.
inline constexpr const char* kBackendFile = "backend.json";

/// Whether a run may write its results into the folder: asked before anything runs. `sources` are
/// the files that it reads (the model, its data; empty ones and "sample" are passed over), `forms`
/// the exports it writes. Errors, naming the file: a source stands where a result, an export or the
/// statistics of an interrupted run would go (BadInput); a folder, a link or a device stands there
/// (Io).
Result<void> checkResultFolder(const std::string& folder, const std::vector<std::string>& sources,
                               const std::vector<std::string>& forms);

/// The text of `recipe.json` in a result folder: a backend's file is named as it is there.
std::string writtenRecipe(Recipe recipe);

/// Refuses (BadInput) a recipe that was read from the folder's own `recipe.json` (`path`) where the
/// results would rewrite it in other words.
Result<void> checkRecipeSpared(const std::string& path, const Recipe& recipe,
                               const std::string& folder);

/// The folder of `--out`. Files are made in a hidden folder inside it and moved to their names all
/// together at the end, so that a failed or cancelled run leaves nothing half done: neither a file
/// nor a folder that was not there before.
class ResultFolder
{
public:
    /// Makes the folder where needed, and removes what runs that were killed left hidden in it. The
    /// error (Io) names it and the cause.
    static Result<ResultFolder> create(const std::string& folder);
    ResultFolder(ResultFolder&& other) noexcept;
    ResultFolder& operator=(ResultFolder&&) = delete;
    /// Removes what was not published.
    ~ResultFolder();

    /// Where to make the files.
    const std::string& staging() const { return m_staging; }
    /// Moves every file into the folder, `last` after all others; returns their paths. An earlier
    /// `last` is taken away first: whenever the program or the machine stops, the folder holds no
    /// result document with files of another run. After an error (Io) everything is as before.
    Result<std::vector<std::string>> publish(const std::string& last);

private:
    ResultFolder() = default;

    std::string m_folder;
    std::string m_staging;
    PathClaim m_claim; ///< on the hidden folder
    std::string m_made; ///< the outermost folder that did not exist before, or empty
};

} // namespace qs

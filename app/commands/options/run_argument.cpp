// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/run_argument.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/project/project.h"
#include "engine/runs/run_store.h"

#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

/// Splits "net.project.json:seven bits" into the project and the run's name. Names may have colons.
std::optional<std::pair<std::string, std::string>> runEntryWords(const std::string& word)
{
    for (auto at = word.find(':'); at != std::string::npos; at = word.find(':', at + 1))
        if (isProjectFile(word.substr(0, at)))
            return std::pair(word.substr(0, at), word.substr(at + 1));
    return std::nullopt;
}

Result<RunRecord> currentRunOf(const std::string& project)
{
    QS_TRY(const std::string folder, currentResultOf(project));
    QS_TRY(RunRecord run, readRun(folder));
    const std::string name = fs::path(project).stem().stem().string();
    run.label.name = name + ", current";
    return run;
}

Result<RunRecord> named(const std::string& word)
{
    std::error_code code;
    if (!fs::exists(word, code)) {
        const auto kept = runEntryWords(word);
        if (!kept)
            return readRun(word);
        QS_TRY(const RunEntry run, findRun(runsFolderOf(kept->first), kept->second));
        if (!run.problem.empty())
            return fail(
                makeError(ErrorCode::BadInput,
                          "the run " + inQuotes(run.label.name) + " is damaged: " + run.problem));
        return readRun(run.folder);
    }
    return isProjectFile(word) ? currentRunOf(word) : readRun(word);
}

} // namespace

Result<std::string> currentResultOf(const std::string& path)
{
    QS_TRY(const Project project, readProject(path));
    std::error_code code;
    if (!project.resultFolder.empty() && fs::exists(project.resultFolder, code))
        return project.resultFolder;
    return fail(makeError(ErrorCode::NotFound, "the project has no current result")
                    .inFile(path)
                    .withHint("name a run that it keeps, as PROJECT:NAME, or save the project "
                              "after a conversion"));
}

Result<RunRecordPtr> runArgument(const std::string& word)
{
    QS_TRY(RunRecord run, named(word));
    for (const std::string& remark : run.remarks)
        warn(remark);
    return std::make_shared<const RunRecord>(std::move(run));
}

} // namespace qs

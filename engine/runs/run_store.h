// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

namespace qs {

/// The file that makes a folder with a result a kept run.
inline constexpr const char* kRunFile = "run.json";
/// Most unnamed runs that are kept in one folder.
inline constexpr std::size_t kMostUnnamedRuns = 50;

/// A run as a list shows it, without its nodes.
struct RunEntry
{
    std::string folder;
    RunLabel label;
    ResultFigures headline;
    std::string modelPath, modelSha256, foreignPath;
    bool isEdited = false;
    std::string decisions; ///< its recipe in a few words
    std::string problem; ///< why it cannot be read; "" where it can
};

/// The texts that make up a run; `recipe` is empty for a foreign file, `backend` where the recipe
/// names a shipped one.
struct RunDocuments
{
    std::string result, recipe, backend;
};

/// Keeps a run in a new folder below `runsFolder`: result, recipe, backend and label, written
/// hidden and put in place whole. The name gets a number if it is taken ("seven bits 2"). Returns
/// the run as it is listed. Errors: the document is not a result; the disk's.
Result<RunEntry> keepRun(const std::string& runsFolder, const RunDocuments& documents,
                         RunLabel label);
/// The same of a result folder, another kept run or a saved document. An empty name means the
/// source's own.
Result<RunEntry> keepRunFrom(const std::string& runsFolder, const std::string& source,
                             RunLabel label);

/// All runs of the folder, the newest first; those that are damaged say why. A folder that does not
/// exist holds none.
std::vector<RunEntry> listRuns(const std::string& runsFolder);
/// The run of that name, else of that folder's name. Errors (NotFound) list the names.
Result<RunEntry> findRun(const std::string& runsFolder, const std::string& name);

/// Gives it a name of a person's choice, unique among the runs. Errors: no name, a taken one.
Result<void> renameRun(const std::string& runsFolder, const RunEntry& run, const std::string& name);
Result<void> noteRun(const RunEntry& run, const std::string& note);
/// Removes the run at once, whole.
Result<void> removeRun(const std::string& runsFolder, const RunEntry& run);
/// Removes the oldest unnamed runs beyond `most`.
Result<void> trimRuns(const std::string& runsFolder, std::size_t most = kMostUnnamedRuns);
/// Copies every run that the second folder has not, damaged ones left out.
Result<void> copyRuns(const std::string& from, const std::string& to);

/// The label in a kept run's folder. Errors name the file.
Result<RunLabel> readRunLabel(const std::string& folder);

} // namespace qs

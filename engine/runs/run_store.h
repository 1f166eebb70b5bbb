// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

namespace qs {

/// The file that marks a result folder as a kept run.
inline constexpr const char* kRunFile = "run.json";
/// Maximum number of unnamed runs kept in one folder.
inline constexpr std::size_t kMostUnnamedRuns = 50;

/// A list entry of a run, without its nodes.
struct RunEntry
{
    std::string folder;
    RunLabel label;
    ResultFigures headline;
    std::string modelPath, modelSha256, foreignPath;
    bool isEdited = false;
    std::string decisions; ///< summary of its recipe
    std::string problem; ///< why it cannot be read; "" if it can
};

/// The texts of a run. `recipe` is empty for a foreign file, `backend` if the recipe names a
/// shipped one.
struct RunDocuments
{
    std::string result, recipe, backend;
    std::string trained {}; ///< path of the trained model that the recipe names beside itself
};

/// Saves a run atomically in a new folder below `runsFolder`: result, recipe, backend and label.
/// Appends a number to a taken name ("seven bits 2"). Returns the run's list entry. Fails if the
/// document is not a result, or on a disk error.
Result<RunEntry> keepRun(const std::string& runsFolder, const RunDocuments& documents,
                         RunLabel label);
/// The same for a result folder, another kept run or a saved document. An empty name selects the
/// trial of the search that the recipe's cures name, else the source's name.
Result<RunEntry> keepRunFrom(const std::string& runsFolder, const std::string& source,
                             RunLabel label);

/// Returns all runs of the folder, newest first; damaged ones have `problem` set. Empty if the
/// folder does not exist.
std::vector<RunEntry> listRuns(const std::string& runsFolder);
/// Returns the run with that name, else with that folder name. The error (NotFound) lists the
/// names.
Result<RunEntry> findRun(const std::string& runsFolder, const std::string& name);

/// Renames the run; it then counts as named. Fails if the name is empty or taken.
Result<void> renameRun(const std::string& runsFolder, const RunEntry& run, const std::string& name);
Result<void> noteRun(const RunEntry& run, const std::string& note);
/// Adds the user's metric, measured after the run was kept, to its result.
Result<void> addEvaluation(const RunEntry& run, const Evaluation& evaluation);
/// Removes the run atomically.
Result<void> removeRun(const std::string& runsFolder, const RunEntry& run);
/// Removes the oldest unnamed runs beyond `most`.
Result<void> trimRuns(const std::string& runsFolder, std::size_t most = kMostUnnamedRuns);
/// Copies every run missing in the second folder, except damaged ones.
Result<void> copyRuns(const std::string& from, const std::string& to);

/// Reads the label in a kept run's folder. Errors name the file.
Result<RunLabel> readRunLabel(const std::string& folder);

} // namespace qs

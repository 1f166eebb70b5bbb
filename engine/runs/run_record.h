// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/graph/graph.h"
#include "engine/result/result_document.h"
#include "engine/result/result_figures.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

inline constexpr std::array<std::string_view, 4> kRunMetrics {"sqnr_db", "cosine", "mse",
                                                              "max_abs"};
/// One of `kRunMetrics`; nothing if it is not finite.
std::optional<double> metricOf(const ErrorMetrics& metrics, std::size_t metric);

/// Identity of a node: in its own file by name, across files by module, operator and call.
struct NodeIdentity
{
    std::string file; ///< sha256 of the file that `name` is from
    std::string name;
    std::string module, op; ///< empty where only the name is known
    int callIndex = 0;
};

/// One node of a run: its decision and its errors.
struct RunNode : NodeIdentity
{
    std::string moduleClass;
    /// Empty for a file of another program. `qconfig` is "float" where a plan gave
    /// none.
    std::string verdict, qconfig, rule;
    std::string dtype; ///< that its first output is quantized to; "" = it is not
    NodeError errors; ///< without the node's id
    /// A node of the float model that a quantized file has nothing for.
    bool isMissing = false;
    bool isOperator() const { return op != "input" && op != "parameter" && op != "constant"; }
};

/// Label of a run. All of it is for people but `key`.
struct RunLabel
{
    std::string name, note;
    std::string created; ///< ISO 8601, UTC, to the second
    std::string source; ///< folder or document that it was read from
    bool isNamed = true; ///< by a person; others go first when room is needed
    /// Of the decisions that it was made from, where a window kept it; "" = not known.
    std::string key;
};

/// One stored result; nothing in it is computed again. A value; share as RunRecordPtr.
struct RunRecord
{
    RunLabel label;
    std::string modelPath, modelSha256;
    std::string foreignPath; ///< a quantized file of another program; "" = a run of ours
    std::string foreignSha256;
    std::optional<Recipe> recipe; ///< none: a foreign file, or a document alone
    std::string recipeSha256; ///< of the recipe that it was made with; "" = not known
    std::string data, device;
    ResultFigures headline;
    std::vector<RunNode> nodes; ///< in graph order
    std::vector<std::string> remarks; ///< remarks for the reader, one line each

    bool isForeign() const { return !foreignPath.empty(); }
    bool isEdited() const { return recipe && changesModel(*recipe); }
};
using RunRecordPtr = std::shared_ptr<const RunRecord>;

/// Reads a result folder, a kept run, a `result.json`, or a document that `compare --json` printed.
/// Errors name the file: it does not exist, it is something else, its recipe cannot be read.
Result<RunRecord> readRun(const std::string& path);
/// The same of a document that was read from its file.
Result<RunRecord> readRun(const ResultDocument& document);
/// A result document that is at hand; its path names the run.
Result<RunRecord> runFromDocument(const ResultDocument& document);

/// The run's errors on the nodes of this graph, matched as `matchNodes` does; for views of a model
/// that show a run.
ComparisonPtr comparisonOf(const RunRecord& run, const Graph& model);

/// "2026-11-24T13:05:00Z"
std::string utcText(std::int64_t secondsSinceEpoch);

} // namespace qs

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
/// Returns one of `kRunMetrics`; nullopt if it is not finite.
std::optional<double> metricOf(const ErrorMetrics& metrics, std::size_t metric);

/// Identity of a node: by name within its file, by module, operator and call across files.
struct NodeIdentity
{
    std::string file; ///< sha256 of the file of `name`
    std::string name;
    std::string module, op; ///< empty if only the name is known
    int callIndex = 0;
};

/// One node of a run: its decision and its errors.
struct RunNode : NodeIdentity
{
    std::string moduleClass;
    /// Empty for a file of another program. `qconfig` is "float" if the plan assigned none.
    std::string verdict, qconfig, rule;
    std::string dtype; ///< dtype of its quantized first output; "" = not quantized
    NodeError errors; ///< without the node's id
    /// A node of the float model without counterpart in a quantized file.
    bool isMissing = false;
    bool isOperator() const { return op != "input" && op != "parameter" && op != "constant"; }
};

/// Label of a run. All members except `key` are for users.
struct RunLabel
{
    std::string name, note;
    std::string created; ///< ISO 8601, UTC, to the second
    std::string source; ///< source folder or document
    bool isNamed = true; ///< named by the user; unnamed runs are removed first
    /// Key of the run's decisions, if a window kept it; "" = unknown.
    std::string key;
};

/// One stored result; nothing is recomputed. A value type; share as RunRecordPtr.
struct RunRecord
{
    RunLabel label;
    std::string modelPath, modelSha256;
    std::string foreignPath; ///< a quantized file of another program; "" = a run of this program
    std::string foreignSha256;
    std::optional<Recipe> recipe; ///< none: a foreign file, or only a document
    std::string recipeSha256; ///< hash of the run's recipe; "" = unknown
    std::string data, device;
    ResultFigures headline;
    std::vector<RunNode> nodes; ///< in graph order
    std::vector<std::string> remarks; ///< remarks for the user, one line each

    bool isForeign() const { return !foreignPath.empty(); }
    bool isEdited() const { return recipe && changesModel(*recipe); }
};
using RunRecordPtr = std::shared_ptr<const RunRecord>;

/// Reads a result folder, a kept run, a `result.json`, or a document that `compare --json` printed.
/// Fails, naming the file, if it does not exist, is of another kind, or its recipe cannot be read.
Result<RunRecord> readRun(const std::string& path);
/// The same for a document read from its file.
Result<RunRecord> readRun(const ResultDocument& document);
/// Returns the run of a document in memory; its path names the run.
Result<RunRecord> runFromDocument(const ResultDocument& document);

/// Returns the run's errors for the nodes of this graph, matched by `matchNodes`; for views of a
/// model that show a run.
ComparisonPtr comparisonOf(const RunRecord& run, const Graph& model);

/// "2026-11-24T13:05:00Z"
std::string utcText(std::int64_t secondsSinceEpoch);

} // namespace qs

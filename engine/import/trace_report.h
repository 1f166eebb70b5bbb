// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// One finding that the export helper recorded next to a .pt2 file.
struct TraceFinding
{
    enum class Kind
    {
        Failure, ///< an export attempt failed here
        Frozen, ///< exported with a decision that depends on the example's values
        Untaken, ///< code that the export did not run, so the file does not contain it
        Advice, ///< exported, but the construct is error-prone
        Training, ///< a module in training mode
        Stub ///< an eager-mode quantization stub
    };
    Kind kind = Kind::Failure;
    std::string module; ///< dotted path; "" is the model itself
    std::string moduleClass;
    std::string file; ///< empty if unknown
    int line = 0;
    std::string code; ///< the source line, trimmed
    std::string what; ///< description of the cause; never empty
    std::string hint; ///< remedy; may be empty
    std::vector<std::string> attempts; ///< Failure: "strict", "non-strict", "draft" ...
    std::vector<std::string> modules; ///< Untaken: all modules that did not run it, `module` first
    bool takenElsewhere = false; ///< Untaken: another module of the same class ran it

    /// Returns "net.py:12: if x.sum() > 0:", omitting unknown parts.
    std::string place() const;
    friend bool operator==(const TraceFinding&, const TraceFinding&) = default;
};

/// The record that `resources/export/quantscope_export.py` writes next to a .pt2 (format
/// "quantscope.trace"; described in that script's README).
struct TraceReport
{
    std::string path; ///< of the record
    std::string producer; ///< "torch 2.11.0"
    std::string mode; ///< "strict", "non-strict", "draft"; empty if nothing was exported
    /// Failures first; equal failures of several attempts are merged.
    std::vector<TraceFinding> findings;
};

/// "failure", "frozen", "untaken", "advice", "training", "stub".
const char* traceKindName(TraceFinding::Kind kind);

/// Reads the record next to a model file (MODEL.trace.json); nullopt without one. Returns
/// nullopt and adds a note if the record is unreadable or belongs to another export (`sha256`: hex
/// hash of the model file; empty = not checked). Ignores unknown members. Any thread.
std::optional<TraceReport> readTraceReport(const std::string& modelPath,
                                           const std::string& sha256 = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// One finding that the export helper recorded beside a .pt2 file.
struct TraceFinding
{
    enum class Kind
    {
        Failure, ///< a way of exporting failed here
        Frozen, ///< exported, with what the example's values decided here
        Untaken, ///< code that the export did not run and the file does not hold
        Advice, ///< ran, but tends to freeze or to break
        Training, ///< a module in training mode
        Stub ///< an eager-mode quantization stub
    };
    Kind kind = Kind::Failure;
    std::string module; ///< dotted path; "" is the model itself
    std::string moduleClass;
    std::string file; ///< empty if unknown
    int line = 0;
    std::string code; ///< that line, trimmed
    std::string what; ///< the cause, in words; never empty
    std::string hint; ///< what to do about it; may be empty
    std::vector<std::string> attempts; ///< Failure: "strict", "non-strict", "draft" ...
    std::vector<std::string> modules; ///< Untaken: all that did not take it, `module` first
    bool takenElsewhere = false; ///< Untaken: by another module of the same class

    /// "net.py:12: if x.sum() > 0:", as far as it is known.
    std::string place() const;
    friend bool operator==(const TraceFinding&, const TraceFinding&) = default;
};

/// The record that `resources/export/quantscope_export.py` wrote while it made a .pt2 (format
/// "quantscope.trace"; the README beside that script describes it).
struct TraceReport
{
    std::string path; ///< of the record
    std::string producer; ///< "torch 2.11.0"
    std::string mode; ///< "strict", "non-strict", "draft"; empty when nothing was exported
    std::vector<TraceFinding> findings; ///< failures first; the same place of several attempts once
};

/// "failure", "frozen", "untaken", "advice", "training", "stub".
const char* traceKindName(TraceFinding::Kind kind);

/// Reads the record beside a model file (MODEL.trace.json); nothing without one. A record that
/// cannot be read, or that belongs to another export (`sha256`, hex, of the model file; empty = do
/// not ask), gives nothing and a note. Unknown members are left out. Any thread.
std::optional<TraceReport> readTraceReport(const std::string& modelPath,
                                           const std::string& sha256 = {});

} // namespace qs

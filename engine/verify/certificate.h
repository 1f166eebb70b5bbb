// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/verify/speed.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Difference of one output in a runtime from the converted model's output in this program
/// ("ours").
struct VerifiedOutput
{
    std::string name;
    std::optional<double> agreementDb; ///< SQNR against ours; empty for integers
    double maxAbs = 0; ///< largest difference from ours
    std::optional<double> floatDb, ownFloatDb; ///< SQNR against the float model: theirs, ours
};

/// Histogram of one node's integers by difference in quantization steps: 0, 1, 2, 3 to 4, 5 to 8, 9
/// to 16, more.
struct NodeSteps
{
    static constexpr std::array<std::int64_t, 6> kMost {0, 1, 2,
                                                        4, 8, 16}; ///< upper ends of the bins
    std::string node;
    std::array<std::int64_t, kMost.size() + 1> bins {};
    std::int64_t largest = 0; ///< in steps
    /// Elements that differ by one step and whose value lay halfway between two steps (`kHalfway`).
    std::int64_t ties = 0;
};

/// Differences between the integers of the two runs on the first batch, in quantization steps.
struct VerifiedSteps
{
    std::int64_t nodes = 0; ///< nodes whose integers both runs expose
    std::int64_t equal = 0, one = 0, more = 0; ///< elements: equal, off by one step, by more
    std::int64_t largest = 0; ///< in steps
    std::string firstNode; ///< the first that differs by more than one step; "" = none
    /// The first node that differs does so by one step, and only for values halfway between two
    /// steps or in at most 1 % of its elements. The cause is another order of summation, which
    /// changes roundings; later nodes inherit the difference.
    bool startsWithTies = false;
    std::vector<NodeSteps> byNode; ///< in graph order, including equal nodes
};

/// Required agreement of outputs in runtimes that run the file operator by operator.
inline constexpr double kExactRuntimeDb = 60;

/// Percentage of a node's integers that may round the other way although their value is not known
/// to lie halfway between two steps.
inline constexpr std::int64_t kTiesInHundred = 1;

/// Differences of each node on the first batch when the runtime gets our integers as inputs of
/// every node, so that no node inherits a difference.
struct AloneSteps
{
    std::int64_t nodes = 0, elements = 0;
    std::int64_t one = 0, more = 0; ///< elements off by one step, by more
    std::int64_t ties = 0; ///< elements off by one step whose value lay halfway between two
    std::int64_t choices = 0; ///< ties among equal scores that a `topk` broke differently
    /// The first node with a difference that rounding ties do not explain: an element off by more
    /// than one step, more than `kTiesInHundred` percent off by one step without lying halfway, or
    /// another choice among unequal scores. "" = none.
    std::string worse;
    std::optional<double> outputDb; ///< the worst output of that run against ours
};

/// One exported file in one runtime.
struct RuntimeVerdict
{
    enum class Outcome : std::uint8_t
    {
        Passed,
        Failed,
        NotCompared, ///< loads and runs; its outputs are random
        NotRun, ///< the runtime is not installed
        NotVerified ///< for a file: no runtime executed it
    };
    std::string runtime; ///< "" = a check of the file itself
    std::string form, file;
    Outcome outcome = Outcome::NotRun;
    std::string reason; ///< one sentence; "" if passed
    std::map<std::string, std::string> versions, notes;
    /// Differences between its origin and the runtime here; one line each, not failures.
    std::vector<std::string> warnings;
    std::vector<VerifiedOutput> outputs;
    std::optional<VerifiedSteps> steps;
    std::optional<AloneSteps> alone; ///< if the runtime can take our integers as inputs
    std::optional<SpeedReport> speed; ///< if requested and the file runs
};

/// For a model that changes its buffers: the state from which each call starts.
enum class CallState : std::uint8_t
{
    None, ///< the model keeps no state
    Saved, ///< each call starts from the state in the file
    Sequence ///< each call starts from the state after the previous call
};

/// The verdicts on the exports of a result folder. A value.
struct Certificate
{
    std::string modelSha256, recipeSha256, data, dataSha256;
    std::string date; ///< UTC, "2026-11-24T10:00:00Z"
    std::string processor; ///< `processorText`
    int threads = 0;
    std::int64_t batches = 0, samples = 0;
    CallState state = CallState::None; ///< in the runtimes and here alike
    std::map<std::string, std::string> files; ///< name to SHA-256, as they were verified
    std::vector<RuntimeVerdict> verdicts;
    /// How to set up a Python with the missing packages, one sentence; "" if no package is missing
    /// or packages can be installed in this Python. Not written to the file.
    std::string setup;

    /// Something ran, nothing failed, and no file is `NotVerified`.
    bool passed() const;
    /// True if outputs of a runtime were compared with ours; false if all outputs are random.
    bool compared() const { return has(RuntimeVerdict::Outcome::Passed); }
    /// True if a runtime executed an export, whatever the result.
    bool ran() const;

private:
    /// Whether a runtime has this outcome; for failures and `NotVerified`, or the file itself.
    bool has(RuntimeVerdict::Outcome outcome) const;
};

std::string certificateJson(const Certificate& certificate);
/// The file hashes (file name to SHA-256) in a certificate, to detect later changes; empty if the
/// text is not a certificate.
std::map<std::string, std::string> certifiedFiles(const std::string& json);

/// The processor, its instruction-set level in LibTorch, and its instructions that matter for int8:
/// "Intel(R) Xeon(R) ...; AVX512; avx2 avx512_vnni amx_int8".
std::string processorText();

/// Whether this processor accumulates 8-bit products in 32 bits (AVX-512 VNNI), so that oneDNN's
/// kernels do not saturate in between.
bool hasDotProduct();

} // namespace qs

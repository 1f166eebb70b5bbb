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

/// How far one output, in a runtime, is from the converted model's output here.
struct VerifiedOutput
{
    std::string name;
    std::optional<double> agreementDb; ///< SQNR against ours; nothing for integers
    double maxAbs = 0; ///< largest difference from ours
    std::optional<double> floatDb, ownFloatDb; ///< SQNR against the float model: theirs, ours
};

/// Elements of one node's integers by their difference in steps: 0, 1, 2, 3 to 4, 5 to 8, 9 to 16,
/// more.
struct NodeSteps
{
    static constexpr std::array<std::int64_t, 6> kMost {0, 1, 2, 4, 8, 16}; ///< of the bins
    std::string node;
    std::array<std::int64_t, kMost.size() + 1> bins {};
    std::int64_t largest = 0; ///< in steps
    /// Of those that differ by one step: values halfway between two steps (`kHalfway`).
    std::int64_t ties = 0;
};

/// Where the integers of the two runs differ, over the first batch, in steps of the quantization.
struct VerifiedSteps
{
    std::int64_t nodes = 0; ///< that both runs show
    std::int64_t equal = 0, one = 0, more = 0; ///< elements: equal, off by one step, by more
    std::int64_t largest = 0; ///< in steps
    std::string firstNode; ///< the first that is more than a step off; "" = none
    /// The first node that differs at all does so by one step, where its value lay halfway between
    /// two or in at most 1 % of its elements: sums added in another order, which fell on the other
    /// side of a rounding. What follows inherits.
    bool startsWithTies = false;
    std::vector<NodeSteps> byNode; ///< in graph order, those that are equal throughout too
};

/// Required agreement of outputs in runtimes that run the file operator by operator.
inline constexpr double kExactRuntimeDb = 60;

/// At most this many percent of a node's integers may round the other way although their value did
/// not lie halfway between two steps, as far as that is known.
inline constexpr std::int64_t kTiesInHundred = 1;

/// Each node by itself: the runtime was fed our integers, so that no node inherits another's
/// departure. Over the first batch.
struct AloneSteps
{
    std::int64_t nodes = 0, elements = 0;
    std::int64_t one = 0, more = 0; ///< elements off by one step, by more
    std::int64_t ties = 0; ///< of those off by one step: from halfway between two
    std::int64_t choices = 0; ///< ties among equal scores that a `topk` broke differently
    /// The first node with an element more than a step off, or with more than `kTiesInHundred`
    /// percent of them a step off that did not come from halfway, or with a choice among unequal
    /// scores; "" = only rounding ties.
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
        NotCompared, ///< loads and runs; its outputs are chance
        NotRun, ///< the runtime is not installed
        NotVerified ///< of a file: no runtime executed it
    };
    std::string runtime; ///< "" = the file alone
    std::string form, file;
    Outcome outcome = Outcome::NotRun;
    std::string reason; ///< one sentence; "" where it passed
    std::map<std::string, std::string> versions, notes;
    /// Differences between its origin and the runtime here; one line each, not failures.
    std::vector<std::string> warnings;
    std::vector<VerifiedOutput> outputs;
    std::optional<VerifiedSteps> steps;
    std::optional<AloneSteps> alone; ///< where the runtime can be fed
    std::optional<SpeedReport> speed; ///< where it was asked for and the file runs
};

/// For a model that changes its buffers: the state from which each call starts.
enum class CallState : std::uint8_t
{
    None, ///< the model keeps none
    Saved, ///< each call from the state that the file holds
    Sequence ///< each call from what the one before left
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
    /// How to make a Python with the missing packages, one sentence; "" if a runtime lacks none, or
    /// if this Python takes packages. Not written into the file.
    std::string setup;

    /// Something ran, nothing failed, and no file is `NotVerified`.
    bool passed() const;
    /// True if some output was compared with ours: not if every runtime draws its own numbers.
    bool compared() const { return has(RuntimeVerdict::Outcome::Passed); }
    /// True if a runtime executed an export, whatever the result.
    bool ran() const;

private:
    /// In a runtime; failures and `NotVerified` also of the file alone.
    bool has(RuntimeVerdict::Outcome outcome) const;
};

std::string certificateJson(const Certificate& certificate);
/// The file hashes of a certificate, for finding later changes; empty if the text is not a
/// certificate.
std::map<std::string, std::string> certifiedFiles(const std::string& json);

/// Processor, its level in LibTorch, and its instructions that matter
/// to int8: "Intel(R) Xeon(R) ...; AVX512; avx2 avx512_vnni
/// amx_int8".
std::string processorText();

/// This processor adds up products of bytes in 32 bits (AVX-512 VNNI): oneDNN's kernels do not
/// saturate in between.
bool hasDotProduct();

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/metrics/sample_errors.h"
#include "engine/execute/node_times.h"
#include "engine/execute/steps/step_counts.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Error of a noisy value against the signal y, over all elements of all batches. Summed in
/// double.
struct ErrorMetrics
{
    std::optional<double>
        sqnrDb; ///< 20 log10(|y| / |noise|), capped at +-200; empty without signal
    double cosine = 1;
    double mse = 0;
    double maxAbs = 0;
    /// Measured on so many samples only; empty: on all of the comparison.
    std::optional<std::int64_t> samples {};
    /// Of `sqnrDb` over these samples, as an estimate of that over all; empty with them, and where
    /// one batch gives none.
    std::optional<double> standardErrorDb {};
    friend bool operator==(const ErrorMetrics&, const ErrorMetrics&) = default;
};

/// The four terms of one node (design 5), the most informative first: born here y^-f(x^),
/// cumulative y^-y, isolated f_q(x)-y, inherited f(x^)-y. Cumulative is measured on all samples,
/// the others (the local terms) on as many as their standard error asks for (`LocalSample`).
enum class ErrorTerm
{
    BornHere,
    Cumulative,
    Isolated,
    Inherited
};
inline constexpr std::array kErrorTerms {ErrorTerm::BornHere, ErrorTerm::Cumulative,
                                         ErrorTerm::Isolated, ErrorTerm::Inherited};
/// In the order in which they come about, as tables and documents list them.
inline constexpr std::array kTableTerms {ErrorTerm::Isolated, ErrorTerm::Inherited,
                                         ErrorTerm::BornHere, ErrorTerm::Cumulative};
/// As documents and options spell whether local terms are of all samples.
inline constexpr auto kAllLocalTerms = "all", kSampledLocalTerms = "sampled";
/// As documents spell it: "born_here".
std::string_view errorTermName(ErrorTerm term);

/// The errors of one node, by term.
struct NodeError
{
    NodeId node; ///< the float node; for a fusion its last member
    std::optional<ErrorMetrics> isolated, inherited, bornHere, cumulative;
    /// `divergence` of the distribution of y^ from that of y, over all values, in nats.
    std::optional<double> kl {};

    /// Empty where the term was not measured.
    const std::optional<ErrorMetrics>& term(ErrorTerm which) const;
    friend bool operator==(const NodeError&, const NodeError&) = default;
};

/// " ±0.06" after a SQNR in dB that was measured on a part of the samples and lost something; else
/// empty.
std::string standardErrorText(const ErrorMetrics& metrics);

/// One value inside a custom module (`PlannedObserver::interior`), reference form against float.
struct InteriorError
{
    NodeId node;
    std::string interior;
    std::optional<ErrorMetrics> cumulative;
};

struct OutputError
{
    std::string name;
    std::optional<ErrorMetrics> cumulative; ///< reference form against float
    std::optional<ErrorMetrics> lowered; ///< lowered form against float
    std::optional<ErrorMetrics> forms {}; ///< lowered form against reference form
};

/// Difference of a value between the lowered and the reference form, both run whole, over one
/// batch.
struct FormDeparture
{
    NodeId node; ///< the float node; for a fusion its last member
    StepCounts steps; ///< lowered less reference
    /// SQNR of each form against the float model; empty if that has no such value.
    std::optional<double> referenceDb {}, loweredDb {};

    /// By how many dB the lowered form is nearer to the float model than the reference form.
    double gainDb() const;
    /// More than 1 dB, and of few values more than chance, either way.
    bool isGap() const;
};

/// Share of samples whose highest entry in an output with class scores is the same in the float and
/// the int8 model.
struct Agreement
{
    std::string output; ///< the output's name
    double top1 = 0; ///< share of the samples, in [0, 1]
};

/// What a comparison says of the model as a whole.
struct WholeErrors
{
    /// Against the model of the file, before its edits: nodes that both have, cumulative terms
    /// alone.
    bool againstOriginal = false;
    std::vector<OutputError> outputs;
    /// One line for each output that the original model or the edited one does not have.
    std::vector<std::string> unpaired;
    std::int64_t samples = 0;
    std::optional<double> floatTop1,
        int8Top1; ///< in [0, 1], where the data has labels; int8 is the lowered model
    /// With labels or without; empty if no output is recognised as class scores.
    std::optional<Agreement> agreement;
    /// Null if no output has one row a sample, or the result is of a version without it.
    SampleErrorsPtr sampleErrors {};

    /// The output that lost most, by its lowered form where there is one; null without outputs.
    const OutputError* worstOutput() const;
    /// SQNR of that output's two forms; empty where it has none.
    std::optional<double> loweredDb() const, referenceDb() const;
    /// The lowered form's where there is one, else the reference form's.
    std::optional<double> outputDb() const;
};

/// Result of a comparison. A value; share as ComparisonPtr.
struct Comparison : WholeErrors
{
    std::vector<NodeError> nodes; ///< in graph order; only nodes with a measured error
    std::vector<InteriorError> interiors; ///< in graph order, then in order of computation
    /// How long a batch takes in each node, while the two forms ran anyway: nodes of the float
    /// graph, nodes of the lowered one. Float times are empty on a GPU, which works on its own.
    std::vector<NodeTime> floatTimes, loweredTimes;
    int threads = 0; ///< that LibTorch worked with
    /// One line for each output at which the lowered form loses more than the reference form
    /// (`losesMore`), with both figures. Empty without any.
    std::vector<std::string> losses;
    /// In the order of the reference form; over the first batch. Values of kernels, and values
    /// quantized by nodes that stay in reference form.
    std::vector<FormDeparture> departures;
    std::int64_t departureSamples = 0;
    bool allLocalTerms = false; ///< as requested; else local terms may be of a part of the samples
    const NodeError* tryGet(NodeId id) const;
    /// Of all departures together.
    StepCounts departed() const;
    /// The first node where the two forms differ by more than one step; null without
    /// one.
    const FormDeparture* parting() const;
    /// The first node where one form is nearer to the float model than the other (`isGap`); null
    /// without one.
    const FormDeparture* gap() const;
};
using ComparisonPtr = std::shared_ptr<const Comparison>;

/// Whether a node's local terms were measured on a part of the samples.
bool samplesLocalTerms(const Comparison& comparison);

} // namespace qs

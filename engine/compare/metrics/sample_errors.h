// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The error of one sample at an output, and its classes.
struct SampleRecord
{
    std::int64_t index = 0; ///< in the order of the data, from 0
    double signal = 0, noise = 0; ///< sums of squares of y and of y^ - y
    std::optional<double> sqnrDb {}; ///< as in ErrorMetrics
    /// The highest score in each model; empty without class scores. The label also without labels.
    std::optional<std::int64_t> floatClass {}, int8Class {}, label {};
    /// The two classes differ, or a score of one model is NaN.
    bool isChanged = false;
    friend bool operator==(const SampleRecord&, const SampleRecord&) = default;
};

/// Whether `a` lost more than `b`: a lower SQNR, then an earlier sample. Samples without signal
/// come last.
bool isWorse(const SampleRecord& a, const SampleRecord& b);

/// How many samples have each pair of classes: counts by row, then by column. No count is 0.
using PairCounts = std::map<std::int64_t, std::map<std::int64_t, std::int64_t>>;
std::int64_t totalOf(const PairCounts& counts);
/// Samples with the same class in row and column.
std::int64_t equalIn(const PairCounts& counts);

/// Classes of all samples at the output that top-1 figures are of.
struct ClassCounts
{
    std::string output;
    std::int64_t classes = 0; ///< scores of a sample
    /// Samples with NaN in the scores of a model; not in `floatInt8`.
    std::int64_t notANumber = 0;
    PairCounts floatInt8; ///< by the class of the float, then of the int8 model
    /// By label, then by class; empty without labels. Labels outside the classes are included.
    PairCounts labelFloat, labelInt8;
    friend bool operator==(const ClassCounts&, const ClassCounts&) = default;
};

/// What a comparison keeps of its samples. A value; share as SampleErrorsPtr.
struct SampleErrors
{
    /// Most samples that are kept, of all and of those whose class changed.
    static constexpr std::size_t kMost = 32;

    std::string output; ///< the output that lost most, of those with one row a sample
    /// The `kMost` worst samples and the `kMost` worst of those whose class changed, worst first.
    std::vector<SampleRecord> worst;
    std::optional<ClassCounts> classes;

    /// Approximate size.
    std::size_t bytes() const;
    friend bool operator==(const SampleErrors&, const SampleErrors&) = default;
};
using SampleErrorsPtr = std::shared_ptr<const SampleErrors>;

} // namespace qs

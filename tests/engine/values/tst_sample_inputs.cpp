// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/dataset.h"
#include "engine/values/sample_inputs.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

/// Batches of different sizes; sample i has the values i, i + 0.5, and the token 10 i.
class UnequalBatches : public Dataset
{
public:
    explicit UnequalBatches(bool hasFloats)
        : m_hasFloats(hasFloats)
    {
    }
    std::int64_t batchCount() const override { return std::int64_t(m_sizes.size()); }
    bool hasLabels() const override { return false; }
    Result<Batch> batch(std::int64_t index) const override
    {
        ++reads[std::size_t(index)];
        std::int64_t first = 0;
        for (std::int64_t i = 0; i < index; ++i)
            first += m_sizes[std::size_t(i)];
        Batch out;
        out.samples = m_sizes[std::size_t(index)];
        const at::Tensor numbers = at::arange(first, first + out.samples, at::kLong);
        out.inputs.emplace_back(numbers.view({-1, 1}) * 10);
        if (m_hasFloats)
            out.inputs.emplace_back(
                at::stack({numbers.to(at::kFloat), numbers.to(at::kFloat) + 0.5}, 1));
        return out;
    }
    mutable std::vector<int> reads {0, 0, 0};

private:
    std::vector<std::int64_t> m_sizes {3, 1, 4};
    bool m_hasFloats;
};

} // namespace

class TestSampleInputs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void samplesInTheOrderOfTheRequest()
    {
        const UnequalBatches data(true);
        const auto found = sampleInputs(data, {"tokens", "x"}, {7, 0, 3, 7});
        QVERIFY(found);
        QCOMPARE(found->size(), std::size_t(4));
        const std::int64_t wanted[] = {7, 0, 3, 7};
        for (std::size_t i = 0; i < 4; ++i) {
            const SampleInput& input = (*found)[i];
            QCOMPARE(input.sample, wanted[i]);
            QCOMPARE(input.name, std::string("x"));
            QCOMPARE(input.shape, std::vector<std::int64_t> {2});
            QCOMPARE(input.values,
                     (std::vector<float> {float(wanted[i]), float(wanted[i]) + 0.5F}));
        }
    }

    void wholeNumbersWithoutFloats()
    {
        const auto found = sampleInputs(UnequalBatches(false), {"tokens"}, {4});
        QVERIFY(found);
        QCOMPARE(found->front().name, std::string("tokens"));
        QCOMPARE(found->front().values, std::vector<float> {40});
    }

    void missingSamplesFail()
    {
        for (const std::int64_t sample : {-1, 8}) {
            const auto found = sampleInputs(UnequalBatches(true), {}, {0, sample});
            QVERIFY(!found && found.error().code == ErrorCode::BadInput);
        }
    }
};

QTEST_APPLESS_MAIN(TestSampleInputs)
#include "tst_sample_inputs.moc"

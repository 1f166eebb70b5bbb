// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/fake_quant.h"
#include "engine/kernels/noise_products.h"
#include "engine/kernels/ops.h"
#include "engine/kernels/self_check.h"
#include "engine/kernels/self_check_data.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <cmath>
#include <tuple>
#include <vector>

using namespace qs;

namespace {

std::vector<float> countsOf(const at::Tensor& histogram)
{
    const at::Tensor flat = histogram.to(at::kFloat).contiguous();
    return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

} // namespace

class TestKernels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    // Naive loop against CPU kernel, the bodies that `doctor` runs too.
    void bodies_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto& name : selfCheckNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void bodies()
    {
        QFETCH(QString, name);
        const SelfCheck check = runSelfCheck(name.toStdString(), "cpu");
        QVERIFY2(check.cpuOk, check.detail.c_str());
        QVERIFY(!check.cudaOk.has_value());
    }
    void unknownNameDoesNotPass() { QVERIFY(!runSelfCheck("nothing", "cpu").passed()); }

    // A third opinion: LibTorch's own operators.
    void agreesWithHistc()
    {
        for (const auto& one : selfCheckCases()) {
            if (!one.finite || one.values.empty())
                continue;
            for (const int bins : {1, 7, 100, 2048, 5000}) {
                const auto [low, high] = at::aminmax(one.x);
                const at::Tensor wanted = at::histc(one.x, bins, low.item(), high.item());
                const Observed seen = tensorObserve(one.x, INFINITY, -INFINITY, bins);
                QCOMPARE(seen.low, low.item<float>());
                QCOMPARE(seen.high, high.item<float>());
                const std::vector<float> got(seen.counts.begin(), seen.counts.end());
                QVERIFY2(got == countsOf(wanted), one.name.c_str());
            }
        }
    }
    void agreesWithAminmaxPerChannel()
    {
        const at::Tensor x = at::randn({3, 5, 7, 2});
        for (std::int64_t axis = 0; axis < 4; ++axis) {
            const at::Tensor rows = x.movedim(axis, 0).reshape({x.size(axis), -1});
            const auto [low, high] = at::aminmax(rows, 1);
            const auto found = tensorMinMaxChannels(x, axis);
            QCOMPARE(std::int64_t(found.size()), x.size(axis));
            for (std::size_t i = 0; i < found.size(); ++i) {
                QCOMPARE(found[i].min, low[std::int64_t(i)].item<float>());
                QCOMPARE(found[i].max, high[std::int64_t(i)].item<float>());
            }
        }
    }
    void onePassEqualsTwo()
    {
        const at::Tensor x = at::randn({300001});
        const Observed inside = tensorObserve(x, -100.0f, 100.0f, 2048);
        QCOMPARE(inside.low, -100.0f);
        QVERIFY(inside.counts == tensorHistogram(x, {-100.0f, 100.0f}, 2048));
        const Observed grown = tensorObserve(x, -0.1f, 0.1f, 2048);
        QVERIFY(grown.low < -1.0f && grown.high > 1.0f);
        QVERIFY(grown.counts == tensorHistogram(x, {grown.low, grown.high}, 2048));
    }
    // By row, against LibTorch in float64; the same bits for any number of threads.
    void noiseSumsAgreeWithLibTorch()
    {
        at::manual_seed(4);
        for (const auto& [rows, length] :
             {std::pair(1, 1), std::pair(3, 17), std::pair(5, 40000)}) {
            const at::Tensor value = at::randn({rows, length}),
                             gradient = at::randn({rows, length});
            const at::Tensor noisy = value + 0.01 * at::randn({rows, length});
            const kernels::NoiseValues given {value.const_data_ptr<float>(),
                                              noisy.const_data_ptr<float>(),
                                              gradient.const_data_ptr<float>()};
            std::vector<kernels::NoiseSums> sums {std::size_t(rows)}, again {std::size_t(rows)};
            kernels::noiseSumsCpu(given, rows, length, 1, sums.data());
            kernels::noiseSumsCpu(given, rows, length, 3, again.data());
            const at::Tensor v = value.to(at::kDouble), g = gradient.to(at::kDouble);
            const at::Tensor n = noisy.to(at::kDouble) - v;
            for (std::int64_t row = 0; row < rows; ++row) {
                const auto wanted = [&](const at::Tensor& a, const at::Tensor& b) {
                    return (a[row] * b[row]).sum().item<double>();
                };
                const kernels::NoiseSums& got = sums[std::size_t(row)];
                QVERIFY(std::abs(got.signal2 - wanted(v, v)) <= 1e-12 * wanted(v, v));
                QVERIFY(std::abs(got.noise2 - wanted(n, n)) <= 1e-12 * wanted(n, n));
                QVERIFY(std::abs(got.gradient2 - wanted(g, g)) <= 1e-12 * wanted(g, g));
                QVERIFY(std::abs(got.product - wanted(g, n))
                        <= 1e-12 * std::sqrt(wanted(g, g) * wanted(n, n)));
                QCOMPARE(again[std::size_t(row)].product, got.product);
                QCOMPARE(again[std::size_t(row)].noise2, got.noise2);
            }
        }
    }
    // As quantized_decomposed has it, also where 0 lies outside the range.
    void noNumberBecomesZero()
    {
        for (const auto& [low, high] : {std::pair(0, 255), std::pair(5, 20)}) {
            const auto q = kernels::makeFakeQuant(0.5, 7, low, high);
            for (const std::int64_t size : {1, 33, 16385}) {
                at::Tensor x = at::ones({size});
                x[size - 1] = NAN;
                at::Tensor out = at::full({size}, 99, at::kByte);
                kernels::quantizeCpu(x.const_data_ptr<float>(), size, q,
                                     out.mutable_data_ptr<std::uint8_t>(), 2);
                QCOMPARE(out[size - 1].item<int>(), 0);
                QVERIFY(out.slice(0, 0, size - 1).eq(9).all().item<bool>());
            }
            QCOMPARE(kernels::fakeQuantize(NAN, q), -3.5f);
        }
    }
    void refusesOtherTypes()
    {
        QVERIFY_EXCEPTION_THROWN(tensorMinMax(at::zeros({3}, at::kDouble)), c10::Error);
        QVERIFY_EXCEPTION_THROWN(tensorMinMaxChannels(at::zeros({3}), 1), c10::Error);
    }
};

QTEST_GUILESS_MAIN(TestKernels)
#include "tst_kernels.moc"

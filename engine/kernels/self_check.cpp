// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/self_check.h"

#include "engine/base/torch_guard.h"
#include "engine/kernels/ops.h"
#include "engine/kernels/self_check_data.h"

#include <ATen/ATen.h>

#include <array>
#include <bit>
#include <cmath>

namespace qs {

namespace {

using kernels::ErrorSums;
using kernels::MinMax;

// The result of an operator, or of the naive loop, on one tensor, as numbers.
struct Answer
{
    std::vector<double> numbers;
    double tolerance = 0; // relative; 0 = bit-identical
};

bool finite(float x)
{
    return !std::isnan(x) && !std::isinf(x);
}

MinMax naiveMinMax(const std::vector<float>& values)
{
    MinMax out;
    for (const float x : values) {
        if (!finite(x)) {
            ++out.nonFinite;
            continue;
        }
        out.min = std::fmin(out.min, x);
        out.max = std::fmax(out.max, x);
    }
    return out;
}

// histc's definition: all arithmetic in float32, the last bin closed.
std::vector<double> naiveHistogram(const std::vector<float>& values, float low, float high,
                                   int bins)
{
    std::vector<double> counts(std::size_t(bins), 0.0);
    if (low > high)
        return counts;
    if (low == high) {
        low = float(double(low) - 1);
        high = float(double(high) + 1);
    }
    const float range = high - low;
    for (const float x : values) {
        if (!(x >= low) || !(x <= high))
            continue;
        const float scaled = (x - low) * float(bins);
        auto bin = std::int64_t(scaled / range);
        if (bin == bins)
            bin -= 1;
        counts[std::size_t(bin)] += 1;
    }
    return counts;
}

Answer numbersOf(const MinMax& range)
{
    return {{range.min, range.max, double(range.nonFinite)}, 0};
}

void append(Answer& into, const std::vector<double>& more)
{
    into.numbers.insert(into.numbers.end(), more.begin(), more.end());
}

struct Check
{
    const char* name;
    Answer (*naive)(const SelfCheckCase&);
    Answer (*kernel)(const at::Tensor&); // on the tensor's device
};

constexpr int kBins = 2048;
constexpr float kLow = -1.5f, kHigh = 2.25f;

// Returns the number of channels for the channel check: one that divides the number of values.
std::int64_t channelsFor(std::int64_t count)
{
    for (const std::int64_t channels : {33, 31, 17, 11, 5, 3})
        if (count > 0 && count % channels == 0)
            return channels;
    return 1;
}

Answer naiveChannels(const SelfCheckCase& one)
{
    Answer out;
    const auto count = std::int64_t(one.values.size());
    const std::int64_t channels = channelsFor(count);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        std::vector<float> mine;
        for (std::int64_t i = channel; i < count; i += channels)
            mine.push_back(one.values[std::size_t(i)]);
        append(out, numbersOf(naiveMinMax(mine)).numbers);
    }
    return out;
}

Answer kernelChannels(const at::Tensor& x)
{
    Answer out;
    const std::int64_t channels = channelsFor(x.numel());
    for (const auto& range : tensorMinMaxChannels(x.reshape({-1, channels}), -1))
        append(out, numbersOf(range).numbers);
    return out;
}

// Known ranges: empty, one inside the data, a point, and one that contains nearly all of it.
constexpr float kKnown[][2]
    = {{INFINITY, -INFINITY}, {-0.5f, 0.5f}, {0.25f, 0.25f}, {-10.0f, 10.0f}};

Answer naiveObserve(const SelfCheckCase& one)
{
    Answer out;
    const MinMax batch = naiveMinMax(one.values);
    for (const auto& known : kKnown) {
        const float low = std::fmin(known[0], batch.min);
        const float high = std::fmax(known[1], batch.max);
        append(out, numbersOf(batch).numbers);
        append(out, {low, high});
        append(out, naiveHistogram(one.values, low, high, kBins));
    }
    return out;
}

Answer kernelObserve(const at::Tensor& x)
{
    Answer out;
    for (const auto& known : kKnown) {
        const Observed seen = tensorObserve(x, known[0], known[1], kBins);
        append(out, numbersOf(seen.batch).numbers);
        append(out, {seen.low, seen.high});
        append(out, {seen.counts.begin(), seen.counts.end()});
    }
    return out;
}

std::vector<double> numbersOf(const ErrorSums& sums)
{
    return {sums.signal2, sums.other2, sums.dot, sums.noise2, sums.maxAbs, double(sums.count)};
}

constexpr double kScale = 0.037;
constexpr std::int64_t kZeroPoint = 113;

Answer naiveFakeQuant(const SelfCheckCase& one)
{
    Answer out;
    const auto inverse = float(1.0 / kScale);
    for (const float x : one.values) {
        float q = std::nearbyint(x * inverse) + float(kZeroPoint);
        q = q < 0 || std::isnan(q) ? 0.0f : q > 255 ? 255.0f : q;
        out.numbers.push_back((q - float(kZeroPoint)) * float(kScale));
    }
    return out;
}

Answer kernelFakeQuant(const at::Tensor& x)
{
    const at::Tensor y = tensorFakeQuant(x, kScale, kZeroPoint, 0, 255).cpu().contiguous();
    Answer out;
    out.numbers.assign(y.data_ptr<float>(), y.data_ptr<float>() + y.numel());
    return out;
}

Answer naiveErrors(const SelfCheckCase& one)
{
    Answer out {{}, 1e-9};
    if (!one.finite)
        return out;
    const Answer other = naiveFakeQuant(one);
    ErrorSums sums;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
        const double s = one.values[i], o = other.numbers[i];
        sums.signal2 += s * s;
        sums.other2 += o * o;
        sums.dot += s * o;
        sums.noise2 += (o - s) * (o - s);
        sums.maxAbs = std::fmax(sums.maxAbs, double(std::fabs(float(o) - float(s))));
        sums.count += 1;
    }
    append(out, numbersOf(sums));
    return out;
}

Answer kernelErrors(const at::Tensor& x)
{
    const at::Tensor other = tensorFakeQuant(x, kScale, kZeroPoint, 0, 255);
    const auto sums = tensorErrorSums(x, other);
    const auto again = tensorErrorSums(x, other);
    Answer out {{}, 1e-9};
    if (!x.isfinite().all().item<bool>())
        return out;
    append(out, numbersOf(sums));
    using Bits = std::array<std::uint64_t, sizeof sums / sizeof(std::uint64_t)>;
    if (std::bit_cast<Bits>(sums) != std::bit_cast<Bits>(again))
        out.numbers.clear(); // equal input must give bit-identical results
    return out;
}

const std::vector<Check>& checks()
{
    static const std::vector<Check> kChecks = {
        {"min_max", [](const SelfCheckCase& one) { return numbersOf(naiveMinMax(one.values)); },
         [](const at::Tensor& x) { return numbersOf(tensorMinMax(x)); }},
        {"min_max_channels", naiveChannels, kernelChannels},
        {"histogram",
         [](const SelfCheckCase& one) {
             return Answer {naiveHistogram(one.values, kLow, kHigh, kBins), 0};
         },
         [](const at::Tensor& x) {
             const auto counts = tensorHistogram(x, {kLow, kHigh}, kBins);
             return Answer {{counts.begin(), counts.end()}, 0};
         }},
        {"observe", naiveObserve, kernelObserve},
        {"error_sums", naiveErrors, kernelErrors},
        {"fake_quant", naiveFakeQuant, kernelFakeQuant},
    };
    return kChecks;
}

// Returns the largest relative difference; infinite if the sizes differ or only one of two numbers
// is NaN.
double difference(const Answer& wanted, const Answer& got)
{
    if (wanted.numbers.size() != got.numbers.size())
        return INFINITY;
    double worst = 0;
    for (std::size_t i = 0; i < wanted.numbers.size(); ++i) {
        const double a = wanted.numbers[i], b = got.numbers[i];
        if (a == b || (std::isnan(a) && std::isnan(b)))
            continue;
        const double size = std::fmax(std::fabs(a), std::fabs(b));
        const double relative = std::fabs(a - b) / size;
        worst = std::isnan(relative) ? INFINITY : std::fmax(worst, relative);
    }
    return worst;
}

bool tryDevice(const Check& check, const SelfCheckCase& one, const at::Device& device,
               SelfCheck& out)
{
    const Answer wanted = check.naive(one);
    Answer got;
    // A strided view stays strided on the device.
    auto done = guardTorch([&]() -> Result<void> {
        at::Tensor x = one.x;
        if (!device.is_cpu()) {
            x = at::empty_strided(one.x.sizes(), one.x.strides(), one.x.options().device(device));
            x.copy_(one.x);
        }
        got = check.kernel(x);
        return {};
    });
    const double off = done ? difference(wanted, got) : INFINITY;
    out.worst = std::fmax(out.worst, off);
    if (off <= wanted.tolerance)
        return true;
    if (out.detail.empty())
        out.detail = one.name + " on " + device.str() + ": "
            + (done ? "off by " + std::to_string(off) : done.error().message);
    return false;
}

} // namespace

std::vector<std::string> selfCheckNames()
{
    std::vector<std::string> out;
    for (const auto& check : checks())
        out.emplace_back(check.name);
    return out;
}

SelfCheck runSelfCheck(std::string_view name, const std::string& device)
{
    const InferenceScope inference;
    SelfCheck out;
    out.name = name;
    const bool cuda = device.rfind("cuda", 0) == 0;
    for (const auto& check : checks()) {
        if (check.name != name)
            continue;
        out.cpuOk = true;
        if (cuda)
            out.cudaOk = true;
        for (const auto& one : selfCheckCases()) {
            out.cpuOk = tryDevice(check, one, at::kCPU, out) && out.cpuOk;
            if (cuda)
                out.cudaOk = tryDevice(check, one, at::Device(device), out) && *out.cudaOk;
        }
    }
    return out;
}

std::vector<SelfCheck> runSelfChecks(const std::string& device)
{
    std::vector<SelfCheck> out;
    for (const auto& name : selfCheckNames())
        out.push_back(runSelfCheck(name, device));
    return out;
}

} // namespace qs

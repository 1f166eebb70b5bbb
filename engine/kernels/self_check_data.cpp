// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/self_check_data.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace qs {

namespace {

// A small random generator with the same results on every machine (splitmix64).
class Noise
{
public:
    explicit Noise(std::uint64_t seed)
        : m_state(seed)
    {
    }
    /// Uniform in [0, 1).
    double next()
    {
        m_state += 0x9e3779b97f4a7c15ull;
        std::uint64_t z = m_state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return double((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
    }
    float normal()
    {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - next()));
        return float(radius * std::cos(6.283185307179586 * next()));
    }

private:
    std::uint64_t m_state;
};

enum class Kind
{
    Normal,
    Relu,
    Constant,
    Denormal,
    Offset,
    Mixed, // NaN and both infinities among finite values
    Count
};
constexpr const char* kKindNames[]
    = {"normal", "relu", "constant", "denormal", "large offset", "NaN and Inf"};

float valueOf(Kind kind, Noise& noise, std::int64_t index)
{
    const float x = noise.normal();
    switch (kind) {
    case Kind::Relu:
        return x > 0 ? x : 0;
    case Kind::Constant:
        return 3.25f;
    case Kind::Denormal:
        return x * 1e-40f;
    case Kind::Offset:
        return x + 1e6f;
    case Kind::Mixed:
        if (index % 7 == 3)
            return std::numeric_limits<float>::quiet_NaN();
        if (index % 11 == 5)
            return index % 2 ? std::numeric_limits<float>::infinity()
                             : -std::numeric_limits<float>::infinity();
        return x;
    default:
        return x;
    }
}

SelfCheckCase makeCase(Kind kind, std::int64_t count)
{
    SelfCheckCase one;
    one.name = std::string(kKindNames[int(kind)]) + " " + std::to_string(count);
    one.x = at::empty({count}, at::kFloat);
    Noise noise(std::uint64_t(count) * 16 + std::uint64_t(kind));
    float* data = one.x.data_ptr<float>();
    for (std::int64_t i = 0; i < count; ++i)
        data[i] = valueOf(kind, noise, i);
    one.values.assign(data, data + count);
    one.finite = std::all_of(one.values.begin(), one.values.end(),
                             [](float x) { return std::isfinite(x); });
    return one;
}

SelfCheckCase viewOf(const SelfCheckCase& base, const std::string& name, const at::Tensor& view)
{
    SelfCheckCase one;
    one.name = name;
    one.x = view;
    one.finite = base.finite;
    const at::Tensor flat = view.contiguous();
    one.values.assign(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
    return one;
}

} // namespace

std::vector<SelfCheckCase> selfCheckCases()
{
    std::vector<SelfCheckCase> out;
    for (const std::int64_t count : {0, 1, 31, 32, 33, 1023, 1025, 5003})
        for (int kind = 0; kind < int(Kind::Count); ++kind)
            out.push_back(makeCase(Kind(kind), count));
    out.push_back(makeCase(Kind::Normal, (1 << 20) + 7));
    out.push_back(makeCase(Kind::Relu, (1 << 20) + 7));
    const SelfCheckCase base = makeCase(Kind::Normal, std::int64_t(4) * 33 * 17);
    out.push_back(viewOf(base, "unaligned", base.x.slice(0, 1)));
    out.push_back(viewOf(base, "every third", base.x.slice(0, 0, std::nullopt, 3)));
    out.push_back(viewOf(base, "transposed", base.x.view({4, 33, 17}).permute({2, 0, 1})));
    return out;
}

} // namespace qs

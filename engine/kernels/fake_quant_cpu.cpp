// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/fake_quant.h"
#include "engine/kernels/parallel.h"

namespace qs::kernels {

namespace {

QS_VECTOR_CLONES void run(const float* data, std::int64_t count, FakeQuant q, float* out)
{
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = fakeQuantize(data[i], q);
}

QS_VECTOR_CLONES void toIntegers(const float* data, std::int64_t count, FakeQuant q,
                                 std::uint8_t* out)
{
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = std::uint8_t(std::int32_t(quantizeValue(data[i], q)));
}

QS_VECTOR_CLONES void toIntegers(const float* data, std::int64_t count, FakeQuant q,
                                 std::int8_t* out)
{
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = std::int8_t(std::int32_t(quantizeValue(data[i], q)));
}

QS_VECTOR_CLONES void toFloats(const std::uint8_t* data, std::int64_t count, FakeQuant q,
                               float* out)
{
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = (float(data[i]) - q.zeroPoint) * q.scale;
}

QS_VECTOR_CLONES void toFloats(const std::int8_t* data, std::int64_t count, FakeQuant q, float* out)
{
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = (float(data[i]) - q.zeroPoint) * q.scale;
}

template<class T>
void quantizeParts(const float* data, std::int64_t count, const FakeQuant& q, T* out, int threads)
{
    forEachPart(count, partCount(count, threads), [&](int, std::int64_t begin, std::int64_t end) {
        toIntegers(data + begin, end - begin, q, out + begin);
    });
}

template<class T>
void dequantizeParts(const T* data, std::int64_t count, const FakeQuant& q, float* out, int threads)
{
    forEachPart(count, partCount(count, threads), [&](int, std::int64_t begin, std::int64_t end) {
        toFloats(data + begin, end - begin, q, out + begin);
    });
}

} // namespace

void quantizeCpu(const float* data, std::int64_t count, const FakeQuant& q, std::uint8_t* out,
                 int threads)
{
    quantizeParts(data, count, q, out, threads);
}

void quantizeCpu(const float* data, std::int64_t count, const FakeQuant& q, std::int8_t* out,
                 int threads)
{
    quantizeParts(data, count, q, out, threads);
}

void dequantizeCpu(const std::uint8_t* data, std::int64_t count, const FakeQuant& q, float* out,
                   int threads)
{
    dequantizeParts(data, count, q, out, threads);
}

void dequantizeCpu(const std::int8_t* data, std::int64_t count, const FakeQuant& q, float* out,
                   int threads)
{
    dequantizeParts(data, count, q, out, threads);
}

void fakeQuantCpu(const float* data, std::int64_t count, const FakeQuant& q, float* out,
                  int threads)
{
    forEachPart(count, partCount(count, threads), [&](int, std::int64_t begin, std::int64_t end) {
        run(data + begin, end - begin, q, out + begin);
    });
}

} // namespace qs::kernels

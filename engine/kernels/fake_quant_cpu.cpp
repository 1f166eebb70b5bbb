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

} // namespace

void fakeQuantCpu(const float* data, std::int64_t count, const FakeQuant& q, float* out,
                  int threads)
{
    forEachPart(count, partCount(count, threads), [&](int, std::int64_t begin, std::int64_t end) {
        run(data + begin, end - begin, q, out + begin);
    });
}

} // namespace qs::kernels

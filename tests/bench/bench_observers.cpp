// SPDX-License-Identifier: Apache-2.0
// Times our histogram observer: `bench_observers FILE.npz ROUNDS` observes the file's array "x"
// once a round and prints one line of JSON: wall and processor seconds a round, and the state for
// the caller to compare.
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/io/npz.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using namespace qs;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    auto content = readNpz(argv[1]);
    if (!content || content->arrays.size() != 1) {
        std::fprintf(stderr, "cannot read %s\n", argv[1]);
        return 1;
    }
    at::set_num_threads(2);
    NpyArray& array = content->arrays[0];
    const at::Tensor x = at::from_blob(array.bytes.data(), array.shape, at::kFloat);
    ObserverSpec spec;
    spec.kind = ObserverKind::Histogram;
    const auto observer = makeObserver(ObserverId(1), spec);
    std::vector<double> processor;
    std::printf("{\"seconds\": [");
    for (int round = 0; round < std::atoi(argv[2]); ++round) {
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t before = std::clock();
        observer->observe(x);
        processor.push_back(double(std::clock() - before) / CLOCKS_PER_SEC);
        std::printf("%s%.6f", round ? ", " : "", secondsSince(start));
    }
    std::printf("], \"processor\": [");
    for (std::size_t i = 0; i < processor.size(); ++i)
        std::printf("%s%.6f", i ? ", " : "", processor[i]);
    const ObserverStats stats = observer->stats();
    const auto start = std::chrono::steady_clock::now();
    const QParams params = chooseQParams(stats);
    std::printf("], \"qparams_seconds\": %.6f, \"min\": %.9g, \"max\": %.9g, \"scale\": %.9g, "
                "\"zero_point\": %lld, \"counts\": [",
                secondsSince(start), double(stats.min), double(stats.max), double(params.scale[0]),
                static_cast<long long>(params.zeroPoint[0]));
    for (std::size_t i = 0; i < stats.exact.counts.size(); ++i)
        std::printf("%s%.9g", i ? "," : "", double(stats.exact.counts[i]));
    std::printf("]}\n");
    return 0;
}

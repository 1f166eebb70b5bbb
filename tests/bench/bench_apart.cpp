// SPDX-License-Identifier: Apache-2.0
// What it costs to try a script's code in a copy of the process before it is opened:
// bench_apart MODEL [ROUNDS]. By the clock between importModel's own reports.
#include "engine/base/process/try_apart.h"
#include "engine/import/importer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using namespace qs;

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
    startTrials();
    std::vector<double> tried, whole;
    for (int i = 0; i < rounds; ++i) {
        std::map<std::string, Clock::time_point> at;
        const JobContext job(
            {}, [&at](const Progress& progress) { at.emplace(progress.what, Clock::now()); });
        const auto start = Clock::now();
        if (const auto model = importModel(argv[1], job); !model) {
            std::printf("%s\n", model.error().line().c_str());
            return 1;
        }
        const auto seconds
            = [](Clock::duration span) { return std::chrono::duration<double>(span).count(); };
        whole.push_back(seconds(Clock::now() - start));
        const auto began = at.find("trying its code");
        tried.push_back(began == at.end() ? 0.0
                                          : seconds(at.at("reading the graph") - began->second));
    }
    std::printf("%s: tried first %.3f s, later %.3f s, of %.3f s (medians of %d)\n", argv[1],
                tried.front(), median(tried), median(whole), rounds);
    return 0;
}

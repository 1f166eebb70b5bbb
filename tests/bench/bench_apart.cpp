// SPDX-License-Identifier: Apache-2.0
// What it costs to try a script's code in a copy of the process before it is opened:
// bench_apart MODEL [ROUNDS]. By the clock between importModel's own reports, and in processor time
// of the copies; that of the rest of opening beside it.
#include "engine/import/importer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace qs;

namespace {

using Clock = std::chrono::steady_clock;

double processorSeconds(int who)
{
    rusage used = {};
    getrusage(who, &used);
    const auto seconds
        = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

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
    std::vector<double> tried, whole, triedWork, ownWork;
    for (int i = 0; i < rounds; ++i) {
        std::map<std::string, Clock::time_point> at;
        const JobContext job(
            {}, [&at](const Progress& progress) { at.emplace(progress.what, Clock::now()); });
        const auto start = Clock::now();
        const double copies = processorSeconds(RUSAGE_CHILDREN);
        const double own = processorSeconds(RUSAGE_SELF);
        if (const auto model = importModel(argv[1], job); !model) {
            std::printf("%s\n", model.error().line().c_str());
            return 1;
        }
        const auto seconds
            = [](Clock::duration span) { return std::chrono::duration<double>(span).count(); };
        whole.push_back(seconds(Clock::now() - start));
        triedWork.push_back(processorSeconds(RUSAGE_CHILDREN) - copies);
        ownWork.push_back(processorSeconds(RUSAGE_SELF) - own);
        const auto began = at.find("trying its code");
        tried.push_back(began == at.end() ? 0.0
                                          : seconds(at.at("checking the archive") - began->second));
    }
    std::printf(
        "%s: tried in copies %.3f s of %.3f s by the clock, %.3f s of processor beside %.3f s "
        "of the rest (medians of %d)\n",
        argv[1], median(tried), median(whole), median(triedWork), median(ownWork), rounds);
    return 0;
}

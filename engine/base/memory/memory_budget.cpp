// SPDX-License-Identifier: Apache-2.0
#include "engine/base/memory/memory_budget.h"

#include "engine/base/text.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <unistd.h>

namespace qs {

namespace {

constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kKilo = 1024;

std::atomic<std::int64_t> userLimit {0};

/// Returns the number in a file of /proc or /sys, or after `key` in it; kNoLimit without such a
/// number.
std::int64_t numberIn(const std::string& path, const std::string& key = {})
{
    std::ifstream in(path);
    std::int64_t number = 0;
    for (std::string word; !key.empty() && in >> word && word != key;)
        ;
    return in >> number ? number : kNoLimit;
}

std::int64_t kilobytesIn(const std::string& path, const std::string& key)
{
    const std::int64_t number = numberIn(path, key);
    return number > kNoLimit / kKilo ? kNoLimit : number * kKilo;
}

/// Returns the memory available in a control group, including this process's. Page cache counts as
/// available.
std::int64_t leftOfGroup(const std::string& folder, std::int64_t own)
{
    const std::int64_t most = numberIn(folder + "/memory.max");
    const std::int64_t used = numberIn(folder + "/memory.current");
    const std::int64_t cached = numberIn(folder + "/memory.stat", "file");
    if (most == kNoLimit || used == kNoLimit || cached == kNoLimit)
        return kNoLimit;
    return most - used + cached + own;
}

/// Returns the minimum over the process's control group, its parents, and the root visible in a
/// container, since limits apply to all nested groups.
std::int64_t leftOfGroups(std::int64_t own)
{
    constexpr const char* kRoot = "/sys/fs/cgroup";
    std::ifstream in("/proc/self/cgroup");
    std::string line, path;
    while (std::getline(in, line))
        if (line.starts_with("0::/"))
            path = line.substr(3);
    std::int64_t left = leftOfGroup(kRoot, own);
    for (std::filesystem::path at = path; at.has_relative_path(); at = at.parent_path())
        left = std::min(left, leftOfGroup(kRoot + at.string(), own));
    return left;
}

/// Returns the memory available under a shell limit of address space or data size. These limits
/// also count reserved, unused memory.
std::int64_t leftOfShell(__rlimit_resource resource, const char* key, std::int64_t own)
{
    rlimit most = {};
    if (getrlimit(resource, &most) != 0 || most.rlim_cur == RLIM_INFINITY
        || most.rlim_cur > rlim_t(kNoLimit))
        return kNoLimit;
    const std::int64_t used = kilobytesIn("/proc/self/status", key);
    return used == kNoLimit ? kNoLimit : std::int64_t(most.rlim_cur) - used + own;
}

} // namespace

std::int64_t peakResidentBytes()
{
    const std::int64_t bytes = kilobytesIn("/proc/self/status", "VmHWM:");
    return bytes == kNoLimit ? 0 : bytes;
}

std::int64_t residentBytes()
{
    std::ifstream in("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    return in >> all >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

void setMemoryLimit(std::int64_t bytes)
{
    userLimit = bytes;
}

std::int64_t memoryLimit()
{
    return userLimit;
}

std::int64_t mainMemoryLeft()
{
    const std::int64_t own = residentBytes();
    std::int64_t left = kNoLimit;
    if (const auto available = kilobytesIn("/proc/meminfo", "MemAvailable:"); available != kNoLimit)
        left = available + own;
    left = std::min({left, leftOfGroups(own), leftOfShell(RLIMIT_AS, "VmSize:", own),
                     leftOfShell(RLIMIT_DATA, "VmData:", own)});
    const std::int64_t limit = memoryLimit();
    return limit > 0 ? std::min(left, limit) : left;
}

std::optional<std::int64_t> parseBytes(std::string_view text)
{
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || !std::isfinite(number) || number < 0)
        return std::nullopt;
    std::string unit;
    for (const char c : text.substr(std::size_t(end - text.data())))
        if (c != ' ')
            unit += char(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    if (unit.ends_with("IB"))
        unit.resize(unit.size() - 2);
    else if (unit.ends_with('B'))
        unit.pop_back();
    constexpr std::string_view kUnits = "KMGT";
    double factor = 1;
    if (!unit.empty()) {
        const auto power = kUnits.find(unit);
        if (power == std::string_view::npos || unit.size() != 1)
            return std::nullopt;
        factor = std::pow(double(kKilo), double(power + 1));
    }
    const double bytes = number * factor;
    if (bytes < 1 || bytes >= double(kNoLimit))
        return std::nullopt;
    return std::int64_t(bytes);
}

std::string memoryText(std::int64_t bytes)
{
    constexpr double kMega = double(kKilo * kKilo), kGiga = kMega * double(kKilo);
    return double(bytes) >= 0.95 * kGiga ? fixedText(double(bytes) / kGiga, 1) + " GB"
                                         : fixedText(std::ceil(double(bytes) / kMega), 0) + " MB";
}

std::int64_t largestBatch(std::int64_t samples, const std::function<bool(std::int64_t)>& fits)
{
    for (std::int64_t part = samples; part > 0; --part)
        if (samples % part == 0 && fits(part))
            return part;
    return 0;
}

std::string smallerBatchesNote(std::int64_t taken, std::int64_t wanted, const std::string& needing)
{
    return "batches of " + std::to_string(taken) + " instead of " + std::to_string(wanted)
        + ": --memory gives " + memoryText(memoryLimit()) + ", where " + needing;
}

std::string outOfMemory(std::int64_t asked, std::int64_t left)
{
    return std::string(kOutOfMemory) + ": " + memoryText(asked) + " could not be allocated; "
        + memoryText(left) + " are left" + (memoryLimit() > 0 ? " of --memory" : "");
}

std::string memoryHint()
{
    return std::string("use a smaller batch_size, or smaller sizes there, or ")
        + (memoryLimit() > 0 ? "give more with --memory" : "close other programs");
}

} // namespace qs

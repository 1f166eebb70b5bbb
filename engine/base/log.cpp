// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"

#include "engine/base/text.h"

#include <cstdio>
#include <mutex>

namespace qs {

namespace {

std::mutex sinkMutex;

LogSink& currentSink()
{
    static LogSink sink = [](LogLevel level, const std::string& text) {
        if (level != LogLevel::Debug)
            std::fprintf(stderr, "%s: %s\n", level == LogLevel::Warning ? "warning" : "note",
                         text.c_str());
    };
    return sink;
}

} // namespace

void setLogSink(LogSink sink)
{
    std::lock_guard lock(sinkMutex);
    currentSink() = std::move(sink);
}

void log(LogLevel level, const std::string& text)
{
    std::lock_guard lock(sinkMutex);
    if (currentSink())
        currentSink()(level, asOneLine(text));
}

} // namespace qs

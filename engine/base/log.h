// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace qs {

enum class LogLevel
{
    Debug,
    Note,
    Warning
};

/// Receives the engine's log messages: one line each, written for the user. Any thread.
using LogSink = std::function<void(LogLevel, const std::string&)>;

/// Replaces the sink. The default discards Debug messages and writes others to stderr. The engine's
/// only global state.
void setLogSink(LogSink sink);

void log(LogLevel level, const std::string& text);
inline void note(const std::string& text)
{
    log(LogLevel::Note, text);
}
inline void warn(const std::string& text)
{
    log(LogLevel::Warning, text);
}

} // namespace qs

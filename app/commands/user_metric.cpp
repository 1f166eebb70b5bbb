// SPDX-License-Identifier: Apache-2.0
#include "app/commands/user_metric.h"

#include "engine/base/files/read_file.h"
#include "engine/verify/child_process.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace qs {

namespace {

/// The text as one word of a shell's command line.
std::string quoted(const std::string& text)
{
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Error metricError(const std::string& command, const std::string& what)
{
    return makeError(ErrorCode::BadInput, "--eval '" + command + "' " + what)
        .withHint("it gets the path of an .npz with the outputs and must print one number");
}

} // namespace

Result<double> runUserMetric(const std::string& command, const std::string& file,
                             const JobContext& job)
{
    constexpr std::uint64_t kMostText = 1 << 16;
    const std::string printed = file + ".printed";
    const auto code = runChild({"/bin/sh", "-c", command + " " + quoted(file)}, printed, job,
                               ChildErrors::Shown);
    const auto output = readWholeFile(printed, kMostText);
    std::error_code ignored;
    std::filesystem::remove(printed, ignored);
    if (!code && code.error().code == ErrorCode::Cancelled)
        return fail(code.error());
    if (!code)
        return fail(metricError(command, "cannot be started"));
    if (*code != 0)
        return fail(metricError(command, "failed"));
    if (!output)
        return fail(metricError(command, "printed more than a number"));
    const std::string& text = *output;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || !std::isfinite(value))
        return fail(metricError(command, "printed no number"));
    const std::string_view rest(end);
    if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos)
        return fail(metricError(
            command, "printed more than a number: '" + text.substr(0, text.find('\n')) + "'"));
    return value;
}

} // namespace qs

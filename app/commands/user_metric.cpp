// SPDX-License-Identifier: Apache-2.0
#include "app/commands/user_metric.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/wait.h>

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

Result<double> runUserMetric(const std::string& command, const std::string& file)
{
    std::FILE* pipe = popen((command + " " + quoted(file)).c_str(), "r");
    if (!pipe)
        return fail(metricError(command, "cannot be started"));
    std::string text;
    char part[256];
    while (std::fgets(part, sizeof part, pipe))
        text += part;
    const int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail(metricError(command, "failed"));
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

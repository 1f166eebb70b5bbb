// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/metric/user_metric.h"

#include "engine/base/files/read_file.h"
#include "engine/pipeline/keys/data_identity.h"
#include "engine/verify/child_process.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace qs {

namespace {

/// Quotes the text as one word of a shell's command line.
std::string quoted(const std::string& text)
{
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

/// Splits a command into words as a shell does, without expansions.
std::vector<std::string> wordsOf(const std::string& command)
{
    std::vector<std::string> words;
    bool isOpen = false; // a word has begun
    char quote = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        const bool isSpace = c == ' ' || c == '\t' || c == '\n';
        if (!quote && isSpace) {
            isOpen = false;
            continue;
        }
        if (!isOpen)
            words.emplace_back();
        isOpen = true;
        if (c == quote)
            quote = 0;
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        else if (c == '\\' && quote != '\'' && i + 1 < command.size())
            words.back() += command[++i];
        else
            words.back() += c;
    }
    return words;
}

Error metricError(const std::string& command, const std::string& what)
{
    return makeError(ErrorCode::BadInput, "your metric '" + command + "' " + what)
        .withHint("it gets the path of an .npz with the outputs and must print one number");
}

/// Runs `command FILE` and returns the number that it prints.
Result<double> runMetric(const std::string& command, const std::string& file, const JobContext& job)
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
    if (end == text.c_str())
        return fail(metricError(command, "printed no number"));
    const std::string_view rest(end);
    if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos)
        return fail(metricError(
            command, "printed more than a number: '" + text.substr(0, text.find('\n')) + "'"));
    return value;
}

} // namespace

UserMetric commandMetric(const std::string& command)
{
    return [command](const std::string& outputs, const JobContext& job) {
        return runMetric(command, outputs, job);
    };
}

Result<std::string> metricIdentity(const std::string& command, const JobContext& job)
{
    ContentHashes hashes;
    std::string identity;
    for (const std::string& word : wordsOf(command)) {
        std::error_code code;
        std::string part = word;
        if (std::filesystem::is_regular_file(word, code)) {
            QS_TRY(part, hashes.of(word, "", job));
        }
        identity += part + '\n';
    }
    return identity;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/base/pattern.h"

#include "engine/base/text.h"

#include <re2/re2.h>

namespace qs {

namespace {

constexpr std::int64_t kMostMemory = std::int64_t(8) << 20;
constexpr std::size_t kShown = 200;

} // namespace

Result<Pattern> Pattern::compile(const std::string& expression, bool ignoreCase)
{
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMostMemory);
    options.set_case_sensitive(!ignoreCase);
    Pattern pattern;
    const auto compiled = std::make_shared<const RE2>(expression, options);
    pattern.m_compiled = compiled;
    if (compiled->ok())
        return pattern;
    const std::string quoted = inQuotes(shortened(expression, kShown));
    switch (compiled->error_code()) {
    case RE2::ErrorPatternTooLarge:
    case RE2::ErrorRepeatSize:
        return fail(makeError(ErrorCode::BadInput, quoted + " becomes too large")
                        .withHint("use fewer or smaller repetitions"));
    default:
        return fail(makeError(ErrorCode::BadInput,
                              quoted + " is not a regular expression: "
                                  + shortened(compiled->error(), kShown))
                        .withHint("lookaround (?=...) and backreferences \\1 are not known"));
    }
}

bool Pattern::matchesBegin(std::string_view text) const
{
    return m_compiled->Match({text.data(), text.size()}, 0, text.size(), RE2::ANCHOR_START, nullptr,
                             0);
}

bool Pattern::isFoundIn(std::string_view text) const
{
    return m_compiled->Match({text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED, nullptr,
                             0);
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/trial_name.h"

#include <charconv>
#include <optional>

namespace qs {

namespace {

constexpr std::string_view kTrialWord = ", trial ";

struct NamedTrial
{
    std::string search;
    int number = 0;
};

std::optional<NamedTrial> namedTrial(const std::string& by)
{
    const auto at = by.rfind(kTrialWord);
    if (at == std::string::npos || at == 0)
        return {};
    NamedTrial named {by.substr(0, at), 0};
    const char* end = by.data() + by.size();
    const auto [rest, code]
        = std::from_chars(by.data() + at + kTrialWord.size(), end, named.number);
    const bool isRead = code == std::errc() && rest == end && named.number > 0;
    return isRead ? std::optional(named) : std::nullopt;
}

} // namespace

std::string trialName(const std::string& search, std::size_t trial)
{
    return search + std::string(kTrialWord) + std::to_string(trial + 1);
}

std::string takenTrial(const std::vector<Cure>& cures)
{
    std::optional<NamedTrial> taken;
    for (const Cure& cure : cures)
        if (const auto named = cure.off ? std::nullopt : namedTrial(cure.by))
            if (!taken || named->search != taken->search || named->number > taken->number)
                taken = named;
    return taken ? trialName(taken->search, std::size_t(taken->number - 1)) : std::string();
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune_goal.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace qs {

namespace {

struct GoalWord
{
    TuneGoal::Kind kind;
    std::string_view word;
    double least, most; ///< range of possible values
};
constexpr double kAny = std::numeric_limits<double>::max();
constexpr std::array kGoalWords {GoalWord {TuneGoal::Kind::Sqnr, "sqnr", -kExactDb, kExactDb},
                                 GoalWord {TuneGoal::Kind::Cosine, "cosine", -1, 1},
                                 GoalWord {TuneGoal::Kind::Top1Drop, "top1-drop", 0, 100},
                                 GoalWord {TuneGoal::Kind::Metric, "metric", -kAny, kAny}};
constexpr double kFirstDb = 20; ///< target if the goal does not state a noise

} // namespace

double aimedDb(const TuneGoal& goal)
{
    if (goal.kind == TuneGoal::Kind::Sqnr)
        return goal.value;
    if (goal.kind == TuneGoal::Kind::Cosine)
        return goal.value < 1 ? -10 * std::log10(2 * (1 - goal.value)) : kExactDb;
    return kFirstDb;
}

bool tellsNoise(const TuneGoal& goal)
{
    return goal.kind == TuneGoal::Kind::Sqnr || goal.kind == TuneGoal::Kind::Cosine;
}

Result<TuneGoal> parseGoal(const std::string& text)
{
    const auto space = text.find(' ');
    const std::string word = text.substr(0, space);
    for (const GoalWord& row : kGoalWords) {
        if (word != row.word || space == std::string::npos)
            continue;
        const std::string number = text.substr(space + 1);
        TuneGoal goal {row.kind, 0};
        const auto [end, problem]
            = std::from_chars(number.data(), number.data() + number.size(), goal.value);
        if (problem != std::errc() || end != number.data() + number.size()
            || !std::isfinite(goal.value))
            continue;
        if (goal.value < row.least || goal.value > row.most)
            return fail(makeError(ErrorCode::Usage, "no model can reach the goal " + inQuotes(text))
                            .withHint(std::string(row.word) + " takes " + numberText(row.least)
                                      + " to " + numberText(row.most)));
        return goal;
    }
    return fail(makeError(ErrorCode::Usage, inQuotes(text) + " is not a goal")
                    .withHint("give 'sqnr 20', 'cosine 0.98', 'top1-drop 0.5', or 'metric 0.81' "
                              "with --eval"));
}

std::string goalText(const TuneGoal& goal)
{
    for (const GoalWord& row : kGoalWords)
        if (row.kind == goal.kind)
            return std::string(row.word) + " " + numberText(goal.value, 6);
    return "";
}

} // namespace qs

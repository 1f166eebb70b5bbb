// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_hash.h"
#include "engine/base/text.h"
#include "engine/pipeline/causes_of.h"
#include "engine/pipeline/tune/tune_search.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace qs {

namespace {

constexpr double kLearned
    = 0.9; ///< share of the noise of weights and ranges that a training removes
constexpr double kLeastTrained = 0.1; ///< dB, predicted gain below which no training runs

bool isOfRange(CauseCode code)
{
    return code == CauseCode::Clipped || code == CauseCode::RangeWide;
}

/// Gain in dB of a training that removes most of the noise that weights and unfit ranges cause.
double predictedGain(const Blame& blame, const std::vector<Cause>& causes)
{
    double all = 0, learned = 0;
    for (std::size_t i = 0; i < blame.sites.size(); ++i) {
        const SiteBlame& one = blame.sites[i];
        const bool isOfWeight = one.site.kind == BlameSite::Kind::Weight;
        all += one.expected;
        if (isOfWeight || std::any_of(causes.begin(), causes.end(), [&](const Cause& cause) {
                return cause.site == i && isOfRange(cause.code);
            }))
            learned += one.expected;
    }
    return all > 0 ? shareDb(all - kLearned * learned) - shareDb(all) : 0;
}

/// Stage F of `tune`: a training of the best trial.
class TrainStage
{
public:
    explicit TrainStage(TuneSearch& search)
        : m_search(search)
        , m_base(search.best())
        , m_file(search.request().trainedFile)
    {
    }

    Result<void> run()
    {
        QS_TRY(m_model, m_search.modelOf(m_base));
        QS_TRY(const BlamePtr blame, m_search.blamed(m_model, m_base));
        const double gain
            = predictedGain(*blame, causesOf(*m_model.calibration, *blame, m_model.addresses));
        if (gain < kLeastTrained) {
            note("a training is predicted to gain less than " + fixedText(kLeastTrained, 1)
                 + " dB, so it did not run");
            return {};
        }
        const int steps = affordedSteps();
        if (steps == 0)
            m_search.state().stopped = "the forward passes are used up";
        if (steps == 0 || m_search.isSpent())
            return {};
        QS_TRY(const std::optional<Cure> cure, training(steps));
        if (!cure)
            return {};
        Trial trial = withCure(*cure);
        trial.predictedDb = m_base.search.db + gain;
        m_search.state().forwards += m_search.forwardsOf(steps);
        QS_TRY(const bool isMade, m_search.attempt(std::move(trial)));
        const bool isBest = isMade && m_search.state().best + 1 == m_search.state().trials.size();
        std::error_code code;
        if (m_isOwn && !isBest)
            std::filesystem::remove(m_file, code);
        return {};
    }

private:
    void note(std::string text) { m_search.state().notes.push_back(std::move(text)); }

    /// Steps within the limit of forward passes.
    int affordedSteps() const
    {
        int steps = TrainingSettings().steps;
        if (const auto limit = m_search.request().forwards)
            while (steps > 0 && m_search.state().forwards + m_search.forwardsOf(steps) >= *limit)
                --steps;
        return steps;
    }

    Trial withCure(const Cure& cure) const
    {
        Trial trial = m_base;
        trial.stage = "train";
        std::erase_if(trial.cures, [](const Cure& own) { // roundings are of the weights before
            return own.kind == CureKind::Train || own.kind == CureKind::Round
                || own.kind == CureKind::Bias;
        });
        trial.cures.push_back(cure);
        return trial;
    }

    /// The training of an earlier search, else a new one; none if the model cannot be trained.
    Result<std::optional<Cure>> training(int steps)
    {
        const auto sha256 = fileSha256(m_file, m_search.job());
        QS_CHECK(m_search.job().check());
        for (const auto& [key, earlier] : m_search.known()) {
            if (earlier.cures.empty() || earlier.cures.back().kind != CureKind::Train)
                continue;
            const Cure& cure = earlier.cures.back();
            const auto known = m_search.withKnownFigures(withCure(cure));
            // The file of a trial that was not the best was removed.
            const bool isThere = cure.sha256 == sha256;
            if (!known || (!isThere && m_search.isBetter(*known, m_base)))
                continue;
            m_isOwn = isThere;
            return std::optional(cure);
        }
        auto made = m_search.trained(m_model, m_base, steps);
        if (made) {
            m_isOwn = true;
            made->cure.by.clear();
            return std::optional(std::move(made->cure));
        }
        if (made.error().code == ErrorCode::Cancelled || made.error().code == ErrorCode::Io)
            return fail(std::move(made).error());
        note("a training is not possible: " + made.error().message);
        return std::optional<Cure>();
    }

    TuneSearch& m_search;
    Trial m_base;
    TrialModel m_model; ///< of the base
    std::string m_file;
    bool m_isOwn = false; ///< `m_file` is this training's
};

} // namespace

Result<void> tryTraining(TuneSearch& search)
{
    if (!search.isAllowed(CureKind::Train) || search.request().trainedFile.empty())
        return {};
    std::string& stopped = search.state().stopped;
    const std::string before = std::exchange(stopped, std::string());
    if (!search.isSpent())
        QS_CHECK(TrainStage(search).run());
    if (stopped.empty())
        stopped = before;
    return {};
}

} // namespace qs

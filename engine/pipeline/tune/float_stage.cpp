// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/pipeline/tune/tune_search.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kMostFloatTrials = 12;
constexpr int kGivesBack = 3; ///< most trials with fewer float operators
constexpr int kMostIdle = 2; ///< most trials without progress
constexpr double kProgressDb = 0.1;
constexpr double kMissDb = 3; ///< error of a prediction above which sites are measured singly
constexpr double kStricter = 0.5; ///< factor of the noise, if the goal does not state one
constexpr std::int64_t kMeasuredAlone = 16; ///< most sites that are measured singly
constexpr double kSlightlyLess = 1 - 1e-9; ///< tolerates rounding

bool isSameSite(const BlameSite& a, const BlameSite& b)
{
    return a.kind == b.kind && a.readers == b.readers && a.node == b.node && a.value == b.value;
}

/// A blame in which the sites that are also in `later` have the shares of `later`.
Blame corrected(Blame blame, const Blame& later)
{
    for (SiteBlame& one : blame.sites)
        for (const SiteBlame& other : later.sites)
            if (isSameSite(one.site, other.site))
                one.expected = other.expected;
    std::stable_sort(
        blame.sites.begin(), blame.sites.end(),
        [](const SiteBlame& a, const SiteBlame& b) { return a.expected > b.expected; });
    return blame;
}

/// Stage D of `tune`: float operators.
class FloatStage
{
public:
    explicit FloatStage(TuneSearch& search)
        : m_search(search)
        , m_base(search.best())
    {
    }

    Result<void> run()
    {
        QS_TRY(m_model, m_search.modelOf(m_base));
        QS_TRY(const BlamePtr blame, m_search.blamed(m_model, m_base));
        m_blame = *blame;
        m_aim = m_search.aimedNoise(m_base);
        double guard = m_base.guard.db, search = m_base.search.db; // the best so far of each
        int idle = 0, givesBack = 0;
        for (int i = 0; i < kMostFloatTrials && !m_search.isSpent(); ++i) {
            QS_TRY(const bool isNew, tryOnce());
            if (!isNew) {
                if (m_reached > 0)
                    break;
                QS_TRY(const bool isCorrected, correct());
                if (!isCorrected)
                    break;
                continue;
            }
            const Trial made = m_search.state().trials.back();
            (made.reached ? m_reached : m_missed) = m_aim;
            if (m_reached > 0) {
                if (++givesBack > kGivesBack)
                    break;
                m_aim = m_missed > 0 ? std::sqrt(m_reached * m_missed) : m_reached / kStricter;
                continue;
            }
            const bool isIdle
                = made.guard.db < guard + kProgressDb && made.search.db < search + kProgressDb;
            idle = isIdle ? idle + 1 : 0;
            guard = std::max(guard, made.guard.db);
            search = std::max(search, made.search.db);
            if (idle >= kMostIdle)
                break;
            m_aim = stricter(made);
            ++m_misses;
            const bool isFarOff = made.predictedDb && *made.predictedDb - made.search.db > kMissDb;
            if (m_isBounded || isFarOff || m_misses == 2)
                QS_CHECK(correct());
        }
        if (!m_search.state().isReached() && m_search.state().stopped.empty() && m_isBounded)
            m_search.state().stopped = "more float operators would leave less than "
                + fixedText(100 * m_search.request().keepInt8, 0)
                + " % of the multiplications in int8";
        return {};
    }

private:
    /// Makes one trial for the current target noise; false if it was made before or cannot be made.
    Result<bool> tryOnce()
    {
        const double allowed = std::max(0.0, m_base.int8Macs - m_search.request().keepInt8);
        const FloatChoice choice
            = m_search.knapsack(m_model, m_blame).choose(m_aim, std::min(allowed, m_mostFloat));
        m_isBounded = choice.isBounded && allowed <= m_mostFloat;
        Trial trial = m_base;
        trial.stage = m_reached > 0 ? "less float" : "float";
        bool differs = false;
        for (const Cure& cure : floatCures(m_search, choice))
            differs = m_search.add(trial, cure) || differs;
        if (!differs || std::find(m_tried.begin(), m_tried.end(), trial.cures) != m_tried.end())
            return false;
        m_tried.push_back(trial.cures);
        trial.predictedDb = shareDb(choice.noise);
        QS_TRY(const bool isMade, m_search.attempt(std::move(trial)));
        if (!isMade) // next time, fewer float multiplications
            m_mostFloat = kSlightlyLess * choice.floatMacs;
        return isMade;
    }

    /// Measures singly the sites that the last trial left; false if that was already done for it.
    Result<bool> correct()
    {
        const Trial last = m_search.state().trials.back();
        if (last.key == m_correctedAt)
            return false;
        m_correctedAt = last.key;
        QS_TRY(const TrialModel model, m_search.modelOf(last));
        QS_TRY(const BlamePtr later, m_search.blamed(model, last, kMeasuredAlone));
        m_blame = corrected(std::move(m_blame), *later);
        return true;
    }

    /// The next target noise, by the secant method: the current one divided by the trial's excess
    /// over the goal, within bounds; halved if the goal states no noise.
    double stricter(const Trial& made) const
    {
        constexpr double kLeast = 0.05, kMost = 0.95;
        if (!tellsNoise(m_search.request().goal))
            return m_aim * kStricter;
        return m_aim * std::clamp(1 / m_search.excess(made), kLeast, kMost);
    }

    TuneSearch& m_search;
    Trial m_base;
    TrialModel m_model; ///< of the base
    Blame m_blame; ///< of the base, corrected by trials
    double m_aim = 0, m_missed = 0, m_reached = 0;
    int m_misses = 0;
    double m_mostFloat = 1; ///< share of the multiplications; less after impossible trials
    bool m_isBounded = false;
    Key m_correctedAt;
    std::vector<std::vector<Cure>> m_tried;
};

} // namespace

std::vector<Cure> floatCures(const TuneSearch& search, const FloatChoice& choice)
{
    const Graph& file = *search.request().file;
    std::vector<Cure> cures;
    for (const std::vector<NodeId>& group : choice.groups) {
        Cure cure;
        for (const NodeId id : group) {
            const ValueAddress at
                = file.tryGet(id) ? search.addresses().of({id, 0}) : ValueAddress {};
            if (at.kind == ValueAddress::Kind::None)
                continue;
            if (cure.at.kind == ValueAddress::Kind::None)
                cure.at = at;
            else
                cure.nodes.push_back(at);
        }
        if (cure.at.kind != ValueAddress::Kind::None)
            cures.push_back(std::move(cure));
    }
    return cures;
}

Result<void> tryFloatOperators(TuneSearch& search)
{
    return search.isAllowed(CureKind::Float) ? FloatStage(search).run() : Result<void>();
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/why_json.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/result/error_json.h"

#include <array>

namespace qs {

namespace {

constexpr const char* kNoWhy = "not what 'quantscope why --json' writes";

tl::unexpected<Error> notWhy(const std::string& what)
{
    return fail(ErrorCode::BadInput, kNoWhy + std::string(": ") + what);
}

/// Returns the value with this name.
template<class T, std::size_t N>
Result<T> named(const std::array<T, N>& all, std::string_view (*nameOf)(T), const Json& name)
{
    for (const T value : all)
        if (name == nameOf(value))
            return value;
    return notWhy("unknown word " + name.dump());
}

/// Reads one document; its functions throw Json's exceptions if a key is missing.
class WhyReader
{
public:
    WhyReader(const Json& json, const Graph& model)
        : m_json(json)
        , m_model(model)
    {
    }

    Result<Blame> blame() const
    {
        Blame blame;
        for (const Json& entry : m_json.at("sites")) {
            QS_TRY(SiteBlame site, this->site(entry));
            blame.sites.push_back(std::move(site));
        }
        blame.predicted = orInfinity(m_json, "predicted");
        blame.measured = orInfinity(m_json, "measured");
        blame.samples = m_json.at("samples").get<std::int64_t>();
        blame.probes = m_json.at("probes").get<int>();
        blame.outputs = m_json.at("outputs").get<std::vector<std::string>>();
        blame.leftOut = m_json.at("left_out").get<std::vector<std::string>>();
        return blame;
    }

    Result<std::vector<Cause>> causes(std::size_t sites) const
    {
        std::vector<Cause> causes;
        for (const Json& entry : m_json.at("causes")) {
            Cause cause;
            const auto code = causeFromName(entry.at("cause").get<std::string>());
            cause.site = entry.at("site").get<std::size_t>();
            if (!code || cause.site >= sites)
                return notWhy("cause " + entry.at("cause").dump() + " of site "
                              + entry.at("site").dump());
            cause.code = *code;
            cause.share = orInfinity(entry, "share");
            cause.evidence = entry.at("evidence").get<std::vector<std::string>>();
            QS_TRY(cause.proposals, proposals(entry.at("cures")));
            causes.push_back(std::move(cause));
        }
        return causes;
    }

    BlameOptions options() const
    {
        const Json& told = m_json.at("options");
        BlameOptions options;
        options.samples = told.at("samples").get<std::int64_t>();
        options.rows = told.at("rows").get<std::int64_t>();
        options.seed = told.at("seed").get<std::uint64_t>();
        if (!told.at("exact").is_null())
            options.exact = told.at("exact").get<std::int64_t>();
        return options;
    }

private:
    Result<NodeId> node(const Json& name) const
    {
        if (const Node* found = m_model.tryFind(name.get<std::string>()))
            return found->id;
        return notWhy("the model has no node " + name.dump());
    }

    Result<SiteBlame> site(const Json& entry) const
    {
        using Kind = BlameSite::Kind;
        static constexpr std::array kKinds {Kind::Value, Kind::Weight, Kind::Interior};
        SiteBlame out;
        QS_TRY(out.site.kind, named(kKinds, siteKindName, entry.at("kind")));
        if (!entry.at("readers").is_null()) {
            QS_TRY(out.site.readers, named(kReaderClasses, readerClassName, entry.at("readers")));
        }
        if (!entry.at("observer").is_null())
            out.site.observer = ObserverId(entry.at("observer").get<std::uint32_t>());
        if (!entry.at("node").is_null()) {
            QS_TRY(out.site.node, node(entry.at("node")));
        }
        if (out.site.kind == Kind::Value)
            out.site.value = {out.site.node, entry.at("output").get<std::uint32_t>()};
        for (const Json& name : entry.at("at")) {
            QS_TRY(const NodeId reader, node(name));
            out.site.at.push_back(reader);
        }
        out.share = orInfinity(entry, "share");
        out.standardError = orInfinity(entry, "standard_error");
        out.white = orInfinity(entry, "white");
        out.exact = numberAt(entry, "exact");
        out.ownDb = numberAt(entry, "own_db");
        out.blocked = entry.at("blocked").get<bool>();
        out.expected = orInfinity(entry, "expected");
        return out;
    }

    /// Reads proposals; includes qconfigs that the document defines.
    Result<std::vector<Proposal>> proposals(const Json& list) const
    {
        QS_TRY(const std::vector<Cure> cures, readCures({list, "why", "cures"}));
        std::vector<Proposal> out;
        for (const Cure& cure : cures) {
            Proposal proposal {cure};
            const Json& qconfigs = m_json.at("qconfigs");
            if (const auto own = qconfigs.find(cure.qconfig); own != qconfigs.end()) {
                QS_TRY(proposal.qconfig, readQConfig({*own, "why", "qconfigs." + cure.qconfig}));
                proposal.cure.qconfig.clear();
            }
            out.push_back(std::move(proposal));
        }
        return out;
    }

    const Json& m_json;
    const Graph& m_model;
};

Result<DiagnosisPtr> readDiagnosis(const Json& document, const Graph& model, const Plan& plan)
{
    try {
        if (document.at("format") != "quantscope.why" || document.at("version") != 1)
            return fail(ErrorCode::BadInput, kNoWhy);
        const WhyReader reader(document, model);
        auto made = std::make_shared<Diagnosis>();
        QS_TRY(Blame blame, reader.blame());
        QS_TRY(made->causes, reader.causes(blame.sites.size()));
        made->units = noiseByUnit(blame, model, plan);
        made->blame = std::make_shared<const Blame>(std::move(blame));
        if (const Json* front = memberOf(document, "front")) // not in older results
            for (const Json& point : *front)
                made->front.push_back(
                    {point.at("int8_macs").get<double>(), orInfinity(point, "db")});
        made->options = reader.options();
        made->eightBitsHold = document.at("options").at("eight_bits").get<bool>();
        made->data = document.at("data").get<std::string>();
        return DiagnosisPtr(std::move(made));
    } catch (const Json::exception& wrong) { // a key is missing or of another type
        return notWhy(wrong.what());
    }
}

} // namespace

Result<DiagnosisPtr> diagnosisFromResult(const ResultDocument& document, const Graph& model,
                                         const Plan& plan)
{
    const Json* section = memberOf(document.json(), "why");
    return section ? readDiagnosis(*section, model, plan) : Result<DiagnosisPtr>(nullptr);
}

} // namespace qs

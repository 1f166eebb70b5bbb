// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/gate.h"

#include "engine/base/json/json_reader.h"
#include "engine/base/text.h"
#include "engine/plan/names/named_node.h"
#include "engine/result/result_document.h"

#include <algorithm>
#include <cstdlib>

namespace qs {

namespace {

std::string shortNumber(double value)
{
    return numberText(value, 6);
}

Json childOf(const Json& owner, const char* key)
{
    return owner.is_object() && owner.contains(key) ? owner[key] : Json();
}

class Gate
{
public:
    Gate(const Json& document, const GateLimits& limits)
        : m_document(document)
        , m_limits(limits)
    {
    }

    Result<std::vector<GateCheck>> run()
    {
        for (const Json& output : childOf(m_document, "outputs"))
            addOutput(output);
        addDrops();
        if (m_limits.minCoverage)
            addCoverage();
        for (const GateLimits::Node& node : m_limits.nodes)
            QS_CHECK(addNode(node));
        return std::move(m_checks);
    }

private:
    void least(const char* rule, const std::string& where, const std::string& what,
               std::optional<double> found, double wanted, const char* unit)
    {
        const std::string value = found ? shortNumber(*found) + unit : "not measured";
        m_checks.push_back(
            {rule, where, found && *found >= wanted,
             what + " is " + value + ", at least " + shortNumber(wanted) + unit + " is required"});
    }

    void addOutput(const Json& output)
    {
        const std::string name = output.value("name", "");
        const Json lowered = childOf(output, "lowered");
        const Json error = lowered.is_object() ? lowered : childOf(output, "cumulative");
        if (m_limits.minSqnrDb)
            least("min-sqnr", name, "the SQNR of output " + inQuotes(name),
                  numberAt(error, "sqnr_db"), *m_limits.minSqnrDb, " dB");
        if (m_limits.minCosine)
            least("min-cosine", name, "the cosine of output " + inQuotes(name),
                  numberAt(error, "cosine"), *m_limits.minCosine, "");
    }

    void addDrop(const std::string& what, std::optional<double> before, std::optional<double> now,
                 double unit, const char* unitText)
    {
        const bool known = before && now;
        const double drop = known ? (*before - *now) * unit : 0;
        m_checks.push_back({"max-drop", "model", known && drop <= *m_limits.maxDrop + 1e-9,
                            known
                                ? what + " falls by " + shortNumber(drop) + unitText + ", at most "
                                    + shortNumber(*m_limits.maxDrop) + unitText + " is required"
                                : what + " was not measured: " + unmeasured()});
    }

    /// Why the drop is unknown, and what to do.
    std::string unmeasured() const
    {
        return childOf(m_document, "evaluation").is_object()
            ? "the result holds no value of it; quantize with --eval again"
            : "neither labels nor the model say which output holds the scores of classes; quantize "
              "with data that have an array 'labels' (one whole number a sample), or give the "
              "model's own metric (--eval)";
    }

    void addDrops()
    {
        if (!m_limits.maxDrop)
            return;
        const Json labels = childOf(m_document, "labels");
        const Json own = childOf(m_document, "evaluation");
        const auto top1 = numberAt(labels, "float_top1");
        if (own.is_object())
            addDrop("the metric", numberAt(own, "float"), numberAt(own, "int8"), 1, "");
        if (top1)
            addDrop("top-1", top1, numberAt(labels, "int8_top1"), 100, " points");
        else if (!own.is_object()) // without labels: the disagreement bounds the drop
            addDrop("top-1 at worst", 1.0, numberAt(childOf(m_document, "agreement"), "top1"), 100,
                    " points");
    }

    void addCoverage()
    {
        const Json coverage = childOf(m_document, "coverage");
        const auto quantized = numberAt(coverage, "quantized");
        const auto eligible = numberAt(coverage, "eligible");
        const bool known = quantized && eligible && *eligible > 0;
        least("min-coverage", "model", "the share of eligible operators that are quantized",
              known ? std::optional(100 * *quantized / *eligible) : std::nullopt,
              *m_limits.minCoverage, " %");
    }

    /// The error of a node, or of the fusion that it belongs to. Null: not measured.
    const Json* measuredAt(const Json& node) const
    {
        if (childOf(node, "error").is_object())
            return &node;
        const Json unit = childOf(node, "unit");
        for (const Json& other : m_document.at("nodes"))
            if (unit.is_string() && other.value("name", Json()) == unit
                && childOf(other, "error").is_object())
                return &other;
        return nullptr;
    }

    /// Checks a limit of a node, or of a module at its last measured node.
    Result<void> addNode(const GateLimits::Node& wanted)
    {
        std::vector<NodeNames> names;
        for (const Json& node : m_document.at("nodes"))
            names.push_back(
                {node.value("name", ""), {node.value("title", "")}, node.value("module", "")});
        QS_TRY(const std::vector<std::size_t> meant, nodesNamed(names, wanted.name));
        const Json* found = nullptr;
        for (auto it = meant.rbegin(); !found && it != meant.rend(); ++it)
            found = measuredAt(m_document.at("nodes")[*it]);
        const std::string at
            = found ? found->value("title", found->value("name", "")) : wanted.name;
        least("node", wanted.name,
              "the SQNR of " + inQuotes(wanted.name)
                  + (at == wanted.name || found->value("name", "") == wanted.name
                         ? ""
                         : ", measured at " + inQuotes(at) + ","),
              found ? numberAt(childOf(childOf(*found, "error"), "cumulative"), "sqnr_db")
                    : std::nullopt,
              wanted.minSqnrDb, " dB");
        return {};
    }

    const Json& m_document;
    const GateLimits& m_limits;
    std::vector<GateCheck> m_checks;
};

} // namespace

Result<GateLimits::Node> nodeLimit(const std::string& text)
{
    const std::size_t colon = text.rfind(':');
    GateLimits::Node limit;
    if (colon != std::string::npos && colon > 0) {
        limit.name = text.substr(0, colon);
        char* end = nullptr;
        const std::string number = text.substr(colon + 1);
        limit.minSqnrDb = std::strtod(number.c_str(), &end);
        if (end != number.c_str() && std::string(end).find_first_not_of(' ') == std::string::npos)
            return limit;
    }
    return fail(makeError(ErrorCode::Usage, "--node: invalid limit " + inQuotes(text))
                    .withHint("give a node or module and its least SQNR in dB: 'head: 35'"));
}

Result<std::vector<GateCheck>> checkResult(const ResultDocument& document, const GateLimits& limits)
{
    return document.made<std::vector<GateCheck>>(
        [&](const Json& json) { return Gate(json, limits).run(); });
}

std::string junitText(const std::vector<GateCheck>& checks, const std::string& model)
{
    const auto failures
        = std::count_if(checks.begin(), checks.end(), [](const auto& c) { return !c.passed; });
    std::string text
        = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"quantscope\" tests=\""
        + std::to_string(checks.size()) + "\" failures=\"" + std::to_string(failures) + "\">\n";
    for (const GateCheck& check : checks) {
        text += "  <testcase classname=\"" + escapeHtml(model) + "\" name=\""
            + escapeHtml(check.rule + " " + check.where) + "\"";
        text += check.passed
            ? "/>\n"
            : ">\n    <failure message=\"" + escapeHtml(check.message) + "\"/>\n  </testcase>\n";
    }
    return text + "</testsuite>\n";
}

std::string sarifText(const std::vector<GateCheck>& checks, const std::string& model)
{
    Json rules = Json::array(), results = Json::array();
    std::vector<std::string> known;
    for (const GateCheck& check : checks) {
        if (std::find(known.begin(), known.end(), check.rule) == known.end()) {
            known.push_back(check.rule);
            rules.push_back({{"id", check.rule}});
        }
        if (check.passed)
            continue;
        const Json location {
            {"physicalLocation", {{"artifactLocation", {{"uri", model}}}}},
            {"logicalLocations", Json::array({{{"fullyQualifiedName", check.where}}})}};
        results.push_back({{"ruleId", check.rule},
                           {"level", "error"},
                           {"message", {{"text", check.message}}},
                           {"locations", Json::array({location})}});
    }
    const Json driver {
        {"name", "quantscope"}, {"version", QUANTSCOPE_VERSION}, {"rules", std::move(rules)}};
    const Json run {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
    const Json json {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({run})}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace qs

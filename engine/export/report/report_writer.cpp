// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/atomic_file.h"
#include "engine/base/text.h"
#include "engine/configure/edit_text.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/resource_folder.h"
#include "engine/export/documents/result_writer.h"
#include "engine/export/report/page_template.h"
#include "engine/export/report/report_certificate.h"
#include "engine/plan/summaries/coverage.h"
#include "engine/result/part_text.h"

#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

std::string quantizationText(const Json& entry)
{
    const Json* scales = memberOf(entry, "scale");
    return fieldText(entry, "dtype")
        + (scales && scales->size() == 1 ? ", scale " + fixedText((*scales)[0].get<double>(), 6)
                   + ", zero point " + entry.at("zero_point").at(0).dump()
                                         : std::string());
}

std::string gainText(double db)
{
    return (db < 0 ? "" : "+") + fixedText(db, 1) + " dB";
}

/// Values for the page's template: the result document and the texts and figures derived from it.
class PageValues
{
public:
    PageValues(const Json& result, std::string folder)
        : m_page(result)
        , m_folder(std::move(folder))
    {
        for (Json& node : m_page.at("nodes")) {
            if (!node.contains("title")) // written by an older version
                node["title"] = fieldText(node, "name");
            m_titles[fieldText(node, "name")] = fieldText(node, "title");
        }
    }

    Result<Json> made()
    {
        addSummary();
        addSearch();
        addWhy();
        addNodes();
        addResidue();
        QS_TRY(m_page["histograms"], histogramValues(m_page, m_folder));
        QS_TRY(m_page["files"], fileValues(m_page, m_folder));
        m_page["kernels"] = kernelValues(m_page);
        m_page["certificate"] = certificateValues(m_folder, m_titles);
        return std::move(m_page);
    }

private:
    std::string titleAt(const Json& owner, const char* key) const
    {
        return titleIn(m_titles, fieldText(owner, key));
    }

    void addSummary()
    {
        m_page["file"] = fs::path(fieldText(m_page.at("model"), "path")).filename().string();
        const Json& coverage = m_page.at("coverage");
        m_page["covered"]
            = coverageText(coverage.at("quantized").get<int>(), coverage.at("eligible").get<int>(),
                           coverage.at("total").get<int>());
        m_page["against_original"] = fieldText(m_page, "against") == "original";
        for (Json& output : m_page.at("outputs"))
            output["title"] = titleAt(output, "name");
        if (const Json* agreement = memberOf(m_page, "agreement"))
            m_page["agreement"]["title"] = titleAt(*agreement, "output");
        if (const Json* samples = memberOf(m_page, "sample_errors"))
            m_page["sample_errors"]["title"] = titleAt(*samples, "output");
        m_page["peak_mb"] = m_page.at("peak_rss_bytes").get<double>() / 1e6;
        m_page["colours"] = {{"light", scaleRules(false)}, {"dark", scaleRules(true)}};
    }

    void addSearch()
    {
        if (!memberOf(m_page, "search"))
            return;
        for (Json& step : m_page["search"].at("steps")) {
            const auto before = numberAt(step, "before_db"), after = numberAt(step, "after_db");
            if (before && after)
                step["gain"] = gainText(*after - *before);
        }
    }

    void addWhy()
    {
        m_page["least_part"] = kLeastPart;
        if (memberOf(m_page, "why")) {
            for (const Json& unit : m_page["why"].at("units"))
                m_shares[fieldText(unit, "node")] = partText(
                    numberAt(unit, "part").value_or(0), numberAt(unit, "part_error").value_or(0));
            for (Json& cause : m_page["why"].at("causes"))
                if (const auto cures = readCures({cause.at("cures"), "result.json", "why.cures"}))
                    for (const Cure& cure : *cures)
                        cause["mends"].push_back(cureText(cure));
        }
        m_page["shares"] = !m_shares.empty();
        if (memberOf(m_page, "cures"))
            for (Json& cure : m_page["cures"]) {
                std::string titles;
                for (const Json& node : cure.at("nodes"))
                    titles += (titles.empty() ? "" : ", ")
                        + titleIn(m_titles, node.get<std::string>());
                cure["titles"] = titles;
                if (const auto gain = numberAt(cure, "gain_db"))
                    cure["gain"] = gainText(*gain);
            }
        m_page["mended"] = memberOf(m_page, "why") || !m_page.value("cures", Json()).empty();
    }

    void addNodes()
    {
        const ErrorScale scale = bornScale(m_page);
        m_page["scale"] = {{"best", scale.best()}, {"worst", scale.worst()}};
        m_page["tree"] = treeValues(m_page, scale);
        m_page["worst"] = worstValues(m_page, scale);
        m_page["worst_height"] = 20 * m_page["worst"].size() + 4;
        m_page["interiors"] = Json::array();
        m_page["steps"] = Json::array();
        const Json* forms = memberOf(m_page, "forms");
        const std::string parting = forms ? fieldText(*forms, "parting") : std::string();
        for (Json& node : m_page.at("nodes")) {
            if (errorTerm(node, ErrorTerm::BornHere, "samples"))
                m_page["sampled"] = true;
            if (const auto db = errorTerm(node, ErrorTerm::BornHere))
                node["step"] = scaleClass(scale.badness(*db));
            if (const auto share = m_shares.find(fieldText(node, "name")); share != m_shares.end())
                node["share"] = share->second;
            if (const Json& output = node.at("output"); output.is_object())
                node["quantization"] = quantizationText(output);
            for (Json value : node.value("interior", Json::array())) {
                value["title"] = node["title"];
                value["quantization"] = quantizationText(value);
                m_page["interiors"].push_back(std::move(value));
            }
            addSteps(node, parting);
        }
    }

    /// Adds the differences between lowered and reference form at a node to `steps`, if measured.
    void addSteps(const Json& node, const std::string& parting)
    {
        const Json* kernel = memberOf(node, "kernel");
        const Json* alone = kernel ? memberOf(*kernel, "steps") : nullptr;
        const Json* whole = memberOf(node, "departure");
        if (!alone && !whole)
            return;
        const bool isLowered = kernel && kernel->at("passed").get<bool>();
        Json row = {{"title", node["title"]},
                    {"parts", fieldText(node, "name") == parting},
                    {"kernel", isLowered ? fieldText(*kernel, "name") : "reference form"},
                    {"forms", Json::array({stepsValues(alone), stepsValues(whole)})}};
        for (const char* key : {"reference_db", "lowered_db"})
            if (const auto db = whole ? numberAt(*whole, key) : std::nullopt)
                row[key] = *db;
        m_page["steps"].push_back(std::move(row));
    }

    /// Lists what lowering left: nodes that the plan quantizes but that run in float between
    /// dequantize and quantize, and quantize-dequantize pairs that only float consumers read.
    void addResidue()
    {
        for (const Json& left : m_page.value("residue", Json::array()))
            m_page[fieldText(left, "kind")].push_back(
                {{"title",
                  memberOf(left, "node") ? titleAt(left, "node") : fieldText(left, "name")},
                 {"reason", fieldText(left, "reason")}});
    }

    Json m_page;
    std::string m_folder;
    ReportTitles m_titles;
    std::unordered_map<std::string, std::string> m_shares; ///< share of the outputs' noise, by node
};

} // namespace

Result<void> writeHtmlReport(const std::string& folder, const std::string& htmlPath)
{
    QS_TRY(const std::string page,
           readTextFile((resourceFolder() / "report" / "page.html").string()));
    QS_TRY(const ResultDocument result, ResultDocument::read(folder));
    QS_TRY(const Json values, result.made<Json>([&](const Json& json) {
        return PageValues(json, fs::path(result.path()).parent_path().string()).made();
    }));
    return writeFileAtomically(htmlPath, filled(page, values));
}

} // namespace qs

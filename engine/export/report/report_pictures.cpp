// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_pictures.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/execute/steps/step_counts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

/// Number of CSS colour classes; enough that neighbouring colours look the same.
constexpr int kSteps = 48;
constexpr std::size_t kWorst = 12;

struct Module
{
    std::string name, path {}, className {};
    int operators = 0, quantized = 0;
    std::optional<double> worst {}; ///< dB
    std::vector<Module> children {}; ///< in graph order
};

void include(Module& module, const ReportJson& node)
{
    ++module.operators;
    module.quantized += node.at("quantized").get<bool>();
    if (const auto db = errorTerm(node, ErrorTerm::BornHere); db && *db < kExactDb)
        module.worst = std::min(module.worst.value_or(*db), *db);
}

Module& childOf(Module& parent, const std::string& name)
{
    for (Module& child : parent.children)
        if (child.name == name)
            return child;
    return parent.children.emplace_back(
        Module {name, parent.path.empty() ? name : parent.path + "." + name});
}

Module buildTree(const ReportJson& result)
{
    constexpr std::size_t kDeepest = 7;
    Module root {"model"};
    for (const ReportJson& node : result.at("nodes")) {
        const std::string op = fieldText(node, "op"), path = fieldText(node, "module");
        if (op == "input" || op == "parameter" || op == "constant")
            continue;
        Module* at = &root;
        include(*at, node);
        for (std::size_t begin = 0, depth = 1; begin < path.size() && depth < kDeepest; ++depth) {
            const std::size_t end = std::min(path.find('.', begin), path.size());
            at = &childOf(*at, path.substr(begin, end - begin));
            include(*at, node);
            begin = end + 1;
        }
        if (at->path == path)
            at->className = fieldText(node, "module_class");
    }
    return root;
}

std::size_t depthOf(const Module& module)
{
    std::size_t deepest = 0;
    for (const Module& child : module.children)
        deepest = std::max(deepest, depthOf(child));
    return deepest + 1;
}

/// How boxes are laid out.
struct TreeLayout
{
    double column, row; ///< width of a box; height of an operator
    const ErrorScale& scale;
};

void addBoxes(ReportJson& boxes, const Module& module, const TreeLayout& layout, double x, double y)
{
    constexpr double kTextHeight = 13; // a box of less height has only a tool tip
    const double height = layout.row * module.operators;
    const std::string db = module.worst ? fixedText(*module.worst, 1) + " dB" : std::string();
    const double badness = module.worst ? layout.scale.badness(*module.worst) : 0;
    ReportJson box
        = {{"tip",
            (module.path.empty() ? module.name : module.path) + " " + module.className + ": "
                + std::to_string(module.quantized) + " of " + counted(module.operators, "operator")
                + " quantized" + (db.empty() ? "" : ", worst layer " + db)},
           {"x", fixedText(x, 1)},
           {"y", fixedText(y, 1)},
           {"width", fixedText(layout.column - 2, 1)},
           {"height", fixedText(std::max(height - 1, 0.5), 1)},
           {"fill",
            module.worst               ? scaleClass(badness)
                : module.quantized > 0 ? "done"
                                       : "float"}};
    if (height >= kTextHeight) {
        // Shortened to the estimated number of characters that fit; the tool tip has the full name.
        const double width = layout.column - (db.empty() ? 12 : 64);
        const auto room = std::size_t(std::max(width / 6.2, 1.0));
        box["name"]
            = module.name.size() <= room ? module.name : module.name.substr(0, room - 1) + "…";
        box["db"] = db;
        box["ink"] = module.worst ? scaleClass(badness, 't') : "";
        box["left"] = fixedText(x + 5, 1);
        box["right"] = fixedText(x + layout.column - 8, 1);
        box["base"] = fixedText(y + std::min(height / 2 + 4, 20.0), 1);
    }
    boxes.push_back(std::move(box));
    // Children are stacked from the top; the height left below stands for the module's operators.
    for (const Module& child : module.children) {
        addBoxes(boxes, child, layout, x + layout.column, y);
        y += layout.row * child.operators;
    }
}

} // namespace

ErrorScale bornScale(const ReportJson& result)
{
    ErrorScale scale;
    for (const ReportJson& node : result.at("nodes"))
        if (const auto db = errorTerm(node, ErrorTerm::BornHere))
            scale.include(*db);
    return scale;
}

std::string scaleClass(double badness, char kind)
{
    return kind + std::to_string(std::lround(std::clamp(badness, 0.0, 1.0) * (kSteps - 1)));
}

std::string scaleRules(bool dark)
{
    std::string css, stops;
    for (int i = 0; i < kSteps; ++i) {
        const Rgb colour = cividis(double(i) / (kSteps - 1), dark);
        const std::string step = std::to_string(i), fill = hexColour(colour);
        stops += "," + fill;
        css += ".s" + step + "{fill:" + fill + ";background:" + fill + "}svg text.t" + step
            + "{fill:" + hexColour(inkOn(colour)) + "}";
    }
    return css + ".scale{background:linear-gradient(to right" + stops + ")}";
}

ReportJson treeValues(const ReportJson& result, const ErrorScale& scale)
{
    constexpr double kColumn = 240, kWidth = 1180;
    const Module root = buildTree(result);
    if (root.children.empty())
        return nullptr;
    const auto depth = double(depthOf(root));
    const double column = std::min(kColumn, kWidth / depth);
    const double height = std::clamp(14.0 * root.operators, 120.0, 1600.0);
    ReportJson boxes = ReportJson::array();
    addBoxes(boxes, root, {column, height / root.operators, scale}, 0, 0);
    return {{"width", fixedText(column * depth, 1)},
            {"height", fixedText(height, 1)},
            {"boxes", std::move(boxes)}};
}

ReportJson worstValues(const ReportJson& result, const ErrorScale& scale)
{
    constexpr double kBars = 360, kShortest = 0.12; // even the best bar stays visible
    std::vector<std::pair<double, std::string>> losses;
    for (const ReportJson& node : result.at("nodes"))
        if (const auto db = errorTerm(node, ErrorTerm::BornHere); db && *db < kExactDb)
            losses.emplace_back(*db, fieldText(node, "title"));
    std::stable_sort(losses.begin(), losses.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    ReportJson bars = ReportJson::array();
    for (std::size_t i = 0; i < std::min(losses.size(), kWorst); ++i) {
        const double badness = std::clamp(scale.badness(losses[i].first), 0.0, 1.0);
        const double length = kBars * (kShortest + (1 - kShortest) * badness);
        bars.push_back({{"title", losses[i].second},
                        {"db", fixedText(losses[i].first, 2)},
                        {"step", scaleClass(badness)},
                        {"y", 20 * i + 4},
                        {"base", 20 * i + 15},
                        {"width", fixedText(length, 1)},
                        {"right", fixedText(length + 336, 1)}});
    }
    return bars;
}

ReportJson stepsValues(const ReportJson* steps)
{
    if (!steps)
        return ReportJson::object();
    constexpr double kWidth = 5, kHeight = 22;
    const auto rounded = [&](const char* key) { // up: never below the real value
        const auto value = numberAt(*steps, key);
        return value ? numberText(std::ceil(*value * 1e4) / 1e4) : std::string("not finite");
    };
    const double all = steps->at("count").get<double>(), most = std::log1p(all);
    const double share = all > 0 ? 100 * steps->at("equal").get<double>() / all : 100;
    std::string bars, words;
    const ReportJson& bins = steps->at("histogram");
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const double count = bins[i].get<double>();
        if (count == 0)
            continue;
        // Logarithmic, so that one element in a million stays visible.
        const double height = most > 0 ? kHeight * std::log1p(count) / most : 0;
        bars += "<rect class=\"bin\" x=\"" + fixedText(double(i) * kWidth, 0) + "\" y=\""
            + fixedText(kHeight - height, 1) + "\" width=\"4\" height=\"" + fixedText(height, 1)
            + "\"/>";
        const int apart = int(i) - StepCounts::kReach;
        const bool isEnd = i == 0 || i + 1 == bins.size();
        words += (words.empty() ? "" : ", ") + std::string(apart > 0 ? "+" : "")
            + std::to_string(apart) + (isEnd ? " and beyond" : "") + ": " + bins[i].dump();
    }
    return {{"share", fixedText(std::floor(share * 1000) / 1000, 3) + " %"}, // 100 % only if all
            {"mean", rounded("mean")},
            {"max", rounded("max")},
            {"words", words},
            {"bars", bars}};
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_tree.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/export/report/report_style.h"
#include "engine/export/report/report_svg.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace qs {

namespace {

using Json = ResultDocument::Json;

constexpr double kColumn = 150, kGap = 2, kWidth = 1180;
constexpr double kTextHeight = 13; // a lower box has a tool tip only
constexpr std::size_t kDeepest = 7;

struct Module
{
    std::string name, path, className;
    int operators = 0, quantized = 0;
    std::optional<double> worst; ///< dB
    std::vector<std::unique_ptr<Module>> children; ///< in graph order
};

void include(Module& module, const Json& node)
{
    ++module.operators;
    module.quantized += node.at("quantized").get<bool>();
    if (const auto db = errorTerm(node, ErrorTerm::BornHere); db && *db < kExactDb)
        module.worst = module.worst ? std::min(*module.worst, *db) : *db;
}

Module& childOf(Module& parent, const std::string& name)
{
    for (const auto& child : parent.children)
        if (child->name == name)
            return *child;
    parent.children.push_back(std::make_unique<Module>());
    Module& child = *parent.children.back();
    child.name = name;
    child.path = parent.path.empty() ? name : parent.path + "." + name;
    return child;
}

Module buildTree(const Json& result)
{
    Module root;
    root.name = "model";
    for (const Json& node : result.at("nodes")) {
        const std::string op = fieldText(node, "op");
        if (op == "input" || op == "parameter" || op == "constant")
            continue;
        const std::string path = fieldText(node, "module");
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
    for (const auto& child : module.children)
        deepest = std::max(deepest, depthOf(*child));
    return deepest + 1;
}

std::string dbText(const Module& module)
{
    return module.worst ? fixedText(*module.worst, 1) + " dB" : std::string();
}

/// About as many characters as fit; the tool tip has them all.
std::string shortened(const std::string& text, double width)
{
    const auto room = std::size_t(std::max(width / 6.2, 1.0));
    return text.size() <= room ? text : text.substr(0, room - 1) + "…";
}

class Drawing
{
public:
    Drawing(double column, double rowHeight, const ErrorScale& scale)
        : m_column(column)
        , m_row(rowHeight)
        , m_scale(scale)
    {
    }

    void add(const Module& module, double x, double y)
    {
        const double height = m_row * module.operators;
        const std::string number = dbText(module);
        m_svg += "<g><title>" + escapeHtml(module.path.empty() ? module.name : module.path) + " "
            + escapeHtml(module.className) + ": " + std::to_string(module.quantized) + " of "
            + counted(module.operators, "operator") + " quantized"
            + (number.empty() ? "" : ", worst layer " + number) + "</title><rect x=\""
            + fixedText(x, 1) + "\" y=\"" + fixedText(y, 1) + "\" width=\""
            + fixedText(m_column - kGap, 1) + "\" height=\""
            + fixedText(std::max(height - 1, 0.5), 1) + "\" class=\"" + fillOf(module) + "\"/>";
        if (height >= kTextHeight) {
            const double baseline = y + std::min(height / 2 + 4, 20.0);
            const double numberWidth = number.empty() ? 0 : 52;
            const std::string ink
                = module.worst ? scaleInkClass(m_scale.badness(*module.worst)) : std::string();
            m_svg += "<text class=\"" + ink + "\" x=\"" + fixedText(x + 5, 1) + "\" y=\""
                + fixedText(baseline, 1) + "\">"
                + escapeHtml(shortened(module.name, m_column - numberWidth - 12)) + "</text>";
            if (!number.empty())
                m_svg += "<text class=\"label " + ink + "\" x=\"" + fixedText(x + m_column - 8, 1)
                    + "\" y=\"" + fixedText(baseline, 1) + "\">" + number + "</text>";
        }
        m_svg += "</g>\n";
        // Operators of the module's own come first; the children stand below one another.
        double top = y;
        for (const auto& child : module.children) {
            add(*child, x + m_column, top);
            top += m_row * child->operators;
        }
    }

    const std::string& svg() const { return m_svg; }

private:
    std::string fillOf(const Module& module) const
    {
        if (module.worst)
            return scaleClass(m_scale.badness(*module.worst));
        return module.quantized > 0 ? "done" : "float";
    }

    double m_column, m_row;
    const ErrorScale& m_scale;
    std::string m_svg;
};

} // namespace

std::string moduleTreeHtml(const Json& result)
{
    const Module root = buildTree(result);
    if (root.children.empty())
        return {};
    const std::size_t depth = depthOf(root);
    const double column = std::min(kColumn * 1.6, kWidth / double(depth));
    const double height = std::clamp(14.0 * root.operators, 120.0, 1600.0);
    const ErrorScale scale = bornScale(result);
    Drawing drawing(column, height / root.operators, scale);
    drawing.add(root, 0, 0);
    return "<h2>Module tree</h2><p>A box is as high as its module has operators; its colour and "
           "its number are the worst signal to noise born at one of its layers. Light blue: "
           "quantized, and measured at the end of its fusion; grey: float.</p>"
        + scaleLegendHtml(scale) + svgOpen(column * double(depth), height) + drawing.svg()
        + "</svg>";
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/pack_report.h"

#include "engine/base/json/json_reader.h"

#include <filesystem>

namespace qs {

namespace {

std::vector<std::pair<std::string, std::string>> rolesOf(const OperatorFacts& facts)
{
    std::vector<std::pair<std::string, std::string>> roles;
    for (const auto& [role, name] :
         {std::pair("input", &facts.input), std::pair("weight", &facts.weight),
          std::pair("bias", &facts.bias)})
        if (!name->empty())
            roles.emplace_back(role, *name);
    for (const std::string& name : facts.carried)
        roles.emplace_back("carried", name);
    return roles;
}

std::string fileName(const std::string& path)
{
    return std::filesystem::path(path).filename().string();
}

std::string kindOf(const OperatorFacts& facts)
{
    return facts.isKernel   ? "kernel"
        : facts.isPrepack   ? "prepack"
        : facts.movesValues ? "moves values"
                            : "operator";
}

std::string wordsOf(const std::vector<std::string>& names, const char* between = " + ")
{
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : between) + name;
    return text;
}

std::vector<std::string> operatorsOf(const PackScript& script)
{
    std::vector<std::string> names;
    for (const auto& [op, method] : script.methods)
        names.push_back(op);
    return names;
}

/// "[x.0, 8] int64", "x", "mypack::window_shape".
std::string resultText(const PackResult& result)
{
    std::string text = result.like + result.sizes;
    if (text.empty()) {
        for (const PackDim& dim : result.dims)
            text += (text.empty() ? "" : ", ")
                + (dim.argument.empty() ? std::to_string(dim.size) : dim.argument)
                + (dim.dimension ? "." + std::to_string(*dim.dimension) : "");
        text = "[" + text + "]";
    }
    return result.dtype == DType::Unknown ? text
                                          : text + " " + std::string(dtypeName(result.dtype));
}

std::vector<std::string> resultTexts(const PackShapes& shapes)
{
    std::vector<std::string> texts;
    for (const PackResult& result : shapes.results)
        texts.push_back(resultText(result));
    return texts;
}

Json modulesJson(const ExtensionPack& pack)
{
    Json list = Json::array();
    for (const PackModuleSpec& module : pack.modules) {
        Json modes = Json::object();
        for (const auto& [mode, call] : module.kernels)
            modes[std::string(quantizationModeName(mode))] = call.kernel;
        list.push_back({{"class", module.floatClass}, {"modes", std::move(modes)}});
    }
    return list;
}

} // namespace

std::vector<PackAddition> packAdditions(const ExtensionPack& pack)
{
    std::vector<PackAddition> all;
    for (const std::string& library : pack.libraries)
        all.push_back({"library", fileName(library)});
    for (const std::string& library : pack.cudaLibraries)
        all.push_back(
            {"for CUDA",
             fileName(library) + (std::filesystem::exists(library) ? "" : " (is not there)")});
    for (const PackScript& script : pack.scripts)
        all.push_back(
            {"script", fileName(script.path) + " (" + wordsOf(operatorsOf(script), ", ") + ")"});
    for (const OperatorFacts& facts : pack.operators) {
        std::string roles;
        for (const auto& [role, name] : rolesOf(facts))
            roles += (roles.empty() ? " (" : ", ") + role + " " + name;
        all.push_back(
            {kindOf(facts), qualifiedName(facts.target) + (roles.empty() ? "" : roles + ")")});
    }
    for (const PackShapes& shapes : pack.shapes)
        all.push_back({"results", shapes.op + " -> " + wordsOf(resultTexts(shapes), ", ")});
    for (const PackClassSpec& spec : pack.classes)
        all.push_back({"class",
                       spec.name + " (" + spec.field + "; get " + wordsOf(spec.get, ", ")
                           + "; replace " + wordsOf(spec.replace, ", ") + ")"});
    for (const BackendPattern& pattern : pack.patterns)
        all.push_back(
            {"pattern",
             pattern.complexFormat.empty() ? wordsOf(pattern.pattern) : pattern.complexFormat});
    for (const KernelRow& row : pack.rows)
        all.push_back({"lowering", wordsOf(row.pattern) + " -> " + row.kernel});
    for (const PackModuleSpec& module : pack.modules)
        for (const auto& [mode, call] : module.kernels)
            all.push_back({"module",
                           module.floatClass + ", " + std::string(quantizationModeName(mode))
                               + " -> " + call.kernel});
    return all;
}

std::string packText(const ExtensionPack& pack)
{
    std::string text = "name      " + pack.name + "\n"
        + (pack.description.empty() ? "" : "          " + pack.description + "\n") + "path      "
        + pack.folder + "\nsha256    " + pack.sha256 + "\ntorch     " + pack.torchVersion + "\n";
    for (PackAddition& one : packAdditions(pack)) {
        one.kind.resize(std::max<std::size_t>(one.kind.size() + 1, 10), ' ');
        text += one.kind + one.text + "\n";
    }
    return text;
}

std::string packJson(const ExtensionPack& pack)
{
    Json out {{"format", "quantscope.extension_check"},
              {"version", 1},
              {"name", pack.name},
              {"description", pack.description},
              {"path", pack.folder},
              {"sha256", pack.sha256},
              {"torch", pack.torchVersion},
              {"libraries", pack.libraries},
              {"cuda_libraries", pack.cudaLibraries}};
    out["operators"] = Json::array();
    for (const OperatorFacts& facts : pack.operators) {
        Json one {{"name", qualifiedName(facts.target)}, {"kind", kindOf(facts)}};
        for (const auto& [role, name] : rolesOf(facts)) {
            if (role == "carried")
                one[role].push_back(name);
            else
                one[role] = name;
        }
        out["operators"].push_back(std::move(one));
    }
    out["results"] = Json::object();
    for (const PackShapes& shapes : pack.shapes)
        out["results"][shapes.op] = resultTexts(shapes);
    out["scripts"] = Json::object();
    for (const PackScript& script : pack.scripts)
        out["scripts"][fileName(script.path)] = operatorsOf(script);
    out["classes"] = Json::array();
    for (const PackClassSpec& spec : pack.classes)
        out["classes"].push_back({{"class", spec.name},
                                  {"field", spec.field},
                                  {"get", spec.get},
                                  {"replace", spec.replace}});
    out["custom_modules"] = modulesJson(pack);
    out["patterns"] = Json::array();
    for (const BackendPattern& pattern : pack.patterns)
        out["patterns"].push_back(pattern.complexFormat.empty()
                                      ? Json(pattern.pattern)
                                      : Json::parse(pattern.complexFormat));
    out["lowering"] = Json::array();
    for (const KernelRow& row : pack.rows)
        out["lowering"].push_back({{"pattern", row.pattern}, {"to", row.kernel}});
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace qs

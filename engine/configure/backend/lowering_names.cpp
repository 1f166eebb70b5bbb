// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_names.h"

#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

namespace qs {

namespace {

/// Returns the operator kinds in a fused module's class name: "ConvBnReLU2d" is a convolution and a
/// relu, since its batch norm is folded.
std::vector<std::string> fusedKinds(const std::string& name)
{
    const char last = name.empty() ? ' ' : name.back();
    const std::string dims = last == 'd' && name.size() > 2 ? name.substr(name.size() - 2) : "";
    std::string rest = name.substr(0, name.size() - dims.size());
    std::vector<std::string> kinds;
    const auto eat = [&rest](const char* word) {
        if (!rest.starts_with(word))
            return false;
        rest.erase(0, std::string(word).size());
        return true;
    };
    while (!rest.empty()) {
        if (eat("BN") || eat("Bn")) {
            if (kinds.empty())
                kinds.push_back(wordOfClass("BatchNorm" + dims));
            continue;
        }
        static constexpr const char* kParts[] {"Conv",      "Linear", "Add",
                                               "LeakyReLU", "ReLU",   "Tanh"};
        const auto* part = std::find_if(std::begin(kParts), std::end(kParts), eat);
        if (part == std::end(kParts))
            return {wordOfClass(name)};
        kinds.push_back(wordOfClass(*part + (part == kParts ? dims : std::string())));
    }
    return kinds;
}

} // namespace

std::string fullTorchName(const std::string& name)
{
    // Abbreviations of modules in torch.ao's sources, and PyTorch's internal modules.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kPrefixes {{
        {"nn.", "torch.nn."},
        {"F.", "torch.nn.functional."},
        {"nni.", "torch.ao.nn.intrinsic."},
        {"nniq.", "torch.ao.nn.intrinsic.quantized."},
        {"nniqd.", "torch.ao.nn.intrinsic.quantized.dynamic."},
        {"nnq.", "torch.ao.nn.quantized."},
        {"nnqd.", "torch.ao.nn.quantized.dynamic."},
        {"nnqr.", "torch.ao.nn.quantized.reference."},
        {"torch.nn.intrinsic.", "torch.ao.nn.intrinsic."},
        {"torch.nn.quantized.", "torch.ao.nn.quantized."},
        {"_operator.", "operator."},
    }};
    std::string full = name;
    for (const auto& [prefix, whole] : kPrefixes)
        if (name.starts_with(prefix)) {
            full = std::string(whole) + name.substr(prefix.size());
            break;
        }
    return publicTypeName(std::move(full));
}

std::vector<std::string> operatorKindsOfName(const std::string& given)
{
    if (given.starts_with("torch.ops.") || given.find("::") != std::string::npos) {
        const std::string target = operatorTarget(given);
        const std::string_view aten = "aten.";
        return {target.starts_with(aten) ? target.substr(aten.size()) : target};
    }
    if (const std::string_view word = atenWord(given); !word.empty())
        return {std::string(word)};
    const std::string name = fullTorchName(given);
    const auto dot = name.rfind('.');
    const std::string leaf = dot == std::string::npos ? name : name.substr(dot + 1);
    const bool isClass = !leaf.empty() && std::isupper(static_cast<unsigned char>(leaf[0]));
    const bool ofTorch = name.starts_with("torch.") || name.starts_with("operator.");
    const bool isWord = dot == std::string::npos && !isClass;
    if (leaf.empty() || (!isWord && !ofTorch))
        return {given};
    if (!isClass)
        return {std::string(operatorParts(leaf).base())};
    if (name.find(".intrinsic.") != std::string::npos)
        return fusedKinds(leaf);
    return {wordOfClass(leaf)};
}

std::vector<std::string> operatorKindsOf(const std::vector<std::string>& pattern)
{
    std::vector<std::string> kinds;
    for (const auto& name : pattern)
        for (auto& kind : operatorKindsOfName(name))
            kinds.push_back(std::move(kind));
    return kinds;
}

} // namespace qs

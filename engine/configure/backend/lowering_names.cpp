// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_names.h"

#include "engine/graph/operators/operators.h"

#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

namespace qs {

namespace {

/// "AdaptiveAvgPool2d" to "adaptive_avg_pool2d".
std::string snakeCase(const std::string& name)
{
    static const std::map<std::string, std::string> kIrregular {
        {"ReLU", "relu"},
        {"ReLU6", "relu6"},
        {"ELU", "elu"},
        {"LeakyReLU", "leaky_relu"},
        {"PReLU", "prelu"},
        {"LSTM", "lstm"},
        {"GRU", "gru"},
        {"LSTMCell", "lstm_cell"},
        {"GRUCell", "gru_cell"},
        {"RNNCell", "rnn_cell"},
        {"SiLU", "silu"},
        {"GELU", "gelu"},
        {"InstanceNorm1d", "instance_norm"},
        {"InstanceNorm2d", "instance_norm"},
        {"InstanceNorm3d", "instance_norm"}};
    if (const auto it = kIrregular.find(name); it != kIrregular.end())
        return it->second;
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (i > 0 && std::isupper(static_cast<unsigned char>(name[i])))
            out += '_';
        out += char(std::tolower(static_cast<unsigned char>(name[i])));
    }
    return out;
}

/// The kinds inside a fused module's class name: "ConvBnReLU2d" is a convolution and a relu, since
/// its batch norm is folded.
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
        if (eat("Conv"))
            kinds.push_back("conv" + dims);
        else if (eat("Linear"))
            kinds.push_back("linear");
        else if (eat("BN") || eat("Bn")) {
            if (kinds.empty())
                kinds.push_back("batch_norm" + dims);
        } else if (eat("Add"))
            kinds.push_back("add");
        else if (eat("LeakyReLU"))
            kinds.push_back("leaky_relu");
        else if (eat("ReLU"))
            kinds.push_back("relu");
        else if (eat("Tanh"))
            kinds.push_back("tanh");
        else
            return {snakeCase(name)};
    }
    return kinds;
}

} // namespace

std::string fullTorchName(const std::string& name)
{
    // As torch.ao's sources abbreviate its modules, and where PyTorch keeps classes itself.
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
    // "torch.nn.modules.conv.Conv2d", "torch.ao.nn.quantized.dynamic.modules.rnn.LSTM"
    const auto modules = full.find(".modules.");
    if (full.starts_with("torch.") && modules != std::string::npos)
        full.erase(modules, full.rfind('.') - modules);
    return full;
}

std::vector<std::string> operatorKindsOfName(const std::string& given)
{
    if (given.starts_with("torch.ops.") || given.find("::") != std::string::npos) {
        const std::string target = operatorTarget(given);
        const std::string_view aten = "aten.";
        return {target.starts_with(aten) ? target.substr(aten.size()) : target};
    }
    if (given.starts_with("aten.")) {
        const std::string rest = given.substr(5);
        return {rest.substr(0, rest.find('.'))};
    }
    const std::string name = fullTorchName(given);
    const auto dot = name.rfind('.');
    const std::string leaf = dot == std::string::npos ? name : name.substr(dot + 1);
    const bool isClass = !leaf.empty() && std::isupper(static_cast<unsigned char>(leaf[0]));
    const bool ofTorch = name.starts_with("torch.") || name.starts_with("operator.");
    const bool isWord = dot == std::string::npos && !isClass;
    if (leaf.empty() || (!isWord && !ofTorch))
        return {given};
    if (!isClass)
        return {leaf.ends_with('_') ? leaf.substr(0, leaf.size() - 1) : leaf};
    if (name.find(".intrinsic.") != std::string::npos)
        return fusedKinds(leaf);
    return {snakeCase(leaf)};
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

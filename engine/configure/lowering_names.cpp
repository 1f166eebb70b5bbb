// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/lowering_names.h"

#include <cctype>
#include <map>

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

std::vector<std::string> operatorKindsOfName(const std::string& name)
{
    std::string leaf = name;
    if (name.starts_with("aten.") || name.starts_with("aten::")) {
        leaf = name.substr(name[4] == '.' ? 5 : 6);
        return {leaf.substr(0, leaf.find('.'))};
    }
    if (const auto dot = name.rfind('.'); dot != std::string::npos)
        leaf = name.substr(dot + 1);
    if (leaf.empty() || !std::isupper(static_cast<unsigned char>(leaf[0])))
        return {leaf.ends_with('_') ? leaf.substr(0, leaf.size() - 1) : leaf};
    const bool fused = name.find("intrinsic") != std::string::npos || name.starts_with("nni.")
        || name.starts_with("nniq.") || name.starts_with("nniqd.");
    if (fused)
        return fusedKinds(leaf);
    return {snakeCase(leaf)};
}

} // namespace qs

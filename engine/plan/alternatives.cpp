// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/alternatives.h"

#include <cctype>

namespace qs {

namespace {

/// Normalizes a name: equal for "LayerNorm", "layer_norm" and "torch.nn.functional.layer_norm".
std::string bareWord(const std::string& name)
{
    const auto dot = name.rfind('.');
    std::string out;
    for (const char c : dot == std::string::npos ? name : name.substr(dot + 1))
        if (c != '_')
            out += char(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::unordered_map<std::string, std::string> spellings(const Backend& backend)
{
    std::unordered_map<std::string, std::string> out;
    for (const BackendPattern& entry : backend.patterns)
        if (entry.pattern.size() == 1 && !entry.dtypeConfigs.empty())
            out.try_emplace(bareWord(entry.pattern[0]), entry.pattern[0]);
    return out;
}

/// A pattern's name as users write it.
std::string written(const std::string& pattern)
{
    if (pattern.starts_with("torch.nn.") && !pattern.starts_with("torch.nn.functional."))
        return "the module " + pattern;
    return pattern.find('.') == std::string::npos ? "the tensor method " + pattern : pattern;
}

} // namespace

Alternatives::Alternatives(const Backend& backend)
    : m_backend(backend)
{
}

std::string Alternatives::ownSpelling(const std::string& name)
{
    if (!m_own)
        m_own = spellings(m_backend);
    const auto own = m_own->find(bareWord(name));
    return own != m_own->end() && own->second != name ? own->second : std::string();
}

std::string Alternatives::suggest(const std::string& name)
{
    const auto [known, isNew] = m_known.try_emplace(name);
    if (!isNew)
        return known->second;
    const std::string word = bareWord(name);
    std::string& text = known->second;
    if (const std::string own = ownSpelling(name); !own.empty()) {
        text = "use " + written(own) + " in the model, which backend '" + m_backend.name
            + "' has, or add a pattern [\"" + name + "\"] to a backend of your own";
        return text;
    }
    if (!m_native) {
        const auto native = findBackend("native");
        m_native = native ? spellings(*native) : Spellings {};
    }
    if (const auto other = m_native->find(word); other != m_native->end())
        text = "choose backend 'native', which has " + written(other->second)
            + ", or add a pattern [\"" + name + "\"] to a backend of your own";
    else
        text = "leave it float: no shipped backend quantizes it";
    return text;
}

} // namespace qs

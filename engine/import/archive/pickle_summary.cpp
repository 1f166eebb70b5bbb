// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pickle_summary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace qs {

namespace {

constexpr std::size_t kMostTexts = 1000, kLongestText = 200;
/// First pickles written by torch.save before torch 1.6: a magic number, the version, facts of the
/// machine.
constexpr std::string_view kOldMagic("\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 13);

/// Iterates over instructions; see Python's `pickletools`.
class PickleWalk
{
public:
    explicit PickleWalk(std::string_view bytes)
        : m_bytes(bytes)
    {
    }

    PickleSummary run()
    {
        int pickles = m_bytes.substr(0, 64).find(kOldMagic) == std::string_view::npos ? 1 : 4;
        while (pickles > 0 && step(pickles))
            ;
        return std::move(m_found);
    }

private:
    using Root = PickleSummary::Root;

    /// Returns false at the end of the last pickle or of the bytes.
    bool step(int& pickles)
    {
        const auto code = bytes(1);
        if (!code)
            return false;
        switch ((*code)[0]) {
        case '.':
            if (--pickles > 0) { // facts of the machine
                m_found = {};
                m_hasRoot = false;
            }
            return true;
        case '}':
            return made(Root::Dictionary);
        case ']':
            return made(Root::List);
        case 'c':
        case 'i':
            return global();
        case 'Q': // a storage
        case 'P':
            ++m_found.tensors;
            return (*code)[0] == 'Q' || line();
        case '\x93':
            return stackGlobal();
        case '\x94':
            m_memo[std::uint32_t(m_memo.size())] = m_top;
            return true;
        default:
            return sized(std::uint8_t((*code)[0]));
        }
    }

    bool made(Root root)
    {
        if (!m_hasRoot)
            m_found.root = root;
        m_hasRoot = true;
        m_top.clear();
        return true;
    }

    /// Instructions whose argument is preceded by its length.
    bool sized(std::uint8_t code)
    {
        switch (code) {
        case 'X':
        case 'T':
            return text(4);
        case 'U':
        case 0x8c:
            return text(1);
        case 0x8d:
            return text(8);
        case 'B':
        case 0x8b:
            return skip(4);
        case 'C':
        case 0x8a:
            return skip(1);
        case 0x8e:
        case 0x96:
            return skip(8);
        case 'q':
        case 'h':
            return memo(code == 'q', 1);
        case 'r':
        case 'j':
            return memo(code == 'r', 4);
        default:
            return plain(code);
        }
    }

    bool plain(std::uint8_t code)
    {
        static constexpr std::string_view kLines = "FILSVgp", kOne = "K\x80\x82", kTwo = "M\x83",
                                          kFour = "J\x84", kEight = "G\x95";
        const auto isOf = [code](std::string_view set) {
            return set.find(char(code)) != std::string_view::npos;
        };
        if (isOf(kLines))
            return line().has_value();
        return bytes(isOf(kOne)         ? 1
                         : isOf(kTwo)   ? 2
                         : isOf(kFour)  ? 4
                         : isOf(kEight) ? 8
                                        : 0)
            .has_value();
    }

    std::optional<std::string_view> bytes(std::uint64_t count)
    {
        if (count > m_bytes.size() - m_at)
            return std::nullopt;
        m_at += std::size_t(count);
        return m_bytes.substr(m_at - std::size_t(count), std::size_t(count));
    }
    std::optional<std::uint64_t> number(std::size_t width)
    {
        const auto raw = bytes(width);
        if (!raw)
            return std::nullopt;
        std::uint64_t value = 0;
        for (std::size_t i = width; i-- > 0;)
            value = value << 8 | std::uint8_t((*raw)[i]);
        return value;
    }
    std::optional<std::string_view> line()
    {
        const std::size_t end = m_bytes.find('\n', m_at);
        if (end == std::string_view::npos)
            return std::nullopt;
        const std::string_view found = m_bytes.substr(m_at, end - m_at);
        m_at = end + 1;
        return found;
    }
    bool skip(std::size_t width)
    {
        const auto size = number(width);
        return size && bytes(*size);
    }

    bool text(std::size_t width)
    {
        const auto size = number(width);
        const auto found = size ? bytes(*size) : std::nullopt;
        if (!found)
            return false;
        push(std::string(found->substr(0, kLongestText)));
        if (m_found.texts.size() < kMostTexts)
            m_found.texts.push_back(m_top);
        return true;
    }
    void push(std::string text)
    {
        m_before = std::move(m_top);
        m_top = std::move(text);
    }

    bool memo(bool puts, std::size_t width)
    {
        const auto id = number(width);
        if (!id)
            return false;
        if (puts)
            m_memo[std::uint32_t(*id)] = m_top;
        else if (const auto kept = m_memo.find(std::uint32_t(*id)); kept != m_memo.end())
            push(kept->second);
        return true;
    }

    bool global()
    {
        const auto module = line(), name = line();
        if (!module || !name)
            return false;
        return named(std::string(*module) + "." + std::string(*name));
    }
    bool stackGlobal() { return named(m_before + "." + m_top); }
    bool named(std::string name)
    {
        if (name == "collections.OrderedDict")
            made(Root::Dictionary);
        m_hasRoot = true;
        auto& classes = m_found.classes;
        if (classes.size() < kMostTexts
            && std::find(classes.begin(), classes.end(), name) == classes.end())
            classes.push_back(std::move(name));
        m_top.clear();
        return true;
    }

    std::string_view m_bytes;
    std::size_t m_at = 0;
    bool m_hasRoot = false;
    std::string m_before, m_top; ///< the last two texts
    std::unordered_map<std::uint32_t, std::string> m_memo;
    PickleSummary m_found;
};

bool isOfData(std::string_view name)
{
    static constexpr std::array<std::string_view, 5> kExact {
        "collections.OrderedDict", "collections.defaultdict", "torch.Tensor", "torch.Size",
        "_codecs.encode"};
    static constexpr std::array<std::string_view, 7> kFamilies {
        "torch._utils.",       "torch.storage.", "torch._tensor._rebuild",
        "torch.nn.parameter.", "numpy.",         "builtins.",
        "__builtin__."};
    const bool isElement = name.starts_with("torch.") && name.find('.', 6) == name.npos
        && (name.ends_with("Storage") || (name.size() > 6 && std::islower(name[6]) != 0));
    return isElement || std::find(kExact.begin(), kExact.end(), name) != kExact.end()
        || std::any_of(kFamilies.begin(), kFamilies.end(),
                       [&](std::string_view family) { return name.starts_with(family); });
}

} // namespace

std::string PickleSummary::foreignClass() const
{
    const auto found = std::find_if(classes.begin(), classes.end(),
                                    [](const std::string& name) { return !isOfData(name); });
    return found == classes.end() ? "" : *found;
}

bool PickleSummary::holdsText(std::string_view text) const
{
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

PickleSummary summarizePickle(std::string_view bytes)
{
    return PickleWalk(bytes).run();
}

} // namespace qs

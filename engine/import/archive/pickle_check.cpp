// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pickle_check.h"

#include "engine/import/archive/pickle_elements.h"
#include "engine/import/archive/pickle_structure.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace qs {

namespace {

constexpr int kDeepestType = 100;

constexpr std::string_view kTensor = "torch._utils\n_rebuild_tensor_v2";
constexpr std::string_view kQuantized = "torch._utils\n_rebuild_qtensor";
constexpr std::string_view kSparse = "torch._utils\n_rebuild_sparse_tensor";
constexpr std::string_view kFromType = "torch._tensor\n_rebuild_from_type_v2";
constexpr std::string_view kTypeTag = "torch.jit._pickle\nrestore_type_tag";

struct PickleProblem : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

void require(bool condition, const char* problem)
{
    if (!condition)
        throw PickleProblem(problem);
}

constexpr const char* kDamaged = "its pickle is damaged";
constexpr const char* kBeyond = "a tensor reaches beyond its storage";

/// The result of an instruction.
struct Item
{
    enum class Kind
    {
        Other,
        Number,
        Text,
        Tuple,
        Global,
        Storage,
        Tensor
    };
    Kind kind = Kind::Other;
    std::int64_t number = 0; ///< number of elements of a tensor
    std::string_view text {}; ///< module, line break and name of a global
    std::uint64_t bits = 0; ///< bits per element of a storage
    std::uint64_t held = 0; ///< total bits of a storage
    std::vector<std::size_t> parts {}; ///< contained items
};

/// Interprets the instructions as LibTorch's reader does, without creating objects.
class PickleScan
{
public:
    PickleScan(std::string_view pickle, const StorageSize& storageSize)
        : m_pickle(pickle)
        , m_storageSize(storageSize)
    {
    }

    void run()
    {
        require(byte() == 0x80, kDamaged);
        byte(); // the protocol; LibTorch checks it
        while (step(byte()))
            ;
        if (const char* problem = structureProblem(partsOf(), m_pickle.size()))
            throw PickleProblem(problem);
    }

private:
    using Kind = Item::Kind;

    std::vector<std::vector<std::size_t>> partsOf()
    {
        std::vector<std::vector<std::size_t>> parts(m_items.size());
        for (std::size_t i = 0; i < m_items.size(); ++i)
            parts[i] = std::move(m_items[i].parts);
        return parts;
    }

    std::string_view bytes(std::size_t count)
    {
        require(count <= m_pickle.size() - m_at, kDamaged);
        m_at += count;
        return m_pickle.substr(m_at - count, count);
    }
    std::uint8_t byte() { return std::uint8_t(bytes(1)[0]); }
    template<class T>
    T number()
    {
        T value;
        std::memcpy(&value, bytes(sizeof(T)).data(), sizeof(T));
        return value;
    }

    std::size_t add(Item item)
    {
        m_items.push_back(std::move(item));
        return m_items.size() - 1;
    }
    void push(Item item) { m_stack.push_back(add(std::move(item))); }
    void pushNumber(std::int64_t value) { push({Kind::Number, value}); }
    std::size_t pop()
    {
        require(!m_stack.empty(), kDamaged);
        const std::size_t top = m_stack.back();
        m_stack.pop_back();
        return top;
    }
    std::vector<std::size_t> popFrom(std::size_t start)
    {
        require(start <= m_stack.size(), kDamaged);
        std::vector<std::size_t> out(m_stack.begin() + std::ptrdiff_t(start), m_stack.end());
        m_stack.resize(start);
        return out;
    }
    std::vector<std::size_t> popMarked()
    {
        require(!m_marks.empty(), kDamaged);
        const std::size_t start = m_marks.back();
        m_marks.pop_back();
        return popFrom(start);
    }
    void pushHolder(Kind kind, std::vector<std::size_t> parts)
    {
        Item item {kind};
        item.parts = std::move(parts);
        push(std::move(item));
    }
    void pushTuple(std::size_t count)
    {
        require(count <= m_stack.size(), kDamaged);
        pushHolder(Kind::Tuple, popFrom(m_stack.size() - count));
    }
    void addToTop(const std::vector<std::size_t>& parts)
    {
        require(!m_stack.empty(), kDamaged);
        auto& held = m_items[m_stack.back()].parts;
        held.insert(held.end(), parts.begin(), parts.end());
    }

    bool step(std::uint8_t code)
    {
        switch (code) {
        case '.':
            return false;
        case ']':
        case '}':
        case 'N':
        case 0x88:
        case 0x89:
            push({});
            break;
        case ')':
            pushTuple(0);
            break;
        case 0x85:
        case 0x86:
        case 0x87:
            pushTuple(code - 0x84U);
            break;
        case 't':
            pushHolder(Kind::Tuple, popMarked());
            break;
        case 'l':
        case 'd':
            pushHolder(Kind::Other, popMarked());
            break;
        case 'e':
        case 'u':
            addToTop(popMarked());
            break;
        case 'a':
            addToTop(popFrom(m_stack.size() - std::min<std::size_t>(1, m_stack.size())));
            break;
        case 's':
            require(m_stack.size() >= 3, kDamaged);
            addToTop(popFrom(m_stack.size() - 2));
            break;
        case '(':
            m_marks.push_back(m_stack.size());
            break;
        case 'Q':
            storage(m_items[pop()]);
            break;
        case 'c':
            global();
            break;
        case 0x81: // the object is created from its state later
            pop();
            break;
        case 'b':
        case 'R':
            reduce();
            break;
        default:
            plain(code);
        }
        return true;
    }

    void plain(std::uint8_t code)
    {
        switch (code) {
        case 'K':
            return pushNumber(byte());
        case 'M':
            return pushNumber(number<std::uint16_t>());
        case 'J':
            return pushNumber(number<std::int32_t>());
        case 0x8a:
            require(byte() == 8, "it holds an integer of an unusual length");
            return pushNumber(number<std::int64_t>());
        case 'G':
            bytes(sizeof(double));
            return push({});
        case 'X':
            return push({Kind::Text, 0, bytes(number<std::uint32_t>())});
        case 'q':
            return put(byte());
        case 'r':
            return put(number<std::uint32_t>());
        case 'h':
            return get(byte());
        case 'j':
            return get(number<std::uint32_t>());
        default:
            throw PickleProblem("its pickle has an instruction that is not known");
        }
    }

    void put(std::uint32_t id)
    {
        require(!m_stack.empty() && id <= m_pickle.size(), kDamaged);
        m_memo[id] = m_stack.back();
    }
    void get(std::uint32_t id)
    {
        const auto it = m_memo.find(id);
        require(it != m_memo.end(), kDamaged);
        m_stack.push_back(it->second);
    }

    std::string_view line()
    {
        const std::size_t end = m_pickle.find('\n', m_at);
        require(end != std::string_view::npos, kDamaged);
        return bytes(end + 1 - m_at);
    }

    /// A tensor of another type is stored as its rebuild function, `torch.Tensor` and arguments.
    void global()
    {
        const std::size_t start = m_at;
        line();
        line();
        const std::string_view name = m_pickle.substr(start, m_at - start - 1);
        const bool isType = name == "torch\nTensor";
        require((m_awaited == 2) == (name == kTensor && m_awaited > 0)
                    && (m_awaited == 1) == isType,
                "it holds a tensor of a custom type");
        m_awaited = name == kFromType ? 2 : std::max(m_awaited - 1, 0);
        push({Kind::Global, 0, name});
    }

    const Item& part(const Item& item, std::size_t index, Kind kind) const
    {
        require(index < item.parts.size() && m_items[item.parts[index]].kind == kind, kDamaged);
        return m_items[item.parts[index]];
    }

    void storage(const Item& arguments)
    {
        require(part(arguments, 0, Kind::Text).text == "storage", kDamaged);
        Item made {Kind::Storage};
        made.bits = pickledElementBits(part(arguments, 1, Kind::Global).text);
        require(made.bits > 0, "it holds elements of a type that is not read");
        const std::string key(part(arguments, 2, Kind::Text).text);
        const std::int64_t claimed = part(arguments, 4, Kind::Number).number;
        if (claimed > 0) {
            const auto bytes = m_storageSize(key);
            if (!bytes)
                throw PickleProblem("the record of storage " + key + " is missing");
            made.held = std::min(*bytes, UINT64_MAX / 8) * 8;
            const std::uint64_t whole = std::max<std::uint64_t>(made.bits, 8);
            if (std::uint64_t(claimed) > made.held / whole)
                throw PickleProblem("storage " + key + " does not fit its record: it claims "
                                    + std::to_string(claimed) + " elements, the record holds "
                                    + std::to_string(made.held / whole));
        }
        push(std::move(made));
    }

    void reduce()
    {
        const std::size_t given = pop();
        const Item function = m_items[pop()];
        // LibTorch identifies a global by a number, so it would also accept a plain number.
        const bool isNumber
            = function.text.starts_with("torch\n") && function.text != "torch\ndevice";
        require(!isNumber && function.kind != Kind::Number, kDamaged);
        require(function.kind == Kind::Global, kNotPlainData);
        require(function.text != kSparse, "it holds a sparse tensor, which is not read");
        if (function.text == kTensor || function.text == kQuantized)
            return tensor(m_items[given], function.text == kQuantized);
        if (function.text == kFromType)
            return tensor(part(m_items[given], 2, Kind::Tuple), false);
        if (function.text == kTypeTag)
            checkType(part(m_items[given], 1, Kind::Text).text);
        pushHolder(Kind::Other, {given});
    }

    static void checkType(std::string_view type)
    {
        int depth = 0;
        for (const char c : type) {
            depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
            require(depth < kDeepestType, "a type in it is nested too deeply");
        }
    }

    void tensor(const Item& arguments, bool isQuantized)
    {
        const Item& storage = part(arguments, 0, Kind::Storage);
        const Item& sizes = part(arguments, 2, Kind::Tuple);
        const Item& strides = part(arguments, 3, Kind::Tuple);
        const std::int64_t offset = part(arguments, 1, Kind::Number).number;
        require(offset >= 0 && sizes.parts.size() == strides.parts.size(), kBeyond);
        std::int64_t last = offset, count = 1;
        for (std::size_t i = 0; i < sizes.parts.size(); ++i) {
            const std::int64_t size = part(sizes, i, Kind::Number).number;
            const std::int64_t stride = part(strides, i, Kind::Number).number;
            std::int64_t step = 0;
            require(
                size >= 0 && stride >= 0 && !__builtin_mul_overflow(count, size, &count)
                    && !__builtin_mul_overflow(std::max<std::int64_t>(size - 1, 0), stride, &step)
                    && !__builtin_add_overflow(last, step, &last),
                kBeyond);
        }
        require(count == 0 || std::uint64_t(last) < storage.held / storage.bits, kBeyond);
        if (isQuantized)
            checkChannels(part(arguments, 4, Kind::Tuple), sizes);
        push({Kind::Tensor, count});
    }

    /// Checks per-channel parameters: a scale and a zero point per channel.
    void checkChannels(const Item& parameters, const Item& sizes) const
    {
        part(parameters, 0, Kind::Global);
        if (parameters.parts.size() < 2 || m_items[parameters.parts[1]].kind != Kind::Tensor)
            return;
        const std::int64_t axis = part(parameters, 3, Kind::Number).number;
        require(axis >= 0 && std::uint64_t(axis) < sizes.parts.size(), kDamaged);
        const std::int64_t channels = part(sizes, std::size_t(axis), Kind::Number).number;
        for (const std::size_t index : {1, 2})
            require(part(parameters, index, Kind::Tensor).number == channels,
                    "a quantized tensor lacks scales or zero points");
    }

    std::string_view m_pickle;
    const StorageSize& m_storageSize;
    std::size_t m_at = 0;
    std::vector<Item> m_items;
    std::vector<std::size_t> m_stack, m_marks;
    std::unordered_map<std::uint32_t, std::size_t> m_memo;
    int m_awaited = 0; ///< number of globals still required by a tensor of another type
};

} // namespace

Result<void> checkPickle(std::string_view pickle, const StorageSize& storageSize)
{
    try {
        PickleScan(pickle, storageSize).run();
    } catch (const PickleProblem& problem) {
        return fail(ErrorCode::BadInput, problem.what());
    }
    return {};
}

} // namespace qs

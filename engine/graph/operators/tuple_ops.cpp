// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/tuple_ops.h"

#include <cctype>

namespace qs {

namespace {

constexpr int kMaxTupleDepth = 64;

class StructureReader
{
public:
    explicit StructureReader(std::string_view text)
        : m_text(text)
    {
    }

    Result<TupleStructure> whole()
    {
        QS_TRY(TupleStructure structure, read(0));
        skipBlanks();
        return m_at == m_text.size() ? Result<TupleStructure>(std::move(structure)) : bad();
    }

private:
    void skipBlanks()
    {
        while (m_at < m_text.size() && m_text[m_at] == ' ')
            ++m_at;
    }
    bool take(char c)
    {
        skipBlanks();
        if (m_at >= m_text.size() || m_text[m_at] != c)
            return false;
        ++m_at;
        return true;
    }
    tl::unexpected<Error> bad() const
    {
        return fail(ErrorCode::BadInput,
                    "'" + std::string(m_text)
                        + "' is not a tuple type; expected for example (Tensor, (Tensor, Tensor))");
    }

    Result<TupleStructure> read(int depth)
    {
        if (depth > kMaxTupleDepth)
            return bad();
        TupleStructure out;
        if (take('(')) {
            out.isTuple = true;
            while (!take(')')) {
                QS_TRY(TupleStructure item, read(depth + 1));
                out.items.push_back(std::move(item));
                if (!take(',')) {
                    if (!take(')'))
                        return bad();
                    break;
                }
            }
            return out;
        }
        out.leaf.clear();
        while (m_at < m_text.size()
               && (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '.'
                   || m_text[m_at] == '_'))
            out.leaf += m_text[m_at++];
        if (out.leaf.empty())
            return bad();
        return out;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

} // namespace

bool isTupleNode(const Node& node)
{
    return (node.isOp(kTupleTarget) || node.isOp("prim.TupleConstruct.default"))
        && node.args.size() == 1 && node.args[0].value.asList();
}

bool isGetItemNode(const Node& node)
{
    return node.isOp(kGetItemTarget) || node.isOp("_operator.getitem")
        || node.isOp("prim.TupleIndex.default");
}

std::optional<GetItem> getItemOf(const Node& node)
{
    if (!isGetItemNode(node) || node.args.size() != 2)
        return std::nullopt;
    const ValueRef* container = node.args[0].value.asRef();
    const std::int64_t* index = node.args[1].value.asInt();
    if (!container || !index)
        return std::nullopt;
    return GetItem {*container, *index};
}

std::string TupleStructure::text() const
{
    if (!isTuple)
        return leaf;
    std::string out = "(";
    for (std::size_t i = 0; i < items.size(); ++i)
        out += (i ? ", " : "") + items[i].text();
    return out + (items.size() == 1 ? ",)" : ")");
}

std::size_t TupleStructure::leafCount() const
{
    if (!isTuple)
        return 1;
    std::size_t count = 0;
    for (const TupleStructure& item : items)
        count += item.leafCount();
    return count;
}

Result<TupleStructure> parseTupleStructure(std::string_view text)
{
    return StructureReader(text).whole();
}

} // namespace qs

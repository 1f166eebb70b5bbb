// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/graph_parser.h"

#include "engine/graph/text/text_lexer.h"
#include "engine/graph/text/text_values.h"

#include <array>

namespace qs {

namespace {

constexpr int kMaxBlockDepth = 64;

constexpr std::array<std::pair<std::string_view, NodeKind>, 6> kNodeKinds {{
    {"input", NodeKind::Input},
    {"parameter", NodeKind::Parameter},
    {"constant", NodeKind::Constant},
    {"op", NodeKind::Op},
    {"module_call", NodeKind::ModuleCall},
    {"output", NodeKind::Output},
}};

/// Iterates over the lines of a text.
class Lines
{
public:
    explicit Lines(std::string_view text)
        : m_text(text)
    {
    }
    bool atEnd() const { return m_at >= m_text.size(); }
    std::string_view peek() const { return m_text.substr(m_at, m_text.find('\n', m_at) - m_at); }
    void next()
    {
        m_at += peek().size() + 1;
        ++m_number;
    }
    int number() const { return m_number; }

private:
    std::string_view m_text;
    std::size_t m_at = 0;
    int m_number = 1;
};

/// Parses one graph; each subgraph has a separate reader.
class GraphReader
{
public:
    GraphReader(Lines& lines, int depth)
        : m_lines(lines)
        , m_depth(depth)
        , m_modules(std::make_shared<ModuleTree>())
    {
    }

    /// Reads to the end of the text or a line "end".
    Result<Graph> read()
    {
        if (m_depth > kMaxBlockDepth)
            return bad("subgraphs are nested too deeply");
        for (; !m_lines.atEnd(); m_lines.next()) {
            TextLexer lexer(m_lines.peek());
            if (lexer.atEnd())
                continue;
            if (lexer.take("%")) {
                QS_CHECK(readNode(lexer));
                continue;
            }
            const auto word = lexer.word().value_or("");
            if (word == "graph")
                QS_CHECK(readInfo(lexer));
            else if (word == "module")
                QS_CHECK(readModule(lexer));
            else if (word == "subgraph")
                QS_CHECK(readSubgraph());
            else if (word == "end" && m_depth > 0)
                break;
            else
                return bad("a graph, module or node was expected");
        }
        m_parts.modules = m_modules;
        m_parts.info = std::make_shared<const ModelInfo>(m_info);
        for (auto& node : m_nodes)
            m_parts.nodes.push_back(std::make_shared<const Node>(std::move(node)));
        return Graph(std::move(m_parts));
    }

private:
    tl::unexpected<Error> bad(const std::string& what) const
    {
        return fail(ErrorCode::BadInput, "line " + std::to_string(m_lines.number()) + ": " + what);
    }

    Result<void> readInfo(TextLexer& lexer)
    {
        while (!lexer.atEnd()) {
            const auto key = lexer.word();
            if (!key || !lexer.take("="))
                return bad("key=value was expected");
            if (*key == "converted" || *key == "next") {
                const auto value = lexer.integer();
                if (!value)
                    return bad("a number was expected for " + *key);
                if (*key == "next")
                    m_parts.nextId = std::uint32_t(*value);
                else
                    m_info.converted = *value != 0;
                continue;
            }
            const auto value = lexer.string();
            if (!value)
                return bad("a quoted text was expected for " + *key);
            std::string* field = *key == "name" ? &m_info.name
                : *key == "format"              ? &m_info.format
                : *key == "producer"            ? &m_info.producer
                : *key == "sha256"              ? &m_info.sha256
                : *key == "inputs"              ? &m_info.inputTree
                : *key == "outputs"             ? &m_info.outputTree
                                                : nullptr;
            if (!field)
                return bad("the graph has no '" + *key + "'");
            *field = *value;
        }
        return {};
    }

    Result<void> readModule(TextLexer& lexer)
    {
        const auto path = lexer.string();
        const auto moduleClass = lexer.string();
        if (!path || !moduleClass)
            return bad("a module has a quoted path and class");
        m_modules->add(*path, *moduleClass);
        while (const auto parameter = lexer.string())
            m_modules->addParameter(*parameter);
        return lexer.atEnd() ? Result<void>() : bad("a quoted parameter path was expected");
    }

    Result<void> readSubgraph()
    {
        if (m_nodes.empty())
            return bad("a subgraph without a node");
        m_lines.next();
        QS_TRY(Graph inner, GraphReader(m_lines, m_depth + 1).read());
        if (m_lines.atEnd())
            return bad("a subgraph lacks its end");
        m_nodes.back().subgraphs.push_back(std::make_shared<const Graph>(std::move(inner)));
        return {};
    }

    Result<void> readNode(TextLexer& lexer)
    {
        Node node;
        const auto name = lexer.name();
        const std::int64_t id = lexer.take("#") ? lexer.integer().value_or(0) : 0;
        const auto kind = lexer.take("=") ? lexer.word() : std::nullopt;
        const auto target = lexer.string();
        if (!name || id <= 0 || !kind || !target || !lexer.take("("))
            return bad("a node reads: %name #id = kind \"target\" (arguments) -> (values)");
        node.name = *name;
        node.id = NodeId(std::uint32_t(id));
        node.target = *target;
        bool known = false;
        for (const auto& [word, value] : kNodeKinds)
            if (word == *kind) {
                node.kind = value;
                known = true;
            }
        if (!known)
            return bad("there is no node kind '" + *kind + "'");
        QS_CHECK(readArguments(lexer, node));
        QS_CHECK(readValues(lexer, node));
        while (!lexer.atEnd())
            QS_CHECK(readFact(lexer, node));
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            m_values[node.outputs[i].name] = {node.id, i};
        m_nodes.push_back(std::move(node));
        return {};
    }

    Result<void> readArguments(TextLexer& lexer, Node& node)
    {
        if (lexer.take(")"))
            return {};
        do {
            const auto name = lexer.name();
            if (!name || !lexer.take("="))
                return bad("an argument reads: name=value");
            auto value = readArgumentText(lexer, m_values);
            if (!value)
                return bad(value.error().message);
            node.args.push_back({*name, std::move(*value)});
        } while (lexer.take(","));
        return lexer.take(")") ? Result<void>() : bad("a ) is missing after the arguments");
    }

    Result<void> readValues(TextLexer& lexer, Node& node)
    {
        if (!lexer.take("->") || !lexer.take("("))
            return bad("-> (values) is missing");
        if (lexer.take(")"))
            return {};
        do {
            const auto name = lexer.name();
            if (!name || !lexer.take(":"))
                return bad("a value reads: name: type");
            auto type = readTypeText(lexer);
            if (!type)
                return bad(type.error().message);
            node.outputs.push_back({*name, std::move(*type)});
        } while (lexer.take(","));
        return lexer.take(")") ? Result<void>() : bad("a ) is missing after the values");
    }

    Result<void> readFact(TextLexer& lexer, Node& node)
    {
        const auto key = lexer.word();
        if (!key || !lexer.take("="))
            return bad("key=value was expected");
        if (const auto text = lexer.string()) {
            if (*key == "argument") {
                node.argumentStrings.push_back(*text);
                return {};
            }
            std::string* field = *key == "scope" ? &node.scope.path
                : *key == "class"                ? &node.scope.moduleClass
                : *key == "file"                 ? &node.source.file
                : *key == "function"             ? &node.source.function
                : *key == "code"                 ? &node.source.code
                : *key == "original"             ? &node.originalTarget
                : *key == "torch_fn"             ? &node.torchFn
                : *key == "opaque"               ? &node.opaqueReason
                                                 : nullptr;
            if (!field)
                return bad("a node has no '" + *key + "'");
            *field = *text;
            return {};
        }
        const auto number = lexer.integer();
        if (!number)
            return bad("a value was expected for " + *key);
        if (*key == "call")
            node.scope.callIndex = int(*number);
        else if (*key == "line")
            node.source.line = int(*number);
        else if (*key == "origin")
            node.origin = NodeId(std::uint32_t(*number));
        else if (*key == "tensor")
            node.tensor = TensorId(std::uint32_t(*number));
        else if (*key == "buffer")
            node.isBuffer = *number != 0;
        else if (*key == "persistent")
            node.persistentBuffer = *number != 0;
        else if (*key == "observer")
            node.observer = ObserverId(std::uint32_t(*number));
        else
            return bad("a node has no '" + *key + "'");
        return {};
    }

    Lines& m_lines;
    int m_depth;
    Graph::Parts m_parts;
    ModelInfo m_info;
    std::shared_ptr<ModuleTree> m_modules;
    std::vector<Node> m_nodes;
    ValueNames m_values;
};

} // namespace

Result<Graph> parseGraph(std::string_view text)
{
    Lines lines(text);
    return GraphReader(lines, 0).read();
}

} // namespace qs

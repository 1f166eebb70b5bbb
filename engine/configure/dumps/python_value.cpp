// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/dumps/python_value.h"

#include "engine/base/text.h"

#include <cctype>
#include <charconv>

namespace qs {

namespace {

constexpr int kDeepest = 16; // maximum depth of nested calls; torch.ao's have three levels

class PythonReader
{
public:
    explicit PythonReader(const std::string& text)
        : m_text(text)
    {
    }

    Result<PythonValue> whole()
    {
        QS_TRY(PythonValue out, value(0));
        space();
        if (m_at != m_text.size())
            return problem("something follows the value");
        return out;
    }

private:
    using Kind = PythonValue::Kind;

    tl::unexpected<Error> problem(const std::string& what) const
    {
        return fail(ErrorCode::BadInput,
                    inQuotes(shortened(std::string(m_text), 60)) + " cannot be read: " + what
                        + " at character " + std::to_string(m_at + 1));
    }
    void space()
    {
        while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at])))
            ++m_at;
    }
    bool take(char wanted)
    {
        space();
        if (m_at >= m_text.size() || m_text[m_at] != wanted)
            return false;
        ++m_at;
        return true;
    }
    char next() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }

    Result<PythonValue> value(int depth)
    {
        space();
        if (depth > kDeepest)
            return problem("it is nested too deeply");
        if (next() == '<')
            return object();
        if (next() == '\'' || next() == '"')
            return quoted();
        if (std::isdigit(static_cast<unsigned char>(next())) || next() == '-' || next() == '+'
            || next() == '.')
            return number();
        if (std::isalpha(static_cast<unsigned char>(next())) || next() == '_')
            return nameOrCall(depth);
        return problem("expected a value");
    }

    Result<PythonValue> object()
    {
        const std::size_t start = m_at;
        int open = 0;
        for (; m_at < m_text.size(); ++m_at) {
            open += m_text[m_at] == '<';
            open -= m_text[m_at] == '>';
            if (open == 0)
                break;
        }
        if (m_at == m_text.size())
            return problem("a '>' is missing");
        ++m_at;
        PythonValue out;
        out.kind = Kind::Object;
        out.text = m_text.substr(start, m_at - start);
        return out;
    }

    Result<PythonValue> quoted()
    {
        const char quote = m_text[m_at++];
        const auto end = m_text.find(quote, m_at);
        if (end == std::string::npos)
            return problem("a quote is not closed");
        PythonValue out;
        out.constant = m_text.substr(m_at, end - m_at);
        m_at = end + 1;
        return out;
    }

    Result<PythonValue> number()
    {
        const std::size_t start = m_at + (next() == '+' ? 1 : 0);
        const auto end = m_text.find_first_not_of("0123456789+-.eE", start);
        const std::string word = m_text.substr(start, end - start);
        m_at = start + word.size();
        PythonValue out;
        const char* const last = word.data() + word.size();
        if (word.find_first_of(".eE") == std::string::npos) {
            std::int64_t whole = 0;
            if (std::from_chars(word.data(), last, whole).ptr != last)
                return problem("a bad number ends");
            out.constant = whole;
            return out;
        }
        double real = 0;
        if (std::from_chars(word.data(), last, real).ptr != last)
            return problem("a bad number ends");
        out.constant = real;
        return out;
    }

    Result<PythonValue> nameOrCall(int depth)
    {
        const std::size_t start = m_at;
        while (std::isalnum(static_cast<unsigned char>(next())) || next() == '_' || next() == '.')
            ++m_at;
        PythonValue out;
        out.text = m_text.substr(start, m_at - start);
        if (out.text == "True" || out.text == "False") {
            out.constant = out.text == "True";
            return out;
        }
        if (out.text == "None")
            return out;
        out.kind = Kind::Name;
        if (!take('('))
            return out;
        out.kind = Kind::Call;
        QS_CHECK(arguments(out, depth));
        return takenApart(std::move(out));
    }

    Result<void> arguments(PythonValue& call, int depth)
    {
        while (!take(')')) {
            if (!call.arguments.empty() && !take(','))
                return problem("expected ',' or ')'");
            space();
            if (take(')'))
                break;
            std::size_t end = m_at;
            while (end < m_text.size()
                   && (std::isalnum(static_cast<unsigned char>(m_text[end])) || m_text[end] == '_'))
                ++end;
            std::string key;
            if (end > m_at && end < m_text.size() && m_text[end] == '=') {
                key = m_text.substr(m_at, end - m_at);
                m_at = end + 1;
            }
            QS_TRY(PythonValue argument, value(depth + 1));
            call.arguments.push_back({std::move(key), std::move(argument)});
        }
        return {};
    }

    /// Resolves functools.partial(f, a=1){} and f.with_args(a=1) to calls of f. The braces printed
    /// by torch.ao's wrapper are empty.
    Result<PythonValue> takenApart(PythonValue call)
    {
        constexpr std::string_view kWithArgs = ".with_args";
        if (call.text == "functools.partial" || call.text == "partial") {
            if (call.arguments.empty() || !call.arguments.front().name.empty())
                return problem("a partial without its function ends");
            PythonValue inner = std::move(call.arguments.front().value);
            call.arguments.erase(call.arguments.begin());
            if (inner.kind == Kind::Call) // a partial of a partial: the outer arguments win
                for (auto& argument : inner.arguments)
                    if (!has(call, argument.name))
                        call.arguments.push_back(std::move(argument));
            call.text = inner.text;
        } else if (call.text.ends_with(kWithArgs)) {
            call.text.resize(call.text.size() - kWithArgs.size());
        }
        call.text = classNameOf(call.text);
        if (take('{') && !take('}'))
            return problem("callable arguments are not supported: they");
        return call;
    }

    static bool has(const PythonValue& call, const std::string& key)
    {
        for (const auto& argument : call.arguments)
            if (argument.name == key)
                return true;
        return false;
    }

    const std::string& m_text;
    std::size_t m_at = 0;
};

} // namespace

Result<PythonValue> readPythonValue(const std::string& text)
{
    return PythonReader(text).whole();
}

std::string classNameOf(const std::string& printed)
{
    constexpr std::string_view kStart = "<class '";
    if (!printed.starts_with(kStart) || !printed.ends_with("'>"))
        return printed;
    return printed.substr(kStart.size(), printed.size() - kStart.size() - 2);
}

} // namespace qs

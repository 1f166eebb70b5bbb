// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/text_values.h"

#include <array>

namespace qs {

namespace {

constexpr int kMaxValueDepth = 64;

constexpr std::array<std::pair<std::string_view, ValueKind>, 6> kValueKinds {{
    {"SymInt", ValueKind::SymInt},
    {"SymFloat", ValueKind::SymFloat},
    {"SymBool", ValueKind::SymBool},
    {"Custom", ValueKind::Custom},
    {"Tuple", ValueKind::Tuple},
    {"None", ValueKind::None},
}};

tl::unexpected<Error> bad(const std::string& what)
{
    return fail(ErrorCode::BadInput, what);
}

Result<Argument> readWordArgument(TextLexer& lexer)
{
    const auto word = lexer.word().value_or("");
    if (word == "None")
        return Argument();
    if (word == "True" || word == "False")
        return Argument(word == "True");
    if (!lexer.take("("))
        return bad("'" + word + "' is not a value");
    Argument out;
    if (word == "complex") {
        const auto real = lexer.number();
        const auto imaginary = lexer.take(",") ? lexer.number() : std::nullopt;
        if (!real || !imaginary)
            return bad("complex takes two numbers");
        out = ComplexNumber {real->real, imaginary->real};
    } else if (word == "dtype") {
        const auto name = lexer.word().value_or("");
        out = dtypeFromName(name).value_or(DType::Unknown);
    } else {
        const auto text = lexer.string();
        if (!text)
            return bad(word + " takes a quoted text");
        if (word == "device")
            out = deviceFromText(*text);
        else if (word == "layout")
            out = LayoutTag {*text};
        else if (word == "memory_format")
            out = MemoryFormatTag {*text};
        else
            return bad("'" + word + "' is not a kind of value");
    }
    if (!lexer.take(")"))
        return bad("a ) is missing after " + word);
    return out;
}

Result<Argument> readArgument(TextLexer& lexer, const ValueNames& names, int depth)
{
    if (depth > kMaxValueDepth)
        return bad("lists are nested too deeply");
    if (lexer.take("%")) {
        const auto name = lexer.name();
        const auto it = name ? names.find(*name) : names.end();
        if (it == names.end())
            return bad("no earlier node makes '%" + name.value_or("") + "'");
        return Argument(it->second);
    }
    if (lexer.take("[")) {
        Argument::List items;
        if (!lexer.take("]")) {
            do {
                QS_TRY(Argument item, readArgument(lexer, names, depth + 1));
                items.push_back(std::move(item));
            } while (lexer.take(","));
            if (!lexer.take("]"))
                return bad("a ] is missing");
        }
        return Argument(std::move(items));
    }
    if (auto text = lexer.string())
        return Argument(std::move(*text));
    if (const auto number = lexer.number())
        return number->isInteger ? Argument(number->integer) : Argument(number->real);
    return readWordArgument(lexer);
}

Result<void> readShape(TextLexer& lexer, ValueType& type)
{
    if (!lexer.take("["))
        return bad("a tensor type reads: dtype[sizes]");
    if (lexer.take("...]"))
        return {};
    type.shapeKnown = true;
    if (lexer.take("]"))
        return {};
    do {
        Dim dim;
        if (lexer.take("{")) {
            const auto symbol = lexer.string();
            const auto hint = lexer.integer();
            const auto expression = lexer.string();
            if (!symbol || !hint || !expression || !lexer.take("}"))
                return bad("a symbolic size reads: {\"symbol\" hint \"expression\"}");
            dim = {*hint, *symbol, *expression};
        } else if (!lexer.take("?")) {
            const auto size = lexer.integer();
            if (!size)
                return bad("a size was expected");
            dim = Dim::fixed(*size);
        }
        type.shape.push_back(std::move(dim));
    } while (lexer.take(","));
    return lexer.take("]") ? Result<void>() : bad("a ] is missing after the sizes");
}

} // namespace

Device deviceFromText(const std::string& text)
{
    const auto colon = text.find(':');
    Device device {text.substr(0, colon), -1};
    if (colon != std::string::npos) {
        TextLexer index(std::string_view(text).substr(colon + 1));
        device.index = int(index.integer().value_or(-1));
    }
    return device;
}

Result<Argument> readArgumentText(TextLexer& lexer, const ValueNames& names)
{
    return readArgument(lexer, names, 0);
}

Result<ValueType> readTypeText(TextLexer& lexer)
{
    ValueType type;
    const auto word = lexer.word().value_or("");
    bool isTensor = true;
    for (const auto& [text, kind] : kValueKinds)
        if (text == word) {
            type.kind = kind;
            isTensor = false;
        }
    if (isTensor) {
        type.dtype = dtypeFromName(word).value_or(DType::Unknown);
        QS_CHECK(readShape(lexer, type));
    }
    for (;;) {
        std::string* field = nullptr;
        std::string device;
        if (lexer.take("device="))
            field = &device;
        else if (lexer.take("class="))
            field = &type.className;
        else if (lexer.take("expression="))
            field = &type.expression;
        else
            return type;
        const auto text = lexer.string();
        if (!text)
            return bad("a quoted text was expected in a type");
        *field = *text;
        if (!device.empty())
            type.device = deviceFromText(device);
    }
}

} // namespace qs

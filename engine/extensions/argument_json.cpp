// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/argument_json.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

using Source = KernelArgument::Source;

struct Word
{
    std::string_view name;
    Source source;
    bool ofRowsAlone;
};
constexpr std::array<Word, 5> kWords {{{"input", Source::Input, false},
                                       {"weight", Source::Weight, true},
                                       {"bias", Source::Bias, true},
                                       {"output_scale", Source::OutputScale, false},
                                       {"output_zero_point", Source::OutputZeroPoint, false}}};

/// Returns the possible sources, for the error.
std::string sourcesOf(ArgumentsOf owner)
{
    return owner == ArgumentsOf::Row
        ? "one of: input, weight, bias, output_scale, output_zero_point, or an object with input, "
          "argument, value or prepack"
        : "one of: input, output_scale, output_zero_point, or an object with input, weight, "
          "parameter, output_scale, output_zero_point, value or prepack";
}

Result<Argument> readLiteral(const JsonPlace& place)
{
    const Json& value = place.value();
    if (value.is_null())
        return Argument();
    if (value.is_boolean())
        return Argument(value.get<bool>());
    if (value.is_number_integer())
        return Argument(value.get<std::int64_t>());
    if (value.is_number())
        return Argument(value.get<double>());
    if (value.is_string())
        return Argument(value.get<std::string>());
    QS_TRY(Argument::List list, readList(place, readLiteral));
    return Argument(std::move(list));
}

Result<KernelArgument> readWord(const JsonPlace& place, ArgumentsOf owner)
{
    KernelArgument made;
    QS_TRY(const std::string word, place.string());
    for (const Word& known : kWords)
        if (word == known.name && (owner == ArgumentsOf::Row || !known.ofRowsAlone)) {
            made.source = known.source;
            return made;
        }
    return place.error("'" + word + "' is not a source of an argument", sourcesOf(owner));
}

Result<KernelArgument> readPrepack(const JsonPlace& place, ArgumentsOf owner)
{
    KernelArgument made;
    made.source = Source::Prepacked;
    QS_TRY(made.from, place.key("prepack").string());
    QS_CHECK(readPackTarget(place.key("prepack"), made.from));
    if (!place.has("arguments"))
        return place.error("the key 'arguments' is missing: what the prepack operator takes");
    QS_TRY(made.parts, readArguments(place.key("arguments"), owner));
    return made;
}

/// Reads the index of an input or a result.
Result<std::size_t> readNumber(const JsonPlace& place, const std::string& what)
{
    QS_TRY(const std::int64_t number, place.integer());
    if (number < 0)
        return place.error(what + " are counted from 0");
    return std::size_t(number);
}

Result<KernelArgument> readArgument(const JsonPlace& place, ArgumentsOf owner)
{
    if (place.value().is_string())
        return readWord(place, owner);
    std::vector<std::string> keys {"input", "value", "prepack", "arguments"};
    if (owner == ArgumentsOf::Row)
        keys.push_back("argument");
    else
        keys.insert(keys.end(), {"weight", "parameter", "output_scale", "output_zero_point"});
    QS_CHECK(place.object(keys));
    if (place.has("prepack"))
        return readPrepack(place, owner);
    if (place.value().size() != 1 || place.has("arguments"))
        return place.error("expected one source", sourcesOf(owner));
    KernelArgument made;
    if (place.has("input")) {
        QS_TRY(made.input, readNumber(place.key("input"), "inputs"));
        return made;
    }
    for (const auto& [key, source] : {std::pair("output_scale", Source::OutputScale),
                                      std::pair("output_zero_point", Source::OutputZeroPoint)})
        if (place.has(key)) {
            made.source = source;
            QS_TRY(made.input, readNumber(place.key(key), "results"));
            return made;
        }
    for (const auto& [key, source] :
         {std::pair("argument", Source::OfOperator), std::pair("parameter", Source::OfOperator),
          std::pair("weight", Source::Weight)})
        if (place.has(key)) {
            made.source = source;
            QS_TRY(made.from, place.key(key).string());
            return made;
        }
    made.source = Source::Literal;
    QS_TRY(made.literal, readLiteral(place.key("value")));
    return made;
}

} // namespace

/// Returns the operator's target; packs must not describe PyTorch's operators.
Result<std::string> readPackTarget(const JsonPlace& place, const std::string& name)
{
    const std::string target = operatorTarget(name);
    if (target.empty() || name.find("::") == std::string::npos)
        return place.error("'" + name + "' is not the name of an operator",
                           "write it with its namespace: \"mypack::linear\"");
    static constexpr std::array<std::string_view, 6> kOwn {
        "aten.", "prim.", "quantized.", "quantized_decomposed.", "quantscope.", "higher_order."};
    if (std::any_of(kOwn.begin(), kOwn.end(),
                    [&](std::string_view own) { return target.starts_with(own); }))
        return place.error("'" + name + "' is not the pack's operator",
                           "give operators a namespace of your own");
    return target;
}

Result<std::vector<KernelArgument>> readArguments(const JsonPlace& place, ArgumentsOf owner)
{
    if (!place.value().is_object() || place.value().empty())
        return place.error("expected an object: for each argument where it comes from");
    std::vector<KernelArgument> made;
    for (const auto& [name, value] : place.value().items()) {
        QS_TRY(KernelArgument one, readArgument(place.key(name), owner));
        one.name = name;
        made.push_back(std::move(one));
    }
    return made;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/pack_file.h"

#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/configure/backend/lowering_names.h"
#include "engine/configure/json/json_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;
using Source = KernelArgument::Source;

constexpr std::array<std::pair<std::string_view, Source>, 5> kWords {{
    {"input", Source::Input},
    {"weight", Source::Weight},
    {"bias", Source::Bias},
    {"output_scale", Source::OutputScale},
    {"output_zero_point", Source::OutputZeroPoint},
}};

Result<std::vector<std::string>> readWords(const JsonPlace& place)
{
    QS_CHECK(place.array());
    std::vector<std::string> words;
    for (std::size_t i = 0; i < place.value().size(); ++i) {
        QS_TRY(std::string word, place.item(i).string());
        words.push_back(std::move(word));
    }
    return words;
}

/// The operator's target; PyTorch's own are not a pack's to describe.
Result<std::string> readTarget(const JsonPlace& place, const std::string& name)
{
    const std::string target = operatorTarget(name);
    if (target.empty() || name.find("::") == std::string::npos)
        return place.error("'" + name + "' is no operator's name",
                           "write it with its namespace: \"mypack::linear\"");
    static constexpr std::array<std::string_view, 6> kOwn {
        "aten.", "prim.", "quantized.", "quantized_decomposed.", "quantscope.", "higher_order."};
    if (std::any_of(kOwn.begin(), kOwn.end(),
                    [&](std::string_view own) { return target.starts_with(own); }))
        return place.error("'" + name + "' is not the pack's operator",
                           "give operators a namespace of your own");
    return target;
}

Result<void> readOperators(const JsonPlace& place, ExtensionPack& pack)
{
    if (!place.value().is_object())
        return place.error("an object of operators by their names is wanted");
    for (const auto& [name, value] : place.value().items()) {
        const JsonPlace item = place.key(name);
        OperatorFacts facts;
        QS_TRY(facts.target, readTarget(item, name));
        QS_CHECK(item.object({"input", "weight", "bias", "carried", "moves_values"}));
        for (const auto& [key, target] :
             {std::pair("input", &facts.input), std::pair("weight", &facts.weight),
              std::pair("bias", &facts.bias)})
            if (item.has(key)) {
                QS_TRY(*target, item.key(key).string());
            }
        if (item.has("carried")) {
            QS_TRY(facts.carried, readWords(item.key("carried")));
        }
        if (item.has("moves_values")) {
            QS_TRY(facts.movesValues, item.key("moves_values").boolean());
        }
        if (!facts.weight.empty())
            facts.weighted = OperatorFacts::Weighted::Other;
        facts.pack = pack.name;
        pack.operators.push_back(std::move(facts));
    }
    return {};
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
    QS_CHECK(place.array());
    Argument::List list;
    for (std::size_t i = 0; i < value.size(); ++i) {
        QS_TRY(Argument item, readLiteral(place.item(i)));
        list.push_back(std::move(item));
    }
    return Argument(std::move(list));
}

Result<std::vector<KernelArgument>> readArguments(const JsonPlace& place);

Result<KernelArgument> readArgument(const JsonPlace& place)
{
    KernelArgument made;
    if (place.value().is_string()) {
        QS_TRY(const std::string word, place.string());
        for (const auto& [name, source] : kWords)
            if (word == name) {
                made.source = source;
                return made;
            }
        return place.error("'" + word + "' is no source of an argument",
                           "one of: input, weight, bias, output_scale, output_zero_point, or an "
                           "object with input, argument, value or prepack");
    }
    QS_CHECK(place.object({"input", "argument", "value", "prepack", "arguments"}));
    if (place.has("prepack")) {
        made.source = Source::Prepacked;
        QS_TRY(made.from, place.key("prepack").string());
        QS_CHECK(readTarget(place.key("prepack"), made.from));
        if (!place.has("arguments"))
            return place.error("the key 'arguments' is missing: what the prepack operator takes");
        QS_TRY(made.parts, readArguments(place.key("arguments")));
        return made;
    }
    if (place.value().size() != 1 || place.has("arguments"))
        return place.error("exactly one of 'input', 'argument', 'value' and 'prepack' is wanted");
    if (place.has("input")) {
        QS_TRY(const std::int64_t number, place.key("input").integer());
        if (number < 0)
            return place.key("input").error("inputs are counted from 0");
        made.input = std::size_t(number);
    } else if (place.has("argument")) {
        made.source = Source::OfOperator;
        QS_TRY(made.from, place.key("argument").string());
    } else {
        made.source = Source::Literal;
        QS_TRY(made.literal, readLiteral(place.key("value")));
    }
    return made;
}

Result<std::vector<KernelArgument>> readArguments(const JsonPlace& place)
{
    if (!place.value().is_object() || place.value().empty())
        return place.error("an object is wanted: for each argument where it comes from");
    std::vector<KernelArgument> made;
    for (const auto& [name, value] : place.value().items()) {
        QS_TRY(KernelArgument one, readArgument(place.key(name)));
        one.name = name;
        made.push_back(std::move(one));
    }
    return made;
}

Result<void> readOutput(const JsonPlace& place, KernelRow& row)
{
    if (place.value().is_object()) {
        QS_CHECK(place.object({"scale", "zero_point"}));
        if (!place.has("scale") || !place.has("zero_point"))
            return place.error("both 'scale' and 'zero_point' are wanted");
        row.output = KernelOutput::Fixed;
        QS_TRY(row.fixedScale, place.key("scale").number());
        QS_TRY(row.fixedZeroPoint, place.key("zero_point").integer());
        return {};
    }
    QS_TRY(const std::string word, place.string());
    if (word != "requantized" && word != "as_input")
        return place.error("'" + word + "' is no kind of output",
                           "requantized, as_input, or an object with scale and zero_point");
    row.output = word == "as_input" ? KernelOutput::AsInput : KernelOutput::Requantized;
    return {};
}

void addKernelFacts(const std::string& kernel, bool isPrepack, ExtensionPack& pack)
{
    const std::string target = operatorTarget(kernel);
    auto known = std::find_if(pack.operators.begin(), pack.operators.end(),
                              [&](const auto& own) { return own.target == target; });
    if (known == pack.operators.end()) {
        OperatorFacts facts;
        facts.target = target;
        facts.pack = pack.name;
        known = pack.operators.insert(known, std::move(facts));
    }
    (isPrepack ? known->isPrepack : known->isKernel) = true;
}

void addKernels(const std::vector<KernelArgument>& arguments, ExtensionPack& pack)
{
    for (const KernelArgument& argument : arguments)
        if (argument.source == Source::Prepacked) {
            addKernelFacts(argument.from, true, pack);
            addKernels(argument.parts, pack);
        }
}

Result<void> readRow(const JsonPlace& place, ExtensionPack& pack)
{
    QS_CHECK(place.object({"pattern", "to", "arguments", "output"}));
    for (const char* key : {"pattern", "to"})
        if (!place.has(key))
            return place.error("the key '" + std::string(key) + "' is missing");
    KernelRow row;
    row.pack = pack.name;
    QS_TRY(const std::vector<std::string> names, readWords(place.key("pattern")));
    if (names.empty())
        return place.key("pattern").error("the pattern is empty");
    row.pattern = operatorKindsOf(names);
    QS_TRY(row.kernel, place.key("to").string());
    if (place.has("output"))
        QS_CHECK(readOutput(place.key("output"), row));
    if (row.kernel != kSameKernel && row.kernel != kNoKernel) {
        QS_CHECK(readTarget(place.key("to"), row.kernel));
        if (!place.has("arguments"))
            return place.error("the key 'arguments' is missing: where the kernel's come from");
        addKernelFacts(row.kernel, false, pack);
    } else if (place.has("arguments")) {
        return place.key("arguments").error("'" + row.kernel + "' takes none");
    }
    if (place.has("arguments")) {
        QS_TRY(row.arguments, readArguments(place.key("arguments")));
        addKernels(row.arguments, pack);
    }
    pack.rows.push_back(std::move(row));
    return {};
}

/// Beside the JSON, wherever the folder is moved to.
Result<void> readLibraries(const JsonPlace& place, ExtensionPack& pack)
{
    QS_TRY(const std::vector<std::string> names, readWords(place));
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty() || fs::path(names[i]).filename() != fs::path(names[i]))
            return place.item(i).error("'" + names[i] + "' is no file beside " + kPackFile);
        pack.libraries.push_back((fs::path(pack.folder) / names[i]).string());
    }
    return {};
}

Result<void> readName(const JsonPlace& root, ExtensionPack& pack)
{
    for (const char* key : {"name", "torch", "libraries"})
        if (!root.has(key))
            return root.error("the key '" + std::string(key) + "' is missing");
    QS_TRY(pack.name, root.key("name").string());
    const bool plain = std::all_of(pack.name.begin(), pack.name.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '-';
    });
    if (pack.name.empty() || !plain)
        return root.key("name").error("a name has letters, digits, '_' and '-'");
    if (root.has("description")) {
        QS_TRY(pack.description, root.key("description").string());
    }
    QS_TRY(pack.torchVersion, root.key("torch").string());
    if (pack.torchVersion != QUANTSCOPE_TORCH_VERSION)
        return root.key("torch").error("it is built against torch " + pack.torchVersion
                                           + ", this program has " QUANTSCOPE_TORCH_VERSION,
                                       "build it again with torch " QUANTSCOPE_TORCH_VERSION);
    return {};
}

Result<std::string> hashOf(const ExtensionPack& pack, const std::string& text)
{
    Sha256 hash;
    hash.update(text.data(), text.size());
    for (const std::string& library : pack.libraries) {
        QS_TRY(const std::string one, fileSha256(library));
        hash.update(one.data(), one.size());
    }
    return hash.hex();
}

} // namespace

Result<ExtensionPack> readPack(const std::string& folder)
{
    std::error_code code;
    ExtensionPack pack;
    pack.folder = fs::absolute(folder, code).lexically_normal().string();
    if (!fs::is_directory(folder, code))
        return fail(makeError(ErrorCode::NotFound, "there is no such folder")
                        .inFile(folder)
                        .withHint("an extension pack is a folder with " + std::string(kPackFile)));
    const std::string file = (fs::path(folder) / kPackFile).string();
    QS_TRY(const std::string text, readTextFile(file));
    QS_TRY(const Json document, parseJson(text, file));
    const JsonPlace root(document, file, "");
    QS_CHECK(checkFormat(root, "quantscope.extension", 1));
    QS_CHECK(root.object({"format", "version", "name", "description", "torch", "libraries",
                          "operators", "patterns", "lowering"}));
    QS_CHECK(readName(root, pack));
    QS_CHECK(readLibraries(root.key("libraries"), pack));
    if (root.has("operators"))
        QS_CHECK(readOperators(root.key("operators"), pack));
    if (root.has("patterns")) {
        const JsonPlace list = root.key("patterns");
        QS_CHECK(list.array());
        for (std::size_t i = 0; i < list.value().size(); ++i) {
            QS_TRY(BackendPattern pattern, readBackendPattern(list.item(i)));
            pack.patterns.push_back(std::move(pattern));
        }
    }
    if (root.has("lowering")) {
        const JsonPlace list = root.key("lowering");
        QS_CHECK(list.array());
        for (std::size_t i = 0; i < list.value().size(); ++i)
            QS_CHECK(readRow(list.item(i), pack));
    }
    QS_TRY(pack.sha256, hashOf(pack, text));
    return pack;
}

} // namespace qs

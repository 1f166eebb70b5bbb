// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/pack_file.h"

#include "engine/base/files/file_hash.h"
#include "engine/base/json/json_fields.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/configure/backend/lowering_names.h"
#include "engine/extensions/argument_json.h"
#include "engine/extensions/classes/class_json.h"
#include "engine/extensions/module_json.h"
#include "engine/extensions/shapes/shape_json.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr std::array kFactFields {
    jsonField<&OperatorFacts::input>("input"), jsonField<&OperatorFacts::weight>("weight"),
    jsonField<&OperatorFacts::bias>("bias"), jsonField<&OperatorFacts::carried>("carried"),
    jsonField<&OperatorFacts::movesValues>("moves_values")};

Result<void> readOperators(const JsonPlace& place, ExtensionPack& pack)
{
    if (!place.value().is_object())
        return place.error("expected an object of operators by their names");
    for (const auto& [name, value] : place.value().items()) {
        const JsonPlace item = place.key(name);
        OperatorFacts facts;
        QS_TRY(facts.target, readPackTarget(item, name));
        QS_CHECK(item.object({"input", "weight", "bias", "carried", "moves_values", "results"}));
        QS_CHECK(readFields(item, kFactFields, facts));
        if (item.has("results")) {
            QS_TRY(PackShapes shapes, readResults(item.key("results"), name));
            facts.tellsResults = true;
            pack.shapes.push_back(std::move(shapes));
        }
        if (!facts.weight.empty())
            facts.weighted = OperatorFacts::Weighted::Other;
        facts.pack = pack.name;
        pack.operators.push_back(std::move(facts));
    }
    return {};
}

Result<void> readOutput(const JsonPlace& place, KernelRow& row)
{
    if (place.value().is_object()) {
        QS_CHECK(place.object({"scale", "zero_point"}));
        if (!place.has("scale") || !place.has("zero_point"))
            return place.error("expected both 'scale' and 'zero_point'");
        row.output = KernelOutput::Fixed;
        QS_TRY(row.fixedScale, place.key("scale").number());
        QS_TRY(row.fixedZeroPoint, place.key("zero_point").integer());
        return {};
    }
    QS_TRY(const std::string word, place.string());
    if (word != "requantized" && word != "as_input")
        return place.error("'" + word + "' is not a kind of output",
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
        if (argument.source == KernelArgument::Source::Prepacked) {
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
    QS_TRY(const std::vector<std::string> names, place.key("pattern").strings());
    if (names.empty())
        return place.key("pattern").error("the pattern is empty");
    row.pattern = operatorKindsOf(names);
    QS_TRY(row.kernel, place.key("to").string());
    if (place.has("output"))
        QS_CHECK(readOutput(place.key("output"), row));
    if (row.kernel != kSameKernel && row.kernel != kNoKernel) {
        QS_CHECK(readPackTarget(place.key("to"), row.kernel));
        if (!place.has("arguments"))
            return place.error("the key 'arguments' is missing: where the kernel's come from");
        addKernelFacts(row.kernel, false, pack);
    } else if (place.has("arguments")) {
        return place.key("arguments").error("'" + row.kernel + "' takes none");
    }
    if (place.has("arguments")) {
        QS_TRY(row.arguments, readArguments(place.key("arguments"), ArgumentsOf::Row));
        addKernels(row.arguments, pack);
    }
    pack.rows.push_back(std::move(row));
    return {};
}

/// Reads a file name and returns the path; the file must be next to the JSON, so that the folder
/// can be moved.
Result<std::string> readFileName(const JsonPlace& place, const std::string& name,
                                 const ExtensionPack& pack)
{
    if (name.empty() || fs::path(name).filename() != fs::path(name))
        return place.error("'" + name + "' is not a file beside " + kPackFile);
    return (fs::path(pack.folder) / name).string();
}

Result<std::vector<std::string>> readLibraries(const JsonPlace& place, const ExtensionPack& pack)
{
    return readList(place, [&pack](const JsonPlace& item) -> Result<std::string> {
        QS_TRY(const std::string name, item.string());
        return readFileName(item, name, pack);
    });
}

Result<void> readScripts(const JsonPlace& place, ExtensionPack& pack)
{
    if (!place.value().is_object())
        return place.error("expected an object of files",
                           "write {\"unit.pt\": {\"mypack::unit\": \"forward\"}}");
    for (const auto& [name, methods] : place.value().items()) {
        const JsonPlace item = place.key(name);
        PackScript script;
        QS_TRY(script.path, readFileName(item, name, pack));
        if (!methods.is_object() || methods.empty())
            return item.error("expected an object from operators to the script's methods");
        for (const auto& [op, method] : methods.items()) {
            QS_CHECK(readPackTarget(item.key(op), op));
            QS_TRY(script.methods[op], item.key(op).string());
        }
        pack.scripts.push_back(std::move(script));
    }
    return {};
}

Result<void> readFiles(const JsonPlace& root, ExtensionPack& pack)
{
    if (!root.has("libraries") && !root.has("scripts"))
        return root.error("neither 'libraries' nor 'scripts' is there",
                          "name the files beside " + std::string(kPackFile)
                              + " that register the pack's operators");
    if (root.has("libraries")) {
        QS_TRY(pack.libraries, readLibraries(root.key("libraries"), pack));
    }
    if (root.has("cuda_libraries")) {
        QS_TRY(pack.cudaLibraries, readLibraries(root.key("cuda_libraries"), pack));
    }
    if (root.has("scripts"))
        QS_CHECK(readScripts(root.key("scripts"), pack));
    return {};
}

Result<void> readName(const JsonPlace& root, ExtensionPack& pack)
{
    for (const char* key : {"name", "torch"})
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
        return root.key("torch").error("it is built against torch "
                                           + shortened(pack.torchVersion, 40)
                                           + ", this program has " QUANTSCOPE_TORCH_VERSION,
                                       "build it again with torch " QUANTSCOPE_TORCH_VERSION);
    return {};
}

Result<std::string> hashOf(const ExtensionPack& pack, const std::string& text,
                           const JobContext& job)
{
    Sha256 hash;
    hash.update(text.data(), text.size());
    std::vector<std::string> files = pack.libraries;
    for (const PackScript& script : pack.scripts)
        files.push_back(script.path);
    for (const std::string& library : pack.cudaLibraries)
        if (fs::exists(library))
            files.push_back(library);
    for (const std::string& file : files) {
        QS_TRY(const std::string one, fileSha256(file, job));
        hash.update(one.data(), one.size());
    }
    return hash.hex();
}

} // namespace

Result<ExtensionPack> readPack(const std::string& folder, const JobContext& job)
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
                          "cuda_libraries", "scripts", "operators", "classes", "patterns",
                          "lowering", "custom_modules"}));
    QS_CHECK(readName(root, pack));
    QS_CHECK(readFiles(root, pack));
    if (root.has("operators"))
        QS_CHECK(readOperators(root.key("operators"), pack));
    if (root.has("classes")) {
        QS_TRY(pack.classes, readClasses(root.key("classes")));
    }
    if (root.has("patterns")) {
        QS_TRY(pack.patterns, readList(root.key("patterns"), readBackendPattern));
    }
    if (root.has("lowering")) {
        const JsonPlace list = root.key("lowering");
        QS_CHECK(list.array());
        for (std::size_t i = 0; i < list.value().size(); ++i)
            QS_CHECK(readRow(list.item(i), pack));
    }
    if (root.has("custom_modules")) {
        QS_TRY(pack.modules, readModules(root.key("custom_modules"), pack.name));
        for (const PackModuleSpec& module : pack.modules) {
            for (const auto& [mode, call] : module.kernels) {
                addKernelFacts(call.kernel, false, pack);
                addKernels(call.arguments, pack);
            }
        }
    }
    QS_TRY(pack.sha256, hashOf(pack, text, job));
    return pack;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/custom_config_json.h"

#include "engine/base/json/json_fields.h"
#include "engine/base/json/nearest_name.h"
#include "engine/base/log.h"
#include "engine/configure/dumps/python_value.h"
#include "engine/configure/keys/key_table.h"
#include "engine/graph/operators/operator_words.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr const char* kObserved = "float_to_observed_custom_module_class";
constexpr const char* kQuantized = "observed_to_quantized_custom_module_class";
const std::vector<std::string> kModes {"static", "dynamic", "weight_only"};

struct StrayKey
{
    std::string_view key;
    std::string_view what; ///< what replaced it
    std::string_view instead;
};
constexpr std::string_view kByNode = "rules by node belong in the recipe: \"mapping\": {\"node\": "
                                     "[[\"conv2d\", \"x86\"]]}; null keeps "
                                     "a node float";
constexpr std::string_view kScopes
    = "'inspect' shows every node's module; rules by module belong under mapping.module_name";
constexpr std::array<StrayKey, 28> kStray {{
    {"prepare_custom_config_dict", "was removed from PyTorch", "write its content under 'prepare'"},
    {"prepare_custom_config", "is an argument of PyTorch's", "write its content under 'prepare'"},
    {"convert_custom_config_dict", "was removed from PyTorch", "write its content under 'convert'"},
    {"convert_custom_config", "is an argument of PyTorch's", "write its content under 'convert'"},
    {"qconfig_dict", "was removed from PyTorch", "write its content under 'mapping'"},
    {"qconfig_mapping", "does not belong here",
     "write its content under 'mapping'; nulls for conversion only under 'convert'"},
    {"backend_config", "is an argument of PyTorch's",
     "name the backend or its file under 'backend'"},
    {"backend_config_dict", "was removed from PyTorch",
     "name the backend or its file under 'backend'"},
    {"_qconfig_map", "was removed from PyTorch", kByNode},
    {"qconfig_map", "was removed from PyTorch", kByNode},
    {"node_name_to_qconfig", "is PyTorch's own bookkeeping", kByNode},
    {"_node_name_to_scope", "was removed from PyTorch and cannot be set", kScopes},
    {"node_name_to_scope", "follows from the model and cannot be set", kScopes},
    {"additional_fuser_method_mapping", "was removed from PyTorch",
     "write fusions into a backend file, with fused_module and fuser_method"},
    {"additional_qat_module_mapping", "was removed from PyTorch",
     "write qat_module into a backend file"},
    {"additional_object_mapping", "was removed from PyTorch",
     "write reference_quantized_module into a backend file"},
    {"global_qconfig", "is an attribute of QConfigMapping", "write 'global'"},
    {"object_type_qconfigs", "is an attribute of QConfigMapping", "write 'object_type'"},
    {"module_name_regex_qconfigs", "is an attribute of QConfigMapping",
     "write 'module_name_regex'"},
    {"module_name_qconfigs", "is an attribute of QConfigMapping", "write 'module_name'"},
    {"module_name_object_type_order_qconfigs", "is an attribute of QConfigMapping",
     "write 'module_name_object_type_order'"},
    {kObserved, "belongs to preparation", "write it under 'prepare'"},
    {kQuantized, "belongs to conversion", "write it under 'convert'"},
    {"non_traceable_module_name", "belongs to preparation", "write it under 'prepare'"},
    {"non_traceable_module_class", "belongs to preparation", "write it under 'prepare'"},
    {"standalone_module_name", "belongs to preparation", "write it under 'prepare'"},
    {"float_to_quantized_custom_module_class", "is not a key of PyTorch's",
     "write float_to_observed_custom_module_class under 'prepare' and "
     "observed_to_quantized_custom_module_class under 'convert'"},
    {"preserved_attributes", "does not belong here", "write it under 'prepare' or 'convert'"},
}};

/// Returns "models.Head" for "<class 'models.Head'>"; removes inner modules from PyTorch's classes.
std::string className(const std::string& given)
{
    return publicTypeName(classNameOf(given));
}

Result<std::vector<std::string>> readNames(const JsonPlace& place)
{
    if (place.value().is_string())
        return place.error("expected a list of names, not one name",
                           "write [" + place.value().dump() + "]");
    return place.strings();
}

/// Reads standalone modules: each is a name, or PyTorch's tuple that begins with the name.
Result<std::vector<std::string>> readStandalone(const JsonPlace& place)
{
    if (place.value().is_string())
        return place.error("expected a list of modules, not one name",
                           "write [" + place.value().dump() + "]");
    return readList(place, [](const JsonPlace& item) -> Result<std::string> {
        const Json& given = item.value();
        if (!given.is_array() || given.empty())
            return item.string();
        QS_TRY(std::string name, item.item(0).string());
        if (std::any_of(given.begin() + 1, given.end(),
                        [](const Json& part) { return !part.empty(); }))
            warn(item.file() + ": of the standalone module '" + name
                 + "' only its name is kept; the settings beside it have no effect");
        return name;
    });
}

Result<std::vector<std::int64_t>> readIndices(const JsonPlace& place)
{
    if (place.value().is_number())
        return place.error("expected a list of indices, not one number",
                           "write [" + place.value().dump() + "]");
    return readList(place, [](const JsonPlace& item) { return item.integer(); });
}

/// `{"log": "-Inf in batch 1"}`
Result<std::map<std::string, std::string>> readNotFinite(const JsonPlace& place)
{
    if (!place.value().is_object())
        return place.error("expected an object from a node's name to what was seen there",
                           "write {\"log\": \"-Inf in batch 1\"}");
    std::map<std::string, std::string> out;
    for (const auto& [name, seen] : place.value().items()) {
        QS_TRY(out[name], place.key(name).string());
    }
    return out;
}

/// `{"static": {"my.Float": "my.Observed"}}`, with the classes' names in models.
template<bool isPreparing>
Result<std::vector<ClassChange>> readClassMap(const JsonPlace& place)
{
    if (!place.value().is_object())
        return place.error("expected an object of modes",
                           "write {\"static\": {\"my.From\": \"my.To\"}}");
    std::vector<ClassChange> out;
    for (const auto& [mode, value] : place.value().items()) {
        const JsonPlace block = place.key(mode);
        if (std::find(kModes.begin(), kModes.end(), mode) == kModes.end()) {
            if (mode.find('.') != std::string::npos && value.is_string())
                return place.error("the mode is missing before '" + mode + "'",
                                   "write {\"static\": {\"" + className(mode)
                                       + "\": " + Json(className(value)).dump() + "}}");
            return place.error("unknown mode '" + mode + "'", suggestName(mode, kModes));
        }
        if (isPreparing && mode != "static")
            return block.error("mode '" + mode
                                   + "' has no observed class: PyTorch raises ValueError",
                               "put the float class into non_traceable_module_class, and map it "
                               "under convert."
                                   + std::string(kQuantized) + "." + mode);
        if (!value.is_object())
            return block.error("expected an object from class to class");
        for (const auto& [from, to] : value.items()) {
            QS_TRY(const std::string target, block.key(from).string());
            const auto isSame = [mode = mode, name = className(from)](const ClassChange& other) {
                return other.mode == mode && other.from == name;
            };
            std::erase_if(out, isSame); // maps a class to itself in another spelling
            out.push_back({mode, className(from), className(target)});
        }
    }
    return out;
}

/// Fails if an observed class is converted under another mode only; warns if it is not converted.
Result<void> checkPartners(const JsonPlace& place, const std::vector<ClassChange>& quantized,
                           const PrepareConfig& prepare)
{
    const auto converts = [&quantized](const std::string& mode, const std::string& from) {
        return std::ranges::any_of(quantized, [&](const ClassChange& change) {
            return change.mode == mode && change.from == from;
        });
    };
    for (const auto& [observedMode, from, observed] : prepare.observed) {
        if (converts(observedMode, observed))
            continue;
        for (const std::string& mode : kModes)
            if (converts(mode, observed))
                return place.key(kQuantized)
                    .key(mode)
                    .error("'" + observed + "' is observed under mode 'static' in prepare",
                           "move its entry to 'static'; mode '" + mode
                               + "' takes float classes that are never observed");
        warn(place.file() + ": prepare makes '" + observed + "' of '" + from + "', and convert."
             + kQuantized + ".static does not map it");
    }
    return {};
}

Result<std::vector<std::string>> readClasses(const JsonPlace& place)
{
    QS_TRY(std::vector<std::string> names, readNames(place));
    std::ranges::transform(names, names.begin(), className);
    return names;
}

Result<std::vector<std::string>> readOptIn(const JsonPlace& place)
{
    QS_TRY(std::vector<std::string> names, readClasses(place));
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!std::ranges::count(optInModules(), names[i]))
            return place.item(i).error("'" + names[i] + "' is not a custom module",
                                       suggestName(names[i], optInModules()));
    return names;
}

Json classMapToJson(const std::vector<ClassChange>& changes)
{
    Json out;
    for (const auto& [mode, from, to] : changes)
        out[mode][from] = to;
    return out;
}

constexpr std::array kPrepareFields {
    jsonField<&PrepareConfig::leafNames, readNames>("non_traceable_module_name"),
    jsonField<&PrepareConfig::leafClasses, readClasses>("non_traceable_module_class"),
    jsonField<&PrepareConfig::observed, readClassMap<true>, classMapToJson>(kObserved),
    jsonField<&PrepareConfig::customModules, readOptIn>("custom_modules"),
    jsonField<&PrepareConfig::onlyModules, readNames>("only_modules"),
    jsonField<&PrepareConfig::wrap, readNames>("wrap"),
    jsonField<&PrepareConfig::unfuse, readNames>("unfuse"),
    jsonField<&PrepareConfig::notFinite, readNotFinite>("not_finite"),
    jsonField<&PrepareConfig::preservedAttributes, readNames>("preserved_attributes"),
    jsonField<&PrepareConfig::quantizedInputs, readIndices>("input_quantized_idxs"),
    jsonField<&PrepareConfig::quantizedOutputs, readIndices>("output_quantized_idxs"),
    jsonField<&PrepareConfig::standaloneNames, readStandalone>("standalone_module_name"),
    jsonField<&PrepareConfig::standaloneClasses, readStandalone>("standalone_module_class")};
constexpr std::array kConvertFields {
    jsonField<&ConvertConfig::quantized, readClassMap<false>, classMapToJson>(kQuantized),
    jsonField<&ConvertConfig::preservedAttributes, readNames>("preserved_attributes")};

} // namespace

Result<void> checkKeys(const JsonPlace& place, const std::vector<std::string>& allowed)
{
    if (place.value().is_object())
        for (const auto& [name, value] : place.value().items()) {
            if (std::find(allowed.begin(), allowed.end(), name) != allowed.end())
                continue;
            for (const StrayKey& stray : kStray)
                if (stray.key == name)
                    return place.error("the key '" + name + "' " + std::string(stray.what),
                                       std::string(stray.instead));
        }
    return place.object(allowed);
}

Result<PrepareConfig> readPrepareConfig(const JsonPlace& place)
{
    QS_CHECK(checkKeys(place, keyTable("recipe", "prepare").keys()));
    return readFields(place, kPrepareFields);
}

Json prepareToJson(const PrepareConfig& prepare)
{
    return fieldsToJson(kPrepareFields, prepare);
}

Result<ConvertConfig> readConvertConfig(const JsonPlace& place, const PrepareConfig& prepare)
{
    QS_CHECK(checkKeys(place, keyTable("recipe", "convert").keys()));
    QS_TRY(ConvertConfig convert, readFields(place, kConvertFields));
    QS_CHECK(checkPartners(place, convert.quantized, prepare));
    return convert;
}

Json convertToJson(const ConvertConfig& convert)
{
    return fieldsToJson(kConvertFields, convert);
}

} // namespace qs

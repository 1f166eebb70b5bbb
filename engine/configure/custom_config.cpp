// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/custom_config.h"

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
constexpr const char* kOptIn = "custom_modules";
/// Quantized as a whole; the LSTM is so without being asked.
const std::vector<std::string> kOptInClasses {"torch.nn.MultiheadAttention", "torch.nn.LSTM"};
const std::vector<std::string> kModes {"static", "dynamic", "weight_only"};

struct StrayKey
{
    std::string_view key;
    std::string_view what; ///< what became of it
    std::string_view instead;
};
constexpr std::string_view kByNode = "rules by node stand in the recipe: \"mapping\": {\"node\": "
                                     "[[\"conv2d\", \"x86\"]]}; null keeps "
                                     "a node float";
constexpr std::string_view kScopes
    = "'inspect' shows every node's module; rules by module stand under mapping.module_name";
constexpr std::array<StrayKey, 28> kStray {{
    {"prepare_custom_config_dict", "is gone from PyTorch", "write its content under 'prepare'"},
    {"prepare_custom_config", "is an argument of PyTorch's", "write its content under 'prepare'"},
    {"convert_custom_config_dict", "is gone from PyTorch", "write its content under 'convert'"},
    {"convert_custom_config", "is an argument of PyTorch's", "write its content under 'convert'"},
    {"qconfig_dict", "is gone from PyTorch", "write its content under 'mapping'"},
    {"qconfig_mapping", "does not belong here",
     "write its content under 'mapping'; nulls for conversion only under 'convert'"},
    {"backend_config", "is an argument of PyTorch's",
     "name the backend or its file under 'backend'"},
    {"backend_config_dict", "is gone from PyTorch", "name the backend or its file under 'backend'"},
    {"_qconfig_map", "is gone from PyTorch", kByNode},
    {"qconfig_map", "is gone from PyTorch", kByNode},
    {"node_name_to_qconfig", "is PyTorch's own bookkeeping", kByNode},
    {"_node_name_to_scope", "is gone from PyTorch and cannot be set", kScopes},
    {"node_name_to_scope", "follows from the model and cannot be set", kScopes},
    {"additional_fuser_method_mapping", "is gone from PyTorch",
     "write fusions into a backend file, with fused_module and fuser_method"},
    {"additional_qat_module_mapping", "is gone from PyTorch",
     "write qat_module into a backend file"},
    {"additional_object_mapping", "is gone from PyTorch",
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

/// "models.Head" of "<class 'models.Head'>"; PyTorch's own without the inner module.
std::string className(const std::string& given)
{
    return publicTypeName(classNameOf(given));
}

Result<Json> readNames(const JsonPlace& place, bool classes)
{
    if (place.value().is_string())
        return place.error("a list of names is wanted, not one name",
                           "write [" + place.value().dump() + "]");
    QS_CHECK(place.array());
    Json out = Json::array();
    for (std::size_t i = 0; i < place.value().size(); ++i) {
        QS_TRY(const std::string name, place.item(i).string());
        out.push_back(classes ? className(name) : name);
    }
    return out;
}

/// A standalone module is a name, or PyTorch's tuple that begins with it.
Result<void> checkStandalone(const JsonPlace& place)
{
    if (place.value().is_string())
        return place.error("a list of modules is wanted, not one name",
                           "write [" + place.value().dump() + "]");
    QS_CHECK(place.array());
    for (std::size_t i = 0; i < place.value().size(); ++i) {
        const JsonPlace item = place.item(i);
        const bool tuple = item.value().is_array() && !item.value().empty();
        QS_CHECK((tuple ? item.item(0) : item).string());
    }
    return {};
}

Result<void> checkIndices(const JsonPlace& place)
{
    if (place.value().is_number())
        return place.error("a list of indices is wanted, not one number",
                           "write [" + place.value().dump() + "]");
    QS_CHECK(place.array());
    for (std::size_t i = 0; i < place.value().size(); ++i)
        QS_CHECK(place.item(i).integer());
    return {};
}

/// `{"log": "-Inf in batch 1"}`
Result<void> checkNotFinite(const JsonPlace& place)
{
    if (!place.value().is_object())
        return place.error("an object from a node's name to what was seen there is wanted",
                           "write {\"log\": \"-Inf in batch 1\"}");
    for (const auto& [name, seen] : place.value().items())
        QS_CHECK(place.key(name).string());
    return {};
}

/// `{"static": {"my.Float": "my.Observed"}}`, the classes as models name them.
Result<Json> readClassMap(const JsonPlace& place, bool preparing)
{
    if (!place.value().is_object())
        return place.error("an object of modes is wanted",
                           "write {\"static\": {\"my.From\": \"my.To\"}}");
    Json out = Json::object();
    for (const auto& [mode, value] : place.value().items()) {
        const JsonPlace block = place.key(mode);
        if (std::find(kModes.begin(), kModes.end(), mode) == kModes.end()) {
            if (mode.find('.') != std::string::npos && value.is_string())
                return place.error("the mode is missing before '" + mode + "'",
                                   "write {\"static\": {\"" + className(mode) + "\": "
                                       + Json(className(value.get<std::string>())).dump() + "}}");
            return place.error("unknown mode '" + mode + "'", suggestName(mode, kModes));
        }
        if (preparing && mode != "static")
            return block.error("mode '" + mode
                                   + "' has no observed class: PyTorch raises ValueError",
                               "put the float class into non_traceable_module_class, and map it "
                               "under convert."
                                   + std::string(kQuantized) + "." + mode);
        if (!value.is_object())
            return block.error("an object from class to class is wanted");
        Json& classes = out[mode] = Json::object();
        for (const auto& [from, to] : value.items()) {
            QS_TRY(const std::string target, block.key(from).string());
            classes[className(from)] = className(target);
        }
    }
    return out;
}

Json staticMap(const Json& prepare)
{
    if (!prepare.is_object() || !prepare.contains(kObserved)
        || !prepare[kObserved].contains("static"))
        return Json::object();
    return prepare[kObserved]["static"];
}

/// Every observed class needs its quantized one, under the mode it is observed in.
Result<void> checkPartners(const JsonPlace& place, const Json& quantized,
                           const std::string& prepareJson)
{
    const Json prepared = staticMap(Json::parse(prepareJson, nullptr, false));
    for (const auto& [from, observed] : prepared.items()) {
        const std::string name = observed.get<std::string>();
        if (quantized.contains("static") && quantized["static"].contains(name))
            continue;
        for (const std::string& mode : kModes)
            if (quantized.contains(mode) && quantized[mode].contains(name))
                return place.key(kQuantized)
                    .key(mode)
                    .error("'" + name + "' is observed under mode 'static' in prepare",
                           "move its entry to 'static'; mode '" + mode
                               + "' takes float classes that are never observed");
        warn(place.file() + ": prepare makes '" + name + "' of '" + from + "', and convert."
             + kQuantized + ".static does not say what becomes of it");
    }
    return {};
}

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

Result<Json> readPrepareConfig(const JsonPlace& place)
{
    QS_CHECK(checkKeys(place, keyTable("recipe", "prepare").keys()));
    Json out = place.value();
    const std::pair<const char*, bool> lists[] {{"non_traceable_module_name", false},
                                                {"non_traceable_module_class", true},
                                                {"preserved_attributes", false},
                                                {"unfuse", false},
                                                {"only_modules", false},
                                                {"wrap", false}};
    for (const auto& [key, classes] : lists)
        if (place.has(key)) {
            QS_TRY(out[key], readNames(place.key(key), classes));
        }
    if (place.has(kOptIn)) {
        QS_TRY(out[kOptIn], readNames(place.key(kOptIn), true));
        for (std::size_t i = 0; i < out[kOptIn].size(); ++i) {
            const std::string name = out[kOptIn][i].get<std::string>();
            if (std::find(kOptInClasses.begin(), kOptInClasses.end(), name) == kOptInClasses.end())
                return place.key(kOptIn).item(i).error("'" + name + "' is not a custom module",
                                                       suggestName(name, kOptInClasses));
        }
    }
    for (const char* key : {"standalone_module_name", "standalone_module_class"})
        if (place.has(key))
            QS_CHECK(checkStandalone(place.key(key)));
    for (const char* key : {"input_quantized_idxs", "output_quantized_idxs"})
        if (place.has(key))
            QS_CHECK(checkIndices(place.key(key)));
    if (place.has("not_finite"))
        QS_CHECK(checkNotFinite(place.key("not_finite")));
    if (place.has(kObserved)) {
        QS_TRY(out[kObserved], readClassMap(place.key(kObserved), true));
    }
    return out;
}

Result<Json> readConvertConfig(const JsonPlace& place, const std::string& prepareJson)
{
    QS_CHECK(checkKeys(place, keyTable("recipe", "convert").keys()));
    Json out = place.value();
    if (place.has("preserved_attributes")) {
        QS_TRY(out["preserved_attributes"], readNames(place.key("preserved_attributes"), false));
    }
    if (place.has(kQuantized)) {
        QS_TRY(out[kQuantized], readClassMap(place.key(kQuantized), false));
    }
    QS_CHECK(checkPartners(place, out.value(kQuantized, Json::object()), prepareJson));
    return out;
}

std::vector<std::string> customModulesWanted(const std::string& prepareJson)
{
    const Json prepare = Json::parse(prepareJson, nullptr, false);
    std::vector<std::string> wanted;
    if (prepare.is_object() && prepare.contains(kOptIn))
        wanted = prepare[kOptIn].get<std::vector<std::string>>();
    const Json mapped = staticMap(prepare);
    for (const std::string& name : kOptInClasses) {
        const std::string quantizable = "torch.ao.nn.quantizable" + name.substr(name.rfind('.'));
        if (mapped.value(name, "") == quantizable
            && std::find(wanted.begin(), wanted.end(), name) == wanted.end())
            wanted.push_back(name);
    }
    return wanted;
}

} // namespace qs

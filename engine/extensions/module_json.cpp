// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/module_json.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/extensions/argument_json.h"

namespace qs {

namespace {

constexpr QuantizationMode kModes[] {QuantizationMode::Static, QuantizationMode::Dynamic,
                                     QuantizationMode::WeightOnly};

Result<PackCall> readCall(const JsonPlace& place)
{
    for (const char* key : {"to", "arguments"})
        if (!place.has(key))
            return place.error("the key '" + std::string(key) + "' is missing");
    PackCall call;
    QS_TRY(call.kernel, place.key("to").string());
    QS_CHECK(readPackTarget(place.key("to"), call.kernel));
    QS_TRY(call.arguments, readArguments(place.key("arguments"), ArgumentsOf::Module));
    return call;
}

/// Returns the first source of these kinds in the arguments, including nested ones.
const KernelArgument* findSource(const std::vector<KernelArgument>& arguments,
                                 std::initializer_list<KernelArgument::Source> sources)
{
    for (const KernelArgument& argument : arguments) {
        for (const KernelArgument::Source source : sources)
            if (argument.source == source)
                return &argument;
        if (const KernelArgument* inner = findSource(argument.parts, sources))
            return inner;
    }
    return nullptr;
}

/// Fails if the call uses a result's scale, which exists only for observed results.
Result<void> checkNoScale(const JsonPlace& place, const PackCall& call, const std::string& why)
{
    using Source = KernelArgument::Source;
    if (const KernelArgument* scale
        = findSource(call.arguments, {Source::OutputScale, Source::OutputZeroPoint}))
        return place.key("arguments").key(scale->name).error(why);
    return {};
}

Result<void> readModes(const JsonPlace& place, PackModuleSpec& module)
{
    std::vector<std::string> names;
    for (const QuantizationMode mode : kModes)
        names.emplace_back(quantizationModeName(mode));
    QS_CHECK(place.object(names));
    if (place.value().empty())
        return place.error("the mode is missing", suggestName("", names));
    for (const QuantizationMode mode : kModes) {
        const std::string name(quantizationModeName(mode));
        if (!place.has(name.c_str()))
            continue;
        const JsonPlace item = place.key(name);
        QS_CHECK(item.object({"to", "arguments", "quantized_class"}));
        QS_TRY(PackCall call, readCall(item));
        if (mode != QuantizationMode::Static)
            QS_CHECK(checkNoScale(item, call, "mode '" + name + "' gives float results"));
        if (item.has("quantized_class")) {
            QS_TRY(module.quantizedClass[mode], item.key("quantized_class").string());
        }
        module.kernels[mode] = std::move(call);
    }
    return {};
}

Result<PackModuleSpec> readModule(const JsonPlace& place)
{
    using Source = KernelArgument::Source;
    QS_CHECK(place.object({"class", "observed_class", "carried", "observed", "modes"}));
    for (const char* key : {"class", "modes"})
        if (!place.has(key))
            return place.error("the key '" + std::string(key) + "' is missing");
    PackModuleSpec module;
    QS_TRY(module.floatClass, place.key("class").string());
    if (module.floatClass.empty() || module.floatClass.starts_with("torch."))
        return place.key("class").error("'" + module.floatClass
                                        + "' is not a class of the user's own");
    if (place.has("observed_class")) {
        QS_TRY(module.observedClass, place.key("observed_class").string());
    }
    if (place.has("carried")) {
        const JsonPlace list = place.key("carried");
        QS_CHECK(list.array());
        for (std::size_t i = 0; i < list.value().size(); ++i) {
            QS_TRY(const std::int64_t input, list.item(i).integer());
            if (input < 0)
                return list.item(i).error("inputs are counted from 0");
            module.carried.push_back(std::size_t(input));
        }
    }
    if (place.has("observed")) {
        const JsonPlace item = place.key("observed");
        QS_CHECK(item.object({"to", "arguments"}));
        QS_TRY(module.observed, readCall(item));
        QS_CHECK(checkNoScale(item, *module.observed, "the observed operator runs in float"));
        if (const KernelArgument* packed
            = findSource(module.observed->arguments, {Source::Prepacked}))
            return item.key("arguments")
                .key(packed->name)
                .error("the observed operator runs in float: nothing is packed for it");
    }
    QS_CHECK(readModes(place.key("modes"), module));
    return module;
}

} // namespace

Result<std::vector<PackModuleSpec>> readModules(const JsonPlace& place, const std::string& pack)
{
    QS_TRY(std::vector<PackModuleSpec> modules, readList(place, readModule));
    for (PackModuleSpec& module : modules)
        module.pack = pack;
    return modules;
}

} // namespace qs

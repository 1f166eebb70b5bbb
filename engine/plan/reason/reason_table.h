// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace qs {

/// Causes that keep a node from being quantized by its qconfig. Documents name a cause as in
/// `kReasons`; names never change, and the name of a removed code is not reused.
enum class ReasonCode : std::uint8_t
{
    None, ///< no cause
    NoQConfig,
    RuleKeepsFloat,
    EdgeRuleKeepsInputFloat,
    ModuleKeptFloat,
    InsideWrap,
    OutsideOnlyModules,
    NoBackendPattern,
    FusionWithoutEntry,
    InsideModule,
    InsideWholeModule,
    DTypeNotAllowed,
    ConstraintViolated,
    QConfigDoesNotFit,
    OtherQConfigMode,
    CustomModuleRefused,
    NotFloat32,
    ObjectsOfUnknownClass,
    ObjectsNotOneByOne,
    InputNotObserved,
    NotObservedByBackend,
    DecidesBranch,
    ValueNotFinite,
    GivesNoFloatResult,
    MovesFloatResult,
    Opaque,
    ComputesNoTensor,
    ReadsNoTensor,
    ReadsStoredTensorsOnly,
    ModelInput,
    StoredTensor,
    NotReached
};

/// Name and sentence of a cause. In the sentence {name} is an argument; the text in [brackets] is
/// left out unless an argument in it is not empty.
struct ReasonRow
{
    ReasonCode code;
    std::string_view name;
    std::string_view sentence;
};

/// One row per code, in the order of the codes.
inline constexpr std::array kReasons {
    ReasonRow {ReasonCode::None, "", ""},
    ReasonRow {ReasonCode::NoQConfig, "no_qconfig", "no rule of the recipe gives it a qconfig"},
    ReasonRow {ReasonCode::RuleKeepsFloat, "rule_keeps_float", "{rule} keeps it float"},
    ReasonRow {ReasonCode::EdgeRuleKeepsInputFloat, "edge_rule_keeps_input_float",
               "the edge rule from '{producer}' keeps its input float, so it cannot be quantized"},
    ReasonRow {ReasonCode::ModuleKeptFloat, "module_kept_float",
               "prepare.{list} keeps {modules} float[, and it belongs to '{module}']"},
    ReasonRow {ReasonCode::InsideWrap, "inside_wrap",
               "it is glue of '{scope}', which prepare.wrap keeps as one node"},
    ReasonRow {ReasonCode::OutsideOnlyModules, "outside_only_modules",
               "prepare.only_modules quantizes nothing outside {modules}"},
    ReasonRow {ReasonCode::NoBackendPattern, "no_backend_pattern",
               "backend '{backend}' has no pattern {pattern}[ and none for {operator} alone]"},
    ReasonRow {ReasonCode::FusionWithoutEntry, "fusion_without_entry",
               "{pattern} fuses to {fused}, for which backend '{backend}' has no entry with dtype "
               "configs"},
    ReasonRow {ReasonCode::InsideModule, "inside_module",
               "it is a step inside {module}, for which backend '{backend}' has no pattern: as in "
               "torch.ao, what such a module computes itself stays float"},
    ReasonRow {ReasonCode::InsideWholeModule, "inside_whole_module",
               "it is a step inside {module}, which is quantized as a whole or not[; {taker} "
               "decomposed it]"},
    ReasonRow {ReasonCode::DTypeNotAllowed, "dtype_not_allowed",
               "backend {backend} has no pattern for {pattern} with {given}"},
    ReasonRow {ReasonCode::ConstraintViolated, "constraint_violated",
               "backend {backend} has no pattern for {pattern} with {given}"},
    ReasonRow {ReasonCode::QConfigDoesNotFit, "qconfig_does_not_fit",
               "qconfig '{qconfig}' does not fit[ a whole {module}]: {why}"},
    ReasonRow {ReasonCode::OtherQConfigMode, "other_qconfig_mode",
               "backend '{backend}' has no pattern {module}: it is quantized as a whole, by "
               "{qconfigs}"},
    ReasonRow {ReasonCode::CustomModuleRefused, "custom_module_refused", "{why}"},
    ReasonRow {ReasonCode::NotFloat32, "not_float32",
               "{value} is {dtype}, only float32 is quantized"},
    ReasonRow {ReasonCode::ObjectsOfUnknownClass, "objects_of_unknown_class",
               "it takes or gives objects of class {class}, and no loaded extension pack says "
               "which field of these is quantized"},
    ReasonRow {ReasonCode::ObjectsNotOneByOne, "objects_not_one_by_one",
               "it takes or gives objects of class {class} other than one by one, where their "
               "field '{field}' cannot be reached"},
    ReasonRow {ReasonCode::InputNotObserved, "input_not_observed",
               "its qconfig '{qconfig}' reuses the observer of its input, and nothing upstream is "
               "observed"},
    ReasonRow {ReasonCode::NotObservedByBackend, "not_observed_by_backend",
               "the backend observes neither its input nor its output"},
    ReasonRow {ReasonCode::DecidesBranch, "decides_branch",
               "its result only decides which way '{node}' goes"},
    ReasonRow {ReasonCode::ValueNotFinite, "value_not_finite",
               "{value} is not finite on the calibration data ({seen})"},
    ReasonRow {ReasonCode::GivesNoFloatResult, "gives_no_float_result",
               "its qconfig '{qconfig}' asks for a float result, which only linears and "
               "convolutions give"},
    ReasonRow {ReasonCode::MovesFloatResult, "moves_float_result",
               "it only moves the result of '{producer}', which is float"},
    ReasonRow {ReasonCode::Opaque, "opaque", "{why}"},
    ReasonRow {ReasonCode::ComputesNoTensor, "computes_no_tensor", "it computes no tensor"},
    ReasonRow {ReasonCode::ReadsNoTensor, "reads_no_tensor", "it reads no tensor"},
    ReasonRow {ReasonCode::ReadsStoredTensorsOnly, "reads_stored_tensors_only",
               "it reads stored tensors only: the same for every input"},
    ReasonRow {ReasonCode::ModelInput, "model_input",
               "a model input: nothing to compute; its value is quantized where its readers ask "
               "for it"},
    ReasonRow {ReasonCode::StoredTensor, "stored_tensor",
               "a stored tensor: nothing to compute; its value is quantized where its readers ask "
               "for it"},
    ReasonRow {ReasonCode::NotReached, "not_reached", "no rule and no pattern reached this node"},
};

constexpr const ReasonRow& reasonRow(ReasonCode code)
{
    return kReasons[std::size_t(code)];
}

/// Number of arguments of a cause.
constexpr std::size_t argumentCount(ReasonCode code)
{
    const std::string_view sentence = reasonRow(code).sentence;
    return std::size_t(std::count(sentence.begin(), sentence.end(), '{'));
}

static_assert(std::size_t(ReasonCode::NotReached) + 1 == kReasons.size());
static_assert([] {
    for (std::size_t i = 0; i < kReasons.size(); ++i)
        if (std::size_t(kReasons[i].code) != i)
            return false;
    return true;
}());

} // namespace qs

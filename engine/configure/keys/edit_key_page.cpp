// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/address_example.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/configure/keys/cure_key_rows.h"
#include "engine/configure/keys/edit_key_rows.h"
#include "engine/graph/operators/common_targets.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace qs {

namespace {

constexpr std::string_view kEditAddresses = R"(
| An address (`at`) | Means |
| --- | --- |
| `$ADDRESS` | the first convolution directly in that module; `"index": 1` the second, `"output": 1` its second result |
| `{"input": "x"}` | an input of the model |
| `{"stored": "fc.weight"}` | a parameter, buffer or constant |
| `{"added": "clip"}` | a node that an earlier edit added under this name |

Addresses survive another export of the model. An argument may be a literal or `{"value": ADDRESS}`; `"this"` is the value that is edited. A reader is
`{"node": ADDRESS, "argument": "other", "item": 0}`, with `item` for lists, or `{"model_output": 0}`. `quantscope inspect --json` lists modules, operators
and arguments; in the window *Edit* writes such edits.
)";

/// Effect of each kind of edit, by its name.
constexpr std::pair<std::string_view, std::string_view> kEditMeanings[] {
    {"insert", "inserts an operator after a value, for all its readers or the named ones"},
    {"remove", "removes an operator; its readers get its first argument, or `bypass`"},
    {"replace", "puts another operator in its place; arguments of the same name are kept"},
    {"replace_every", "replaces every operator of one target, in the model or below a module"},
    {"set", "changes literal arguments"},
    {"rewire", "connects an argument to another value"},
    {"duplicate", "computes the value a second time, for the named readers"},
    {"rename", "renames an operator"},
    {"constant",
     "new values for a parameter, buffer or constant: nested lists, or a `.npy` beside the recipe"},
    {"add_output", "makes a value the last output"},
    {"drop_output", "removes an output"},
    {"fold",
     "turns values that depend only on stored tensors into constants; `--fold` is this edit"},
    {"extract", "keeps only these operators; the values that they read from others become inputs"},
    {"as_float32", "converts float16 and bfloat16 to float32; `--as-float32` is this edit"},
};

/// Effect of each kind of cure, by its name.
constexpr std::pair<CureKind, std::string_view> kCureMeanings[] {
    {CureKind::Range,
     "another activation observer for a value, for the named readers; without `readers`, for all "
     "of them and for the operator that makes the value"},
    {CureKind::Float, "the operators stay float"},
    {CureKind::FloatResult, "a quantized layer returns its result as float"},
    {CureKind::Bound,
     "sets the constant of a mask (1e9 or more, the least number of its type, an infinity) to this "
     "magnitude, with its sign kept; other numbers stay"},
    {CureKind::Dynamic, "uses a qconfig that chooses its ranges at run time"},
    {CureKind::Split,
     "linears multiply these input channels as floats and the others as integers; the sum is a "
     "float; with a qconfig, their input uses its range"},
    {CureKind::Equalize,
     "divides the output channels of a layer by numbers and multiplies the weights of the layers "
     "that "
     "read them, so that both have the same ranges; the float model stays the same"},
    {CureKind::Smooth,
     "the same with given numbers, also for a layer norm; for an input of the model, or where "
     "others read the channels too, one float multiplication divides them for the layers"},
    {CureKind::Round,
     "quantizes the weights to the integers in the file instead of the nearest ones; the float "
     "model "
     "stays the same"},
    {CureKind::Bias,
     "adds the numbers in the file to the biases of the quantized layers; the float model stays "
     "the "
     "same"},
    {CureKind::Train,
     "takes weights and ranges from a trained model; errors are then measured against the model "
     "before"},
};

/// Returns the meaning from the table; empty without one.
template<class Key, std::size_t N>
std::string meaningIn(const std::pair<Key, std::string_view> (&table)[N],
                      const std::type_identity_t<Key>& name)
{
    const auto* row = std::find_if(std::begin(table), std::end(table),
                                   [&](const auto& meaning) { return meaning.first == name; });
    return row == std::end(table) ? std::string() : std::string(row->second);
}

std::string addressIn(std::string_view module, std::string_view target)
{
    return R"({"module": ")" + std::string(module) + R"(", "op": ")" + std::string(target)
        + R"("})";
}

std::string codeOf(const std::vector<std::string>& keys)
{
    std::string text;
    for (const std::string& key : keys)
        text += (text.empty() ? "`" : " ") + key;
    return text.empty() ? text : text + "`";
}

} // namespace

std::string withExamples(std::string_view page)
{
    constexpr std::string_view kRelu = "aten.relu.default";
    const std::pair<std::string_view, std::string> words[] {
        {"$EDITS", std::string(keyTable("recipe", "").find("edits")->example)},
        {"$CURES", std::string(keyTable("recipe", "").find("cures")->example)},
        {"$ADDRESS", std::string(kAddressExample)},
        {"$HEAD", addressIn("head", kLinearTarget)},
        {"$LAYER", addressIn("block1.conv1.conv", kConv2dTarget)},
        {"$STEM", addressIn("stem.relu", kRelu)},
        {"$BLOCK", addressIn("block1.conv1.relu", kRelu)},
        {"$RELU", std::string(kRelu)},
        {"$COPY", std::string(kCloneTarget)}};
    std::string text(page);
    for (const auto& [word, meant] : words)
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
            text.replace(at, word.size(), meant);
    return text;
}

std::string keyExample(const KeyRow& row)
{
    return withExamples(row.example);
}

std::string editKindsText()
{
    std::string text = "\n## Kinds of edits\n\nEvery kind also takes `form`, one of "
        + codeOf(editFormNames())
        + ".\n\n| `do` | Keys | Optional keys | What it does |\n| --- | --- | --- | --- |\n";
    for (const EditKeys& kind : editKeys())
        text += "| `" + kind.name + "` | " + codeOf(kind.needed) + " | " + codeOf(kind.others)
            + " | " + meaningIn(kEditMeanings, kind.name) + " |\n";
    return text + withExamples(kEditAddresses);
}

std::string cureKindsText()
{
    std::string text = "\n## Kinds of cures\n\nEvery kind also takes " + codeOf(commonCureKeys())
        + ". Addresses and readers are those of edits.\n\n"
          "| `cure` | Keys | Optional keys | What it does |\n| --- | --- | --- | --- |\n";
    for (const EditKeys& kind : cureKeys())
        text += "| `" + kind.name + "` | " + codeOf(kind.needed) + " | " + codeOf(kind.others)
            + " | " + meaningIn(kCureMeanings, *cureKindFromName(kind.name)) + " |\n";
    return text;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A value of a model in words that survive another export of it: no running numbers of the whole
/// graph.
struct ValueAddress
{
    enum class Kind : std::uint8_t
    {
        None, ///< nothing is addressed
        Operator, ///< of the file: module path, operator and which of those in that module
        Input, ///< an input of the model, by the name of its argument
        Stored, ///< a parameter, buffer or constant, by its dotted path
        Added, ///< made by an earlier edit, by the name that it was given
        This ///< the value that the edit is about; among its arguments only
    };
    Kind kind = Kind::None;
    std::string name; ///< of an input, a stored tensor or an added operator
    std::string module; ///< dotted path; "" is the root
    std::string op; ///< full target, "aten.conv2d.default"
    int index = 0; ///< among the operators of that target directly in that module, from 0
    int output = 0; ///< which of the operator's values
    friend bool operator==(const ValueAddress&, const ValueAddress&) = default;
};

/// One reading of a value: an argument of an operator, an item of it where it is a list, or one of
/// the model's outputs.
struct ReaderAddress
{
    ValueAddress node; ///< `output` counts for nothing; kind None: the model's outputs
    std::string argument; ///< by the schema's name: "input", "other"
    int item = -1; ///< within a list; of the model's outputs, which one
    friend bool operator==(const ReaderAddress&, const ReaderAddress&) = default;
};

/// Kinds of edits.
enum class EditKind : std::uint8_t
{
    Insert, ///< an operator after a value, for all its readers or for some
    Remove, ///< an operator; its readers get its input
    Replace, ///< one operator by another; arguments of the same name are kept
    ReplaceEvery, ///< every operator of a target, in the whole model or below a module
    Set, ///< arguments that are literals
    Rewire, ///< an argument to another value
    Duplicate, ///< an operator; the readers that are named read the copy
    Rename, ///< an operator
    Constant, ///< another tensor for a parameter, buffer or constant
    AddOutput, ///< a value becomes the model's last output
    DropOutput, ///< one of the model's outputs
    Fold, ///< values that depend on stored tensors alone become constants
    Extract, ///< only these operators stay: their other operands become inputs
    AsFloat32 ///< float16 and bfloat16, of tensors and in arguments, become float32
};
/// "insert", "replace_every" ...
std::string_view editKindName(EditKind kind);

/// The form of the model that an edit changes.
enum class EditForm : std::uint8_t
{
    Float, ///< the model itself: all forms follow
    Reference, ///< the converted model with every quantize and dequantize explicit
    Lowered ///< the converted model with kernels
};
/// "float", "reference", "lowered".
std::string_view editFormName(EditForm form);

/// One edit of the model's graph, as a recipe holds it (key "edits"). Which members count, by kind,
/// is said in the README of this folder. A value.
struct EditStep
{
    EditKind kind = EditKind::Insert;
    EditForm form = EditForm::Float; ///< addresses are of the nodes of this form
    ValueAddress at; ///< the node or value that is edited
    std::vector<ReaderAddress> readers; ///< Insert, Duplicate; empty = every reader
    std::vector<ValueAddress> nodes; ///< Extract
    std::string op; ///< Insert, Replace, ReplaceEvery: the new target
    std::string name; ///< Insert, Duplicate: of what is added; Rename: the new one
    std::string every; ///< ReplaceEvery: the target that goes
    std::string within; ///< ReplaceEvery, Fold: a module path; "" = the whole model
    std::string argument; ///< Rewire; Remove: the one that takes its place, "" = its first
    int item = -1; ///< Rewire: within a list; DropOutput: which output
    ValueAddress to; ///< Rewire
    std::string json; ///< Insert, Replace, Set: arguments by name; Constant: its numbers
    std::string file; ///< Constant: a .npy file
    std::string sha256; ///< of that file; "" = any content
    friend bool operator==(const EditStep&, const EditStep&) = default;
};

/// "insert aten.clamp.default after layer1.0.conv1 aten.conv2d.default": one line for lists and
/// messages.
std::string editText(const EditStep& step);
/// "layer1.0 aten.conv2d.default 1", "input x", "fc.weight", "clip".
std::string addressText(const ValueAddress& address);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Identifies a value of a model. Stays valid when the model is exported again: it uses no
/// numbering over the whole graph.
struct ValueAddress
{
    enum class Kind : std::uint8_t
    {
        None, ///< no value
        Operator, ///< an operator of the file: module path, target and index within that module
        Input, ///< an input of the model, by the name of its argument
        Stored, ///< a parameter, buffer or constant, by its dotted path
        Added, ///< made by an earlier edit, by the name that it was given
        This ///< the edited value; only in the edit's arguments
    };
    Kind kind = Kind::None;
    std::string name; ///< of an input, a stored tensor or an added operator
    std::string module; ///< dotted path; "" is the root
    std::string op; ///< full target, "aten.conv2d.default"
    int index = 0; ///< 0-based, among operators with that target directly in that module
    int output = 0; ///< index of the operator's output
    friend bool operator==(const ValueAddress&, const ValueAddress&) = default;
};

/// One use of a value: an argument of an operator (or an item of a list argument), or an output of
/// the model.
struct ReaderAddress
{
    ValueAddress node; ///< `output` is ignored; kind None: the model's outputs
    std::string argument; ///< schema name: "input", "other"
    int item = -1; ///< index in a list argument, or of the model's output
    friend bool operator==(const ReaderAddress&, const ReaderAddress&) = default;
};

/// Kinds of edits.
enum class EditKind : std::uint8_t
{
    Insert, ///< inserts an operator after a value, for all or some of its consumers
    Remove, ///< removes an operator; its consumers read its input
    Replace, ///< replaces an operator; arguments with equal names are kept
    ReplaceEvery, ///< replaces every operator with a target, in the model or below a module
    Set, ///< changes literal arguments
    Rewire, ///< connects an argument to another value
    Duplicate, ///< copies an operator; the listed consumers read the copy
    Rename, ///< renames an operator
    Constant, ///< replaces the tensor of a parameter, buffer or constant
    AddOutput, ///< appends a value to the model's outputs
    DropOutput, ///< removes one of the model's outputs
    Fold, ///< turns values that depend only on stored tensors into constants
    Extract, ///< keeps only these operators; their other operands become inputs
    AsFloat32 ///< changes float16 and bfloat16, of tensors and in arguments, to float32
};
/// "insert", "replace_every" ...
std::string_view editKindName(EditKind kind);

/// The form of the model that an edit changes.
enum class EditForm : std::uint8_t
{
    Float, ///< the model itself; affects all forms
    Reference, ///< the converted model with every quantize and dequantize explicit
    Lowered ///< the converted model with kernels
};
/// "float", "reference", "lowered".
std::string_view editFormName(EditForm form);

/// One edit of the model's graph, as stored in a recipe (key "edits"). The help page "Recipe keys"
/// lists the keys of each kind. A value type.
struct EditStep
{
    EditKind kind = EditKind::Insert;
    EditForm form = EditForm::Float; ///< the form whose nodes the addresses denote
    ValueAddress at; ///< the node or value that is edited
    std::vector<ReaderAddress> readers; ///< Insert, Duplicate; empty = all consumers
    std::vector<ValueAddress> nodes; ///< Extract
    std::string op; ///< Insert, Replace, ReplaceEvery: the new target
    std::string name; ///< Insert, Duplicate: name of the new operator; Rename: the new name
    std::string every; ///< ReplaceEvery: the target to replace
    std::string within; ///< ReplaceEvery, Fold: a module path; "" = the whole model
    std::string argument; ///< Rewire; Remove: the argument that replaces it, "" = its first
    int item = -1; ///< Rewire: index in a list argument; DropOutput: index of the output
    ValueAddress to; ///< Rewire
    std::string json; ///< Insert, Replace, Set: arguments by name; Constant: its numbers
    std::string file; ///< Constant: a .npy file
    std::string sha256; ///< expected hash of that file; "" = any content
    friend bool operator==(const EditStep&, const EditStep&) = default;
};

/// "insert aten.clamp.default after layer1.0.conv1 aten.conv2d.default": one line for lists and
/// messages.
std::string editText(const EditStep& step);
/// "layer1.0 aten.conv2d.default 1", "input x", "fc.weight", "clip".
std::string addressText(const ValueAddress& address);

} // namespace qs

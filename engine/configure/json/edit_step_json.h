// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/edit_step.h"

namespace qs {

/// The keys that edits of a kind are written with, beside "do".
struct EditKeys
{
    std::string name; ///< "replace_every"
    std::vector<std::string> needed, others;
};
/// Every kind that a recipe may name.
std::vector<EditKeys> editKeys();

/// The names of the forms that an edit's `form` takes, in the order of EditForm.
std::vector<std::string> editFormNames();

/// Reads a recipe's list of edits. Errors name the place, an unknown key or kind with the nearest
/// one, and what is missing.
Result<std::vector<EditStep>> readEdits(const JsonPlace& place);
/// The list as it is written; parses back to equal steps.
Json editsToJson(const std::vector<EditStep>& steps);

/// `readers` of an insertion whose value has no readers yet: an empty list in the file. Later edits
/// give it readers.
std::vector<ReaderAddress> nobody();
bool isNobody(const std::vector<ReaderAddress>& readers);

/// {"module": "layer1.0", "op": "aten.conv2d.default", "index": 0}, {"input": "x"},
/// {"stored": "fc.weight"}, {"added": "clip"}, and where an operator has several values, "output".
/// "this" is the value that is edited.
Result<ValueAddress> readAddress(const JsonPlace& place);
Json addressToJson(const ValueAddress& address);

/// {"node": ADDRESS, "argument": "input", "item": 0} or {"model_output": 0}.
Result<ReaderAddress> readReader(const JsonPlace& place);
Json readerToJson(const ReaderAddress& reader);

} // namespace qs

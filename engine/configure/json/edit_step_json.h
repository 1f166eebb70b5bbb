// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/edit_step.h"

namespace qs {

/// The keys of one kind of edit, except "do".
struct EditKeys
{
    std::string name; ///< "replace_every"
    std::vector<std::string> needed, others;
};
/// Returns all kinds of edits with their keys.
std::vector<EditKeys> editKeys();

/// Returns the values of an edit's key `form`, in the order of EditForm.
std::vector<std::string> editFormNames();

/// Reads a recipe's list of edits. Errors name the place, an unknown key or kind with the nearest
/// valid one, and missing keys.
Result<std::vector<EditStep>> readEdits(const JsonPlace& place);
/// Returns the list's JSON; parses back to equal steps.
Json editsToJson(const std::vector<EditStep>& steps);

/// Value of `readers` for an insertion without consumers: an empty list in the file. Later edits
/// connect consumers.
std::vector<ReaderAddress> nobody();
bool isNobody(const std::vector<ReaderAddress>& readers);

/// {"module": "layer1.0", "op": "aten.conv2d.default", "index": 0}, {"input": "x"}, {"stored":
/// "fc.weight"}, {"added": "clip"}, plus "output" if an operator has several outputs. "this" is the
/// edited value.
Result<ValueAddress> readAddress(const JsonPlace& place);
Json addressToJson(const ValueAddress& address);

/// {"node": ADDRESS, "argument": "input", "item": 0} or {"model_output": 0}.
Result<ReaderAddress> readReader(const JsonPlace& place);
Json readerToJson(const ReaderAddress& reader);

} // namespace qs

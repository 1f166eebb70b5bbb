// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/qconfig.h"

namespace qs {

/// One observer of a recipe: `{"observer": "histogram", "dtype": "quint8", ...}`, or a
/// fake-quantize that contains an observer: `{"observer": "fake_quantize", "inner": {...}}`. A null
/// value means "not given". Errors: keys that do not apply to the observer, unknown names, a scheme
/// incompatible with the observer, an invalid range.
Result<ObserverSpec> readObserver(const JsonPlace& place);
/// The keys that an observer of this kind may have, "observer" first.
std::vector<std::string> observerKeys(ObserverKind kind);
/// `{"activation": ..., "weight": ..., "result": "float"}`; "result" may be left out.
Result<QConfig> readQConfig(const JsonPlace& place);
/// The only value besides null of the keys "result" and "needless_outputs".
inline constexpr const char* kFloatWord = "float";
/// True for "float", false for null; anything else is an error.
Result<bool> readFloatWord(const JsonPlace& place);
/// Writes observer, dtype and scheme always, other keys if they differ from the default.
Json observerToJson(const ObserverSpec& spec);
Json qconfigToJson(const QConfig& qconfig);

/// Reads a dtype such as "quint8"; the error names the nearest known dtype.
Result<DType> readDType(const JsonPlace& place);

} // namespace qs

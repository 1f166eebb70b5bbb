// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/qconfig.h"

namespace qs {

/// One observer of a recipe: `{"observer": "histogram", "dtype": "quint8", ...}`, or a
/// fake-quantize with the observer in it: `{"observer": "fake_quantize", "inner": {...}}`. A null
/// value means "not given". Keys that the observer does not have, unknown names, a scheme that does
/// not fit the observer and an impossible range are errors.
Result<ObserverSpec> readObserver(const JsonPlace& place);
/// The keys that an observer of this kind may have, "observer" first.
std::vector<std::string> observerKeys(ObserverKind kind);
/// `{"activation": ..., "weight": ..., "result": "float"}`; "result" may be left out.
Result<QConfig> readQConfig(const JsonPlace& place);
/// The value of the keys "result" and "needless_outputs" besides null.
inline constexpr const char* kFloatWord = "float";
/// True for "float", false for null; anything else is an error.
Result<bool> readFloatWord(const JsonPlace& place);
/// Observer, dtype and scheme always; the rest where it differs from the default.
Json observerToJson(const ObserverSpec& spec);
Json qconfigToJson(const QConfig& qconfig);

/// "quint8" of a place; an error names the nearest known dtype.
Result<DType> readDType(const JsonPlace& place);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/result_writer.h"

#include <string>

namespace qs {

/// A result for people: the error terms layer by layer with the five worst marked, the outputs, the
/// labels, the coverage.
std::string resultText(const ResultParts& parts);

} // namespace qs

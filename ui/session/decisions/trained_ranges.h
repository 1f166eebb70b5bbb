// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/plan/plan.h"
#endif

#include <QString>

namespace qs {

class Document;
class Facts;

/// Whether the observer's range is that of a fake quantizer in the model's file: trained, not
/// calibrated, and not overridden by a rule.
bool hasTrainedRange(const Facts& facts, const PlannedObserver* observer);

/// "9 of 10": how many of the file's trained ranges the plan uses; empty if the file has none.
QString trainedRangesText(const Document& document);

} // namespace qs

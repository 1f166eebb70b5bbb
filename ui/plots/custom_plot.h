// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// QCustomPlot uses Qt's keywords, which this program disables because they conflict with torch.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

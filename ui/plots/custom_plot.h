// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// QCustomPlot writes Qt's keywords, which are off in this program because torch uses the words.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

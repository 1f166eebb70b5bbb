// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

namespace qs {

/// "output has its own observer", "output shares the input's observer", "not observed".
std::string observationWords(ObservationType type);
/// "quint8", "qint8 -127..127, scale >= 0.000244140625", "any" if nothing is specified.
std::string dtypeWords(const DTypeWithConstraints& value);
/// "static: quint8 -> quint8, weight qint8"
std::string dtypesWords(const DTypeConfig& config);
/// How the pattern is used: "fuses to torch.ao.nn.intrinsic.ConvReLU2d", or how it is observed.
std::string useWords(const BackendPattern& entry);

} // namespace qs

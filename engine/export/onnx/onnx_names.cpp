// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_names.h"

namespace qs {

std::string OnnxNames::output(const std::string& wanted)
{
    return *m_outputs.insert(unique(wanted)).first;
}

std::string OnnxNames::unique(const std::string& wanted)
{
    if (m_outputs.contains(wanted))
        return unique(wanted + "_raw");
    if (m_taken.insert(wanted).second)
        return wanted;
    for (int& number = m_last[wanted];;) {
        std::string name = wanted + "_" + std::to_string(++number);
        if (m_taken.insert(name).second)
            return name;
    }
}

} // namespace qs

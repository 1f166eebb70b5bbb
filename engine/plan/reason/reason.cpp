// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/reason/reason.h"

namespace qs {

std::string Reason::text() const
{
    std::string text;
    std::size_t clause = 0; // start of the bracketed part
    bool isTold = true; // false inside brackets as long as their arguments are empty
    auto argument = m_arguments.begin();
    const std::string_view sentence = reasonRow(m_code).sentence;
    for (std::size_t at = 0; at < sentence.size(); ++at)
        switch (sentence[at]) {
        case '{':
            isTold = isTold || !argument->empty();
            text += *argument++;
            at = sentence.find('}', at);
            break;
        case '[':
            clause = text.size();
            isTold = false;
            break;
        case ']':
            if (!isTold)
                text.resize(clause);
            isTold = true;
            break;
        default:
            text += sentence[at];
        }
    return text;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/reason/reason_table.h"

#include <string>
#include <utility>
#include <vector>

namespace qs {

/// Why a node is not quantized: a cause and the arguments of its sentence. Views and files filter
/// and group by the code; `text` is for people. A value; empty without anything to explain.
class Reason
{
public:
    Reason() = default;
    /// `arguments`: those of the code's sentence, in order. A wrong number does not compile.
    template<ReasonCode code, typename... Arguments>
    requires(code != ReasonCode::None && sizeof...(Arguments) == argumentCount(code)) static Reason
        of(Arguments&&... arguments)
    {
        Reason reason;
        reason.m_code = code;
        reason.m_arguments = {std::string(std::forward<Arguments>(arguments))...};
        return reason;
    }

    ReasonCode code() const { return m_code; }
    /// The cause's name in documents, "no_backend_pattern"; "" if empty.
    std::string_view name() const { return reasonRow(m_code).name; }
    bool empty() const { return m_code == ReasonCode::None; }
    /// One sentence without a full stop; "" if empty.
    std::string text() const;

    friend auto operator<=>(const Reason&, const Reason&) = default;

private:
    ReasonCode m_code = ReasonCode::None;
    std::vector<std::string> m_arguments;
};

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"

#include <tl/expected.hpp>

namespace qs {

/// The return type of a function that can fail: its value or an Error.
template<class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error error)
{
    return tl::unexpected<Error>(std::move(error));
}
inline tl::unexpected<Error> fail(ErrorCode code, std::string message)
{
    return fail(makeError(code, std::move(message)));
}

#define QS_CONCAT_(a, b) a##b
#define QS_CONCAT(a, b) QS_CONCAT_(a, b)

/// Returns the error of `expr` from the enclosing function (a Result<void> or any Result whose
/// value is not needed).
#define QS_CHECK(expr)                                                                             \
    do {                                                                                           \
        auto qsCheck = (expr);                                                                     \
        if (!qsCheck)                                                                              \
            return ::qs::fail(std::move(qsCheck).error());                                         \
    } while (false)

/// Declares `decl` from the value of `expr`, or returns its error from the enclosing function.
#define QS_TRY(decl, expr)                                                                         \
    auto QS_CONCAT(qsTry, __LINE__) = (expr);                                                      \
    if (!QS_CONCAT(qsTry, __LINE__))                                                               \
        return ::qs::fail(std::move(QS_CONCAT(qsTry, __LINE__)).error());                          \
    decl = std::move(*QS_CONCAT(qsTry, __LINE__))

} // namespace qs

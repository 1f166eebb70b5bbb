// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Classes of expected failure. The command line maps Usage to exit code 2, all others to 1.
enum class ErrorCode
{
    BadInput, ///< a model, recipe or data file with invalid content
    Unsupported, ///< well formed, but not supported by this program
    NotFound,
    Io,
    Numeric, ///< NaN or Inf where finite values are needed
    Device, ///< no such device, out of memory, a CUDA fault
    Cancelled, ///< the user stopped the job; not reported as a failure
    Usage, ///< invalid command-line arguments
    Internal ///< a bug in this program
};

/// One failure, as reported to a user: the file, the node, the cause and the remedy. A value type;
/// any thread.
struct Error
{
    ErrorCode code = ErrorCode::Internal;
    std::string message; ///< the cause, one sentence without a full stop
    std::string file; ///< path of the file concerned, or empty
    std::string node; ///< name of the graph node concerned, or empty
    std::string hint; ///< what the user can do, or empty

    Error&& inFile(std::string path) &&
    {
        if (file.empty())
            file = std::move(path);
        return std::move(*this);
    }
    Error&& atNode(std::string name) &&
    {
        if (node.empty())
            node = std::move(name);
        return std::move(*this);
    }
    Error&& withHint(std::string text) &&
    {
        if (hint.empty())
            hint = std::move(text);
        return std::move(*this);
    }
    /// Returns the single line shown to the user: "file: node 'n': message; hint". Never contains a
    /// newline.
    std::string line() const;
};

inline Error makeError(ErrorCode code, std::string message)
{
    return Error {code, std::move(message), {}, {}, {}};
}

} // namespace qs

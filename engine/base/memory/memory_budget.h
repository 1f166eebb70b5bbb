// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// Returns the total bytes of main memory that this process may use, including its current use: the
/// minimum of the machine's free memory, the limits of its control groups and shell, and the user's
/// limit (`setMemoryLimit`). The maximum integer without a limit.
std::int64_t mainMemoryLeft();

/// Returns the bytes of main memory in use by this process.
std::int64_t residentBytes();
/// Returns its peak; 0 if not known. Unlike `getrusage`'s, it excludes the parent process's.
std::int64_t peakResidentBytes();

/// The user's memory limit, process-wide; 0 = unlimited. Set it before a run. Thread safe.
void setMemoryLimit(std::int64_t bytes);
std::int64_t memoryLimit();

/// Parses a number of bytes: "4G", "512M", "1.5 GiB", "800000K", "123456". Units are powers of
/// 1024. nullopt if the text is invalid.
std::optional<std::int64_t> parseBytes(std::string_view text);

/// Formats an amount of memory for messages: "1.5 GB", "300 MB", in powers of 1024 as in
/// `parseBytes`.
std::string memoryText(std::int64_t bytes);

/// The largest batch size, `samples` divided by a whole number, that `fits`; 0 if none does.
std::int64_t largestBatch(std::int64_t samples, const std::function<bool(std::int64_t)>& fits);
/// The note on batches smaller than wanted because of the user's limit. `needing`: who needs how
/// much: "a run needs about 560 MB ...".
std::string smallerBatchesNote(std::int64_t taken, std::int64_t wanted, const std::string& needing);

/// Start of every out-of-memory message.
inline constexpr std::string_view kOutOfMemory = "out of memory";
/// Returns the message for a failed allocation of `asked` bytes with `left` bytes available.
std::string outOfMemory(std::int64_t asked, std::int64_t left);
/// Returns the hint for out-of-memory errors.
std::string memoryHint();

} // namespace qs

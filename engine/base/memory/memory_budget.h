// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// Bytes of main memory that this process may have in all, including what it has: the least of the
/// machine's free memory, the limits of its control groups and shell, and the user's limit
/// (`setMemoryLimit`). The greatest number if nothing limits it.
std::int64_t mainMemoryLeft();

/// Bytes of main memory that this process has.
std::int64_t residentBytes();

/// The user's limit for this process; 0 = unlimited. One for the process: set it before a run.
/// Thread safe.
void setMemoryLimit(std::int64_t bytes);
std::int64_t memoryLimit();

/// The bytes that a user names: "4G", "512M", "1.5 GiB", "800000K", "123456". Units count in powers
/// of 1024. Nothing if the text is not a number of bytes.
std::optional<std::int64_t> parseBytes(std::string_view text);

/// "1.5 GB", "300 MB": amounts of memory in messages, in powers of 1024 as `parseBytes` reads
/// them.
std::string memoryText(std::int64_t bytes);

/// Begin of every message about memory that ran out.
inline constexpr std::string_view kOutOfMemory = "out of memory";
/// The message where so many bytes were asked for at once and so many are left.
std::string outOfMemory(std::int64_t asked, std::int64_t left);
/// What to do about it.
std::string memoryHint();

} // namespace qs

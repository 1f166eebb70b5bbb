// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// Bytes of main memory that this process may have in all, with what it has: what the machine has
/// free, the limits of its control groups and of the shell it was started from, and the user's own
/// (`setMemoryLimit`). The greatest number where nothing tells.
std::int64_t mainMemoryLeft();

/// Bytes of main memory that this process has.
std::int64_t residentBytes();

/// The most that the user gives this process; 0 = no limit of the user's. One for the process: set
/// it before a run. Thread safe.
void setMemoryLimit(std::int64_t bytes);
std::int64_t memoryLimit();

/// The bytes that a user names: "4G", "512M", "1.5 GiB", "800000K", "123456". Units count in powers
/// of 1024. Nothing where the text names no number of bytes.
std::optional<std::int64_t> parseBytes(std::string_view text);

/// "1.5 GB", "300 MB": as messages tell amounts of memory, in powers of 1024 as `parseBytes` reads
/// them.
std::string memoryText(std::int64_t bytes);

/// How every message begins that tells of memory that ran out.
inline constexpr std::string_view kOutOfMemory = "out of memory";
/// The message where so many bytes were asked for at once and so many are left.
std::string outOfMemory(std::int64_t asked, std::int64_t left);
/// What to do about it.
std::string memoryHint();

} // namespace qs

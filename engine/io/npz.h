// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/graph/dtype.h"
#include "engine/io/npy_header.h"
#include "engine/io/zip_reader.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// One array of an .npz: its name without ".npy", element type, shape and bytes in C order,
/// little-endian.
struct NpyArray
{
    std::string name;
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
    std::int64_t elements() const;
};

/// Location of an array of an .npz in its archive.
struct NpzPlace
{
    std::string name; ///< without ".npy"
    NpyHeader header;
    std::size_t entry = 0; ///< index of the archive's entry
    std::uint64_t start = 0; ///< bytes from the entry's start to the first element
};

/// An .npz with only its headers read.
struct NpzDirectory
{
    std::shared_ptr<const ZipReader> archive;
    std::vector<NpzPlace> arrays; ///< in the file's order
};

/// Reads an .npz's headers. Fails, naming file and array, if it is not a zip file, is truncated, or
/// has an object array (a pickle, never read) or a non-numeric type.
Result<NpzDirectory> openNpz(const std::string& path);

/// Reads the bytes of a .npy file. Errors name no file; they are those of an array of an .npz.
Result<NpyArray> parseNpy(std::string_view content);
/// Reads a .npy file completely. Errors name the file; they are those of an array of an .npz.
Result<NpyArray> readNpy(const std::string& path);

/// All arrays of an .npz, read completely. Errors: those of `openNpz`, damaged data.
struct NpzContent
{
    std::vector<NpyArray> arrays;
};
Result<NpzContent> readNpz(const std::string& path);

/// Returns the bytes of an .npz with these arrays; equal arrays give equal bytes. Fails with
/// Cancelled, checked between arrays.
Result<std::string> npzBytes(const std::vector<NpyArray>& arrays, const JobContext& job = {});
/// Writes the arrays atomically. The error (Io) names the path.
Result<void> writeNpz(const std::vector<NpyArray>& arrays, const std::string& path,
                      const JobContext& job = {});

/// Create a one-dimensional array from a vector.
NpyArray npyFrom(std::string name, const std::vector<float>& values);
NpyArray npyFrom(std::string name, const std::vector<std::int64_t>& values);
/// Create zero-dimensional arrays.
NpyArray npyScalar(std::string name, float value);
NpyArray npyScalar(std::string name, std::int64_t value);

} // namespace qs

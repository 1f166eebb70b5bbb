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

/// The place of an array of an .npz in its archive.
struct NpzPlace
{
    std::string name; ///< without ".npy"
    NpyHeader header;
    std::size_t entry = 0; ///< of the archive
    std::uint64_t start = 0; ///< bytes from the entry's start to the first element
};

/// An .npz of which the headers alone have been read.
struct NpzDirectory
{
    std::shared_ptr<const ZipReader> archive;
    std::vector<NpzPlace> arrays; ///< in the file's order
};

/// Errors name file and array: not a zip file, truncated, an object array (a pickle, never read), a
/// type that is not a number.
Result<NpzDirectory> openNpz(const std::string& path);

/// The array of a .npy file, whole. Errors name the file: those of an array of an .npz.
Result<NpyArray> readNpy(const std::string& path);

/// Every array, whole. Errors: those of `openNpz`, damaged data.
struct NpzContent
{
    std::vector<NpyArray> arrays;
};
Result<NpzContent> readNpz(const std::string& path);

/// The bytes of an .npz with these arrays; the same arrays give the same bytes. Errors: a cancel,
/// between two arrays.
Result<std::string> npzBytes(const std::vector<NpyArray>& arrays, const JobContext& job = {});
/// Writes them by atomic rename. The error (Io) names the path.
Result<void> writeNpz(const std::vector<NpyArray>& arrays, const std::string& path,
                      const JobContext& job = {});

/// An array of float32, int64 or text-free numbers from a vector.
NpyArray npyFrom(std::string name, const std::vector<float>& values);
NpyArray npyFrom(std::string name, const std::vector<std::int64_t>& values);
/// Zero-dimensional arrays.
NpyArray npyScalar(std::string name, float value);
NpyArray npyScalar(std::string name, std::int64_t value);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/shards/tar_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The members of a sample that feed the inputs: one image, or one array for each input.
struct SampleParts
{
    bool isImage = false;
    /// By input: the extension, "npy" or "NAME.npy"; one empty text for an image.
    std::vector<std::string> extensions;
};

/// Chooses the parts by the extensions of the first sample: `.NAME.npy` for every input, else an
/// image, else `.npy` for the only input. Nullopt if the sample has none of these.
std::optional<SampleParts> partsOf(const std::vector<std::string>& extensions,
                                   const std::vector<std::string>& inputs);

/// The samples of tar archives (WebDataset shards): where their members are. A sample is the
/// neighbouring members with one key, the name up to the first dot of its base name; other members
/// and hidden ones are left out. Samples are in the order of the archives, then of the members.
/// Memory: about 50 bytes and a name for each sample and part. Immutable; any thread.
class SampleIndex
{
public:
    /// Reads the headers of the archives and the labels up to `most` samples (0 = all). Errors
    /// (BadInput, naming file and member or sample): those of `TarReader`; samples whose members
    /// differ; a missing label where other samples have one; no sample.
    static Result<SampleIndex> read(std::vector<std::string> files,
                                    const std::vector<std::string>& inputs, std::int64_t most);

    std::int64_t count() const { return std::int64_t(m_labels.size()); }
    /// True if the archives hold more samples than were asked for.
    bool hasMore() const { return m_hasMore; }
    const SampleParts& parts() const { return m_parts; }
    bool hasLabels() const { return m_hasLabels; }
    /// Returns the label; -1 without labels.
    std::int64_t label(std::int64_t sample) const { return m_labels[std::size_t(sample)]; }

    /// Returns the bytes of one part of a sample, and nothing else of the archive. Opens and closes
    /// the archive.
    Result<std::string> content(std::int64_t sample, std::size_t part) const;
    const std::string& file(std::int64_t sample) const;
    std::string member(std::int64_t sample, std::size_t part) const;

private:
    friend class SampleScan;
    struct Place
    {
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        std::uint64_t name = 0; ///< its start in `m_names`
        std::uint32_t nameSize = 0;
        std::uint32_t file = 0;
    };
    const Place& place(std::int64_t sample, std::size_t part) const;

    std::vector<std::string> m_files;
    SampleParts m_parts;
    std::vector<Place> m_places; ///< by sample, then by part
    std::string m_names;
    std::vector<std::int64_t> m_labels;
    bool m_hasLabels = false;
    bool m_hasMore = false;
};

} // namespace qs

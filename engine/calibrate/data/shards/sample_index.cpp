// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/shards/sample_index.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/shards/sample_label.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace qs {

namespace {

/// Images, whether or not they can be decoded: others are refused with their name.
constexpr std::array<const char*, 7> kImages {"png", "jpg", "jpeg", "bmp", "ppm", "pgm", "webp"};

bool isImageExtension(const std::string& extension)
{
    return std::find(kImages.begin(), kImages.end(), extension) != kImages.end();
}

/// A member of a sample with its extension in small letters ("x.npy" of "a/0001.x.npy").
struct KeyedMember
{
    TarMember member;
    std::string extension;
};

struct KeyedName
{
    std::string key, extension;
};

/// Splits at the first dot of the base name. Empty for hidden files and names without a dot.
std::optional<KeyedName> keyedName(const std::string& name)
{
    const auto slash = name.rfind('/');
    const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
    const auto dot = name.find('.', base);
    if (dot == std::string::npos || dot == base || dot + 1 == name.size())
        return std::nullopt;
    std::string extension = name.substr(dot + 1);
    const auto last = extension.rfind('.');
    std::transform(extension.begin() + std::ptrdiff_t(last == std::string::npos ? 0 : last),
                   extension.end(),
                   extension.begin() + std::ptrdiff_t(last == std::string::npos ? 0 : last),
                   [](unsigned char c) { return char(std::tolower(c)); });
    return KeyedName {name.substr(0, dot), std::move(extension)};
}

} // namespace

std::optional<SampleParts> partsOf(const std::vector<std::string>& extensions,
                                   const std::vector<std::string>& inputs)
{
    const auto has = [&](const std::string& extension) {
        return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
    };
    std::vector<std::string> named;
    for (const std::string& input : inputs)
        named.push_back(input + ".npy");
    if (!named.empty() && std::all_of(named.begin(), named.end(), has))
        return SampleParts {false, named};
    if (std::any_of(extensions.begin(), extensions.end(), isImageExtension))
        return SampleParts {true, {""}};
    if (has("npy"))
        return SampleParts {false, {"npy"}};
    return std::nullopt;
}

/// Collects neighbouring members into samples.
class SampleScan
{
public:
    SampleScan(SampleIndex& index, const std::vector<std::string>& inputs, std::int64_t most)
        : m_index(index)
        , m_inputs(inputs)
        , m_most(most)
    {
    }

    /// Stops when `m_most` samples are complete and one more is seen.
    Result<void> readFile(std::uint32_t file)
    {
        const std::string& path = m_index.m_files[file];
        QS_TRY(TarReader reader, TarReader::open(path));
        m_file = file;
        while (!m_index.m_hasMore) {
            QS_TRY(std::optional<TarMember> member, reader.next());
            if (!member)
                break;
            QS_CHECK(add(reader, std::move(*member)));
        }
        QS_CHECK(finish(reader));
        if (!m_index.m_hasMore && !reader.hasEndMark())
            note(path + " lacks the mark at the end of a tar archive: it may be truncated");
        return {};
    }

    /// Fails if no archive held a sample.
    Result<void> checkFound() const
    {
        if (!m_index.m_labels.empty())
            return {};
        return fail(makeError(ErrorCode::BadInput,
                              m_someExtension.empty()
                                  ? "holds no sample"
                                  : "holds no member that feeds the model (a first one ends with '."
                                      + m_someExtension + "')")
                        .inFile(m_index.m_files.front())
                        .withHint(m_inputs.size() == 1
                                      ? "a sample has an image (KEY.jpg, KEY.png) or KEY.npy"
                                      : "a sample has KEY.NAME.npy for every input: "
                                          + quotedNames(m_inputs)));
    }

private:
    Result<void> add(const TarReader& reader, TarMember member)
    {
        auto named = keyedName(member.name);
        if (!named)
            return {};
        if (named->key != m_key) {
            QS_CHECK(finish(reader));
            m_key = named->key;
        }
        m_members.push_back({std::move(member), std::move(named->extension)});
        return {};
    }

    const KeyedMember* find(const std::string& extension) const
    {
        const auto found
            = std::find_if(m_members.begin(), m_members.end(),
                           [&](const KeyedMember& one) { return one.extension == extension; });
        return found == m_members.end() ? nullptr : &*found;
    }

    Error sampleError(const std::string& what, const std::string& hint) const
    {
        return makeError(ErrorCode::BadInput, "sample " + inQuotes(m_key) + " " + what)
            .inFile(m_index.m_files[m_file])
            .withHint(hint);
    }

    /// Adds the members seen so far as a sample, if they are one.
    Result<void> finish(const TarReader& reader)
    {
        if (m_members.empty())
            return {};
        const bool isFull = m_most > 0 && m_index.count() >= m_most;
        if (isFull) {
            m_index.m_hasMore = true;
        } else {
            QS_CHECK(addSample(reader));
        }
        m_members.clear();
        m_key.clear();
        return {};
    }

    Result<void> addSample(const TarReader& reader)
    {
        std::vector<std::string> extensions;
        for (const KeyedMember& one : m_members)
            extensions.push_back(one.extension);
        if (m_someExtension.empty())
            m_someExtension = extensions.front();
        const auto own = partsOf(extensions, m_inputs);
        const bool isLabelled = find("cls") != nullptr;
        if (!own && !isLabelled)
            return {}; // a readme, say
        if (m_index.m_labels.empty() && own)
            m_index.m_parts = *own;
        if (!own || own->isImage != m_index.m_parts.isImage
            || own->extensions != m_index.m_parts.extensions)
            return fail(sampleError("has no " + wanted() + ", as the samples before it",
                                    "all samples need the same members, next to each other"));
        for (const std::string& extension : m_index.m_parts.extensions) {
            QS_TRY(const KeyedMember* part, partOf(extension));
            addPlace(part->member);
        }
        return addLabel(reader);
    }

    std::string wanted() const
    {
        if (m_index.m_labels.empty())
            return "member that feeds the model";
        if (m_index.m_parts.isImage)
            return "image";
        std::vector<std::string> missing;
        for (const std::string& extension : m_index.m_parts.extensions)
            if (!find(extension))
                missing.push_back("." + extension);
        return missing.empty() ? "array alone" : "member " + quotedNames(missing);
    }

    Result<const KeyedMember*> partOf(const std::string& extension) const
    {
        const KeyedMember* found = nullptr;
        for (const KeyedMember& one : m_members) {
            if (extension.empty() ? !isImageExtension(one.extension) : one.extension != extension)
                continue;
            if (found)
                return fail(sampleError("has two members for one input, "
                                            + inQuotes(found->member.name) + " and "
                                            + inQuotes(one.member.name),
                                        "leave one of them"));
            found = &one;
        }
        return found;
    }

    void addPlace(const TarMember& member)
    {
        m_index.m_places.push_back({member.offset, member.size, m_index.m_names.size(),
                                    std::uint32_t(member.name.size()), m_file});
        m_index.m_names += member.name;
    }

    Result<void> addLabel(const TarReader& reader)
    {
        QS_TRY(const std::optional<std::int64_t> label, labelOf(reader));
        if (m_index.m_labels.empty())
            m_index.m_hasLabels = label.has_value();
        if (label.has_value() != m_index.m_hasLabels)
            return fail(
                sampleError(label ? "has a label, the samples before it have none"
                                  : "has no label (.cls, or .json with \"label\"), the samples "
                                    "before it have one",
                            "give all samples a label, or none"));
        m_index.m_labels.push_back(label.value_or(-1));
        return {};
    }

    Result<std::optional<std::int64_t>> labelOf(const TarReader& reader) const
    {
        const KeyedMember* text = find("cls");
        const KeyedMember* held = text ? text : find("json");
        if (!held)
            return std::optional<std::int64_t>();
        const std::string& path = m_index.m_files[m_file];
        if (held->member.size > kMostLabelBytes)
            return fail(memberError(path, held->member.name,
                                    makeError(ErrorCode::BadInput, "is too large for a label")));
        QS_TRY(const std::string content, reader.content(held->member));
        Result<std::optional<std::int64_t>> label;
        if (text)
            label = labelOfText(content);
        else
            label = labelOfJson(content);
        if (!label)
            return fail(memberError(path, held->member.name, std::move(label).error()));
        return label;
    }

    SampleIndex& m_index;
    const std::vector<std::string>& m_inputs;
    std::int64_t m_most;
    std::uint32_t m_file = 0;
    std::string m_key, m_someExtension;
    std::vector<KeyedMember> m_members; ///< of the sample being read
};

Result<SampleIndex> SampleIndex::read(std::vector<std::string> files,
                                      const std::vector<std::string>& inputs, std::int64_t most)
{
    SampleIndex index;
    index.m_files = std::move(files);
    SampleScan scan(index, inputs, most);
    for (std::uint32_t file = 0; file < index.m_files.size() && !index.m_hasMore; ++file)
        QS_CHECK(scan.readFile(file));
    QS_CHECK(scan.checkFound());
    return index;
}

const SampleIndex::Place& SampleIndex::place(std::int64_t sample, std::size_t part) const
{
    return m_places[std::size_t(sample) * m_parts.extensions.size() + part];
}

Result<std::string> SampleIndex::content(std::int64_t sample, std::size_t part) const
{
    const Place& at = place(sample, part);
    QS_TRY(const PlacedFile opened, PlacedFile::open(m_files[at.file]));
    return opened.read(at.offset, at.size);
}

const std::string& SampleIndex::file(std::int64_t sample) const
{
    return m_files[place(sample, 0).file];
}

std::string SampleIndex::member(std::int64_t sample, std::size_t part) const
{
    const Place& at = place(sample, part);
    return m_names.substr(std::size_t(at.name), at.nameSize);
}

} // namespace qs

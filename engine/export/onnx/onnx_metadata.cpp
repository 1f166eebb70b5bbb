// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_metadata.h"

#include "engine/base/files/read_file.h"

#include <fstream>
#include <protozero/pbf_reader.hpp>

namespace qs {

namespace {

/// `ModelProto.metadata_props`, and the fields of one of its entries.
constexpr std::uint64_t kMetadataProps = 14;
constexpr protozero::pbf_tag_type kKey = 1, kValue = 2;
/// A longer entry cannot be one of ours.
constexpr std::uint64_t kMostBytes = 1 << 16;

using Pairs = std::map<std::string, std::string>;

/// The fields of ExportRecord, as ONNX files name them.
struct Field
{
    const char* key;
    std::string ExportRecord::*member;
};
constexpr Field kFields[] {{"quantscope.version", &ExportRecord::program},
                           {"quantscope.torch_version", &ExportRecord::torch},
                           {"quantscope.engine", &ExportRecord::engine},
                           {"quantscope.recipe_sha256", &ExportRecord::recipeSha256},
                           {"quantscope.model_sha256", &ExportRecord::modelSha256}};

/// Iterates over the fields of the outermost message without reading their content.
class Message
{
public:
    explicit Message(const std::string& path)
        : m_path(path)
        , m_in(path, std::ios::binary)
    {
    }

    Result<Pairs> pairs()
    {
        Pairs pairs;
        while (m_in.peek() != std::ifstream::traits_type::eof()) {
            QS_TRY(const std::uint64_t key, varint());
            switch (key & 7) {
            case 0:
                QS_CHECK(varint());
                break;
            case 1:
                m_in.ignore(8);
                break;
            case 2:
                QS_CHECK(readField(key >> 3, pairs));
                break;
            case 5:
                m_in.ignore(4);
                break;
            default:
                return fail(foreign());
            }
        }
        return pairs;
    }

private:
    Error foreign() const
    {
        return makeError(ErrorCode::BadInput, "is damaged, or not an ONNX file").inFile(m_path);
    }

    Result<std::uint64_t> varint()
    {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const int byte = m_in.get();
            if (byte == std::ifstream::traits_type::eof())
                return fail(foreign());
            value |= std::uint64_t(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0)
                return value;
        }
        return fail(foreign());
    }

    Result<void> readField(std::uint64_t field, Pairs& pairs)
    {
        QS_TRY(const std::uint64_t size, varint());
        if (field != kMetadataProps || size > kMostBytes) {
            m_in.seekg(std::streamoff(size), std::ios::cur);
            return m_in ? Result<void>() : fail(foreign());
        }
        std::string bytes(size, '\0');
        if (!m_in.read(bytes.data(), std::streamsize(size)))
            return fail(foreign());
        try {
            protozero::pbf_reader entry(bytes);
            std::string key, value;
            while (entry.next())
                if (entry.tag() == kKey)
                    key = entry.get_string();
                else if (entry.tag() == kValue)
                    value = entry.get_string();
                else
                    entry.skip();
            pairs[key] = value;
        } catch (const protozero::exception&) {
            return fail(foreign());
        }
        return {};
    }

    const std::string& m_path;
    std::ifstream m_in;
};

} // namespace

Result<Pairs> onnxMetadata(const std::string& path)
{
    QS_CHECK(checkReadable(path));
    return Message(path).pairs();
}

Pairs onnxPairs(const ExportRecord& record)
{
    Pairs pairs;
    for (const Field& field : kFields)
        if (!(record.*field.member).empty())
            pairs[field.key] = record.*field.member;
    return pairs;
}

std::optional<ExportRecord> recordFromPairs(const Pairs& pairs)
{
    std::optional<ExportRecord> record;
    for (const Field& field : kFields)
        if (const auto it = pairs.find(field.key); it != pairs.end()) {
            record = record.value_or(ExportRecord());
            (*record).*field.member = it->second;
        }
    return record;
}

} // namespace qs

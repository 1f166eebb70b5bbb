// SPDX-License-Identifier: Apache-2.0
#include "tests/support/zip_edit.h"

#include <stdexcept>
#include <zip.h>

namespace qs::test {

namespace {

/// An open archive, closed (and so written) at the end of the scope.
class OpenZip
{
public:
    OpenZip(const std::string& path, int flags)
    {
        int problem = 0;
        m_zip = zip_open(path.c_str(), flags, &problem);
        if (!m_zip)
            throw std::runtime_error("cannot open " + path);
    }
    ~OpenZip() { zip_close(m_zip); }
    zip_t* get() const { return m_zip; }
    zip_int64_t find(const std::string& suffix) const
    {
        for (zip_int64_t i = 0; i < zip_get_num_entries(m_zip, 0); ++i)
            if (const char* name = zip_get_name(m_zip, zip_uint64_t(i), 0);
                name && std::string(name).ends_with(suffix))
                return i;
        return -1;
    }

private:
    zip_t* m_zip = nullptr;
};

} // namespace

std::string readRecord(const std::string& archive, const std::string& suffix)
{
    const OpenZip zip(archive, ZIP_RDONLY);
    const zip_int64_t index = zip.find(suffix);
    if (index < 0)
        throw std::runtime_error("no record " + suffix);
    zip_stat_t stat;
    zip_stat_index(zip.get(), zip_uint64_t(index), 0, &stat);
    std::string bytes(stat.size, '\0');
    zip_file_t* file = zip_fopen_index(zip.get(), zip_uint64_t(index), 0);
    zip_fread(file, bytes.data(), bytes.size());
    zip_fclose(file);
    return bytes;
}

void writeRecord(const std::string& archive, const std::string& suffix, const std::string& bytes)
{
    const OpenZip zip(archive, ZIP_CREATE);
    zip_source_t* source = zip_source_buffer(zip.get(), bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip.find(suffix);
    if (index < 0)
        zip_file_add(zip.get(), suffix.c_str(), source, 0);
    else
        zip_file_replace(zip.get(), zip_uint64_t(index), source, 0);
}

void removeRecord(const std::string& archive, const std::string& suffix)
{
    const OpenZip zip(archive, 0);
    zip_delete(zip.get(), zip_uint64_t(zip.find(suffix)));
}

} // namespace qs::test

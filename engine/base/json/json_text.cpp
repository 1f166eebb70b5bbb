// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_text.h"

#include <memory>

namespace qs {

namespace {

using Document = nlohmann::ordered_json;

struct CancelledWriting
{
};

/// Receives the serializer's output; throws `CancelledWriting` after a cancel, since a serializer
/// can be stopped only by an exception.
class CheckedText : public nlohmann::detail::output_adapter_protocol<char>
{
public:
    CheckedText(std::string& text, const JobContext& job)
        : m_text(text)
        , m_job(job)
    {
    }
    void write_character(char c) override { m_text.push_back(c); }
    void write_characters(const char* s, std::size_t length) override
    {
        m_text.append(s, length);
        if (m_text.size() < m_next)
            return;
        m_next = m_text.size() + kBytes;
        if (m_job.cancelled())
            throw CancelledWriting();
    }

private:
    static constexpr std::size_t kBytes = std::size_t(1) << 16;
    std::string& m_text;
    const JobContext& m_job;
    std::size_t m_next = 0;
};

} // namespace

Result<std::string> jsonText(const Document& value, const JsonLayout& layout, const JobContext& job)
{
    std::string text;
    const auto handler = layout.replaceInvalid ? Document::error_handler_t::replace
                                               : Document::error_handler_t::strict;
    nlohmann::detail::serializer<Document> serializer(std::make_shared<CheckedText>(text, job), ' ',
                                                      handler);
    try {
        serializer.dump(value, layout.indent.has_value(), false, layout.indent.value_or(0));
    } catch (const CancelledWriting&) {
        return fail(ErrorCode::Cancelled, "cancelled");
    }
    return text;
}

} // namespace qs

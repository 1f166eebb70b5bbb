// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/backend/backend_draft.h"

#include "engine/configure/backend/fusion_entries.h"

#include <algorithm>

namespace qs {

BackendDraft::BackendDraft(Backend backend)
    : m_original(backend)
    , m_backend(std::move(backend))
{
    for (const BackendPattern& entry : m_backend.patterns)
        m_typed.push_back({fieldsOf(entry), {}});
    check();
}

bool BackendDraft::hasErrors() const
{
    return std::any_of(m_problems.begin(), m_problems.end(),
                       [](const BackendProblem& problem) { return problem.error; });
}

const BackendProblem* BackendDraft::worstOf(int entry) const
{
    const BackendProblem* worst = nullptr;
    for (const BackendProblem& problem : m_problems)
        if (problem.entry == entry && (!worst || (problem.error && !worst->error)))
            worst = &problem;
    return worst;
}

bool BackendDraft::lacksPartner(int entry) const
{
    return qs::lacksPartner(m_backend, m_backend.patterns[std::size_t(entry)]);
}

bool BackendDraft::isChanged() const
{
    return m_backend.name != m_original.name || m_backend.description != m_original.description
        || m_backend.patterns != m_original.patterns
        || std::any_of(m_typed.begin(), m_typed.end(),
                       [](const Typed& typed) { return !typed.refusal.empty(); });
}

void BackendDraft::setName(const std::string& name)
{
    m_backend.name = name;
    check();
}

void BackendDraft::setDescription(const std::string& description)
{
    m_backend.description = description;
}

void BackendDraft::setFields(int entry, const EntryFields& fields)
{
    m_typed[std::size_t(entry)].fields = fields;
    read(entry);
    check();
}

int BackendDraft::add(int after)
{
    BackendPattern entry;
    EntryFields fields = fieldsOf(entry);
    fields.configs.resize(1);
    return insert(after + 1, entry, std::move(fields));
}

int BackendDraft::duplicate(int entry)
{
    const BackendPattern copy = m_backend.patterns[std::size_t(entry)];
    return insert(entry + 1, copy, fields(entry));
}

int BackendDraft::insert(int at, const BackendPattern& entry, EntryFields fields)
{
    m_backend.patterns.insert(m_backend.patterns.begin() + at, entry);
    m_typed.insert(m_typed.begin() + at, Typed {std::move(fields), {}});
    read(at);
    check();
    return at;
}

void BackendDraft::remove(int entry)
{
    m_backend.patterns.erase(m_backend.patterns.begin() + entry);
    m_typed.erase(m_typed.begin() + entry);
    check();
}

Result<int> BackendDraft::addFusion(const std::vector<std::string>& pattern)
{
    return take(withFusion(m_backend, pattern));
}

Result<int> BackendDraft::addPartner(int entry)
{
    return take(withPartner(m_backend, m_backend.patterns[std::size_t(entry)]));
}

Result<int> BackendDraft::take(const Result<Backend>& extended)
{
    if (!extended)
        return fail(extended.error());
    const int first = size();
    m_backend = *extended;
    for (std::size_t i = m_typed.size(); i < m_backend.patterns.size(); ++i)
        m_typed.push_back({fieldsOf(m_backend.patterns[i]), {}});
    check();
    return first;
}

void BackendDraft::read(int entry)
{
    Typed& typed = m_typed[std::size_t(entry)];
    auto& pattern = m_backend.patterns[std::size_t(entry)];
    auto read = withFields(pattern, typed.fields, "patterns[" + std::to_string(entry) + "]");
    typed.refusal = read ? std::string() : read.error().line();
    if (read)
        pattern = std::move(*read);
}

void BackendDraft::check()
{
    m_problems.clear();
    for (int entry = 0; entry < size(); ++entry)
        if (!m_typed[std::size_t(entry)].refusal.empty())
            read(entry); // its index, part of the message, may have changed
    if (m_backend.name.empty())
        m_problems.push_back({true, QObject::tr("name: must not be empty").toStdString()});
    const auto found = checkBackend(m_backend);
    auto next = found.begin();
    for (int entry = 0; entry < size(); ++entry) {
        const std::string& refusal = m_typed[std::size_t(entry)].refusal;
        if (!refusal.empty())
            m_problems.push_back({true, refusal, entry});
        for (; next != found.end() && next->entry <= entry; ++next)
            if (refusal.empty() || next->entry < entry)
                m_problems.push_back(*next);
    }
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/backend/backend_check.h"
#include "engine/configure/backend/entry_fields.h"

namespace qs {

/// A backend under edit: the text of each entry and the engine's findings on it. An entry with
/// invalid text keeps its last valid value and is listed in `problems`. Indices are
/// those of `Backend::patterns`. Plain values, any thread.
class BackendDraft
{
public:
    explicit BackendDraft(Backend backend);

    const Backend& backend() const { return m_backend; }
    int size() const { return int(m_typed.size()); }
    const EntryFields& fields(int entry) const { return m_typed[std::size_t(entry)].fields; }
    /// Errors of the text and the findings of `backends check`, in the order of entries.
    const std::vector<BackendProblem>& problems() const { return m_problems; }
    bool hasErrors() const;
    /// The entry's first error, else its first warning, else null.
    const BackendProblem* worstOf(int entry) const;
    /// True if the entry is a fusion without the entry that quantizes its fused module.
    bool lacksPartner(int entry) const;
    bool isChanged() const;

    void setName(const std::string& name);
    /// Sets the one-line description of the target's purpose.
    void setDescription(const std::string& description);
    void setFields(int entry, const EntryFields& fields);
    /// Inserts an entry without a pattern, or a copy, after the given entry; returns its index.
    int add(int after);
    int duplicate(int entry);
    void remove(int entry);
    /// Adds the missing entries for the fusion; returns the first new one.
    Result<int> addFusion(const std::vector<std::string>& pattern);
    Result<int> addPartner(int entry);

private:
    struct Typed
    {
        EntryFields fields;
        std::string refusal; ///< error of the fields; "" if they are valid
    };
    void read(int entry);
    int insert(int at, const BackendPattern& entry, EntryFields fields);
    Result<int> take(const Result<Backend>& extended);
    void check();

    Backend m_original, m_backend;
    std::vector<Typed> m_typed; ///< one for each pattern
    std::vector<BackendProblem> m_problems;
};

} // namespace qs

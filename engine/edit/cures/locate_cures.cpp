// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/cures/locate_cures.h"

#include "engine/base/text.h"
#include "engine/edit/edit_draft.h"

namespace qs {

namespace {

Result<CurePlace> placeOfCure(const EditDraft& draft, const Cure& cure)
{
    CurePlace place;
    if (cure.kind == CureKind::Train) // all of the model
        return place;
    QS_TRY(place.at, draft.value(cure.at));
    if (cure.kind != CureKind::Range && cure.kind != CureKind::Bound
        && cure.at.kind != ValueAddress::Kind::Input) {
        std::vector<ValueAddress> addresses {cure.at};
        addresses.insert(addresses.end(), cure.nodes.begin(), cure.nodes.end());
        for (const ValueAddress& address : addresses) {
            QS_TRY(const NodeId node, draft.operatorAt(address));
            place.nodes.push_back(node);
        }
    }
    QS_TRY(const auto read, draft.placesFor(cure.readers, place.at));
    for (const EditDraft::Place& reader : read)
        place.readers.push_back({reader.node, std::uint32_t(reader.argument)});
    return place;
}

} // namespace

std::vector<CurePlace> locateCures(const GraphPtr& model, const Addresses& addresses,
                                   std::span<const Cure> cures)
{
    std::vector<CurePlace> places;
    const JobContext job;
    Addresses own = addresses;
    const EditDraft draft(model, own, job);
    for (std::size_t i = 0; i < cures.size(); ++i) {
        if (cures[i].off)
            continue;
        auto place = placeOfCure(draft, cures[i]);
        CurePlace& added = places.emplace_back(place ? std::move(*place) : CurePlace());
        added.cure = i;
        if (!place)
            added.problem = place.error().line();
    }
    return places;
}

OperatorNames quotedNames(const Graph& model, const Addresses& addresses)
{
    return [&model, &addresses](const ValueAddress& address) {
        const auto id = addresses.find(address);
        const Node* node = id ? model.tryGet(*id) : nullptr;
        return node ? inQuotes(node->name) : std::string();
    };
}

std::string unfitCureLine(const std::string& cure, const std::string& why)
{
    return "the cure \"" + cure + "\" does not fit this model and was left out: " + why;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/form_runners.h"

namespace qs {

Result<FormRunners> FormRunners::create(const ConvertedModel& converted, at::Device device,
                                        const GraphPtr& original)
{
    const GraphPtr& model = original ? original : converted.prepared->model;
    const bool fast = device.is_cpu() && fastLayout(*model) == Layout::ChannelsLast
        && fastLayout(*converted.reference) == Layout::ChannelsLast;
    const Layout layout = fast ? Layout::ChannelsLast : Layout::AsGiven;
    QS_TRY(Interpreter floatForm, Interpreter::create(model, device, layout));
    QS_TRY(Interpreter reference, Interpreter::create(converted.reference, device, layout));
    return FormRunners {std::move(floatForm), std::move(reference)};
}

} // namespace qs

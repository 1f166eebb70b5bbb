// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/output_errors.h"

#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/compare/output_run.h"
#include "engine/convert/form_parts.h"
#include "engine/graph/output_names.h"

namespace qs {

namespace {

Result<std::vector<ErrorSums>> sumsOf(const GraphPtr& model, const GraphPtr& form,
                                      const EditedModelPtr& edits, const Dataset& data,
                                      std::size_t outputs, const JobContext& job)
{
    QS_TRY(OutputRun floatRun, OutputRun::create(model));
    QS_TRY(OutputRun formRun, OutputRun::create(form));
    if (data.isSequence()) {
        floatRun.followSequence();
        formRun.followSequence();
    }
    std::vector<ErrorSums> sums(outputs);
    BatchReader reader(data, job);
    for (std::int64_t i = 0; i < reader.count(); ++i) {
        QS_TRY(const Batch batch, reader.next());
        QS_TRY(const auto wanted, floatRun.run(batch, job));
        QS_TRY(auto made, formRun.run(batch, job));
        made = inModelOrder(std::move(made), edits, outputs);
        for (std::size_t k = 0; k < outputs && k < wanted.size() && k < made.size(); ++k)
            if (wanted[k].defined() && made[k].defined() && wanted[k].is_floating_point()
                && wanted[k].sizes() == made[k].sizes())
                QS_CHECK(addError(sums[k], wanted[k], made[k]));
    }
    return sums;
}

} // namespace

Result<std::vector<OutputError>> outputErrors(const GraphPtr& model, const GraphPtr& form,
                                              const EditedModelPtr& edits, const Dataset& data,
                                              const JobContext& job)
{
    const InferenceScope inference;
    const std::vector<std::string> names = outputNames(*model);
    QS_TRY(const std::vector<ErrorSums> sums, guardTorchValue<std::vector<ErrorSums>>([&] {
               return sumsOf(model, form, edits, data, names.size(), job);
           }));
    std::vector<OutputError> errors;
    for (std::size_t i = 0; i < names.size(); ++i)
        errors.push_back({names[i], metricsFrom(sums[i]), {}});
    return errors;
}

} // namespace qs

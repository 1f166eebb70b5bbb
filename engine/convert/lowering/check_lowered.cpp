// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/check_lowered.h"

#include "engine/base/text.h"
#include "engine/convert/lowering/kernel_check.h"
#include "engine/convert/whole_form.h"
#include "engine/prepare/value_keys.h"

#include <c10/util/StringUtil.h>

#include <algorithm>

namespace qs {

namespace {

class LoweredCheck
{
public:
    LoweredCheck(ConvertedModel& model, const KernelChecking& checking, LoweringOptions& options,
                 LoweredGraph& lowered, const JobContext& job)
        : m_model(model)
        , m_checking(checking)
        , m_options(options)
        , m_lowered(lowered)
        , m_job(job)
    {
    }

    Result<void> run()
    {
        if (m_checking.refused)
            addWritten();
        if (m_lowered.sites.empty()) {
            listChecks();
            return {};
        }
        QS_TRY(m_reference, Interpreter::create(m_model.reference, {}, m_job));
        for (;;) {
            QS_CHECK(m_job.check());
            QS_TRY(const Interpreter interpreter, Interpreter::create(m_lowered.graph, {}, m_job));
            QS_TRY(const std::optional<Error> raised, runWhole(interpreter));
            const std::size_t before = m_options.refused.size();
            QS_CHECK(checkNewSites(interpreter));
            // If the check refused no kernel in this round, refuses the one that raised.
            if (raised && m_options.refused.size() == before)
                QS_CHECK(refuseRaising(*raised));
            if (m_options.refused.size() == before)
                break;
            QS_TRY(m_lowered, lowerGraph(*m_model.reference, m_options, m_job));
        }
        m_reference.reset();
        if (!m_checking.refused)
            QS_CHECK(holdOutputs(m_model, m_checking, m_options, m_lowered,
                                 {std::move(*m_referenceOutputs), std::move(m_loweredOutputs)},
                                 m_job));
        listChecks();
        return {};
    }

private:
    /// A checked kernel, with the forms of its inputs.
    struct Checked
    {
        std::vector<TensorForm> inputs;
        KernelCheck check;
    };

    /// Adds the kernels refused when the model was written, without a check.
    void addWritten()
    {
        std::unordered_map<std::string, NodeId> nodes;
        for (const NodePtr& node : m_model.reference->nodes())
            nodes.emplace(node->name, node->id);
        for (const RefusedKernel& kernel : *m_checking.refused)
            if (const auto it = nodes.find(kernel.site); it != nodes.end()) {
                KernelCheck check;
                check.node = m_model.reference->get(it->second).origin;
                check.kernel = kernel.kernel;
                m_checked[it->second] = {{}, std::move(check)};
            }
    }

    /// Records the forms of every kernel's inputs. Returns the error of a node that raised.
    Result<std::optional<Error>> runWhole(const Interpreter& interpreter)
    {
        m_forms.clear();
        for (const KernelSite& site : m_lowered.sites)
            for (const auto& [mine, reference] : site.inputs)
                m_forms[mine] = {};
        std::unordered_set<ValueRef> seen;
        const Tap tap = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
            const auto form = m_forms.find(ref);
            if (form != m_forms.end() && value.isTensor() && seen.insert(ref).second)
                form->second = formOf(value.toTensor());
            return {};
        };
        auto outputs = interpreter.run(m_checking.batch->inputs, tap, m_job);
        std::erase_if(m_forms, [&](const auto& entry) { return !seen.contains(entry.first); });
        if (outputs) {
            m_loweredOutputs = std::move(*outputs);
            return std::optional<Error>();
        }
        if (outputs.error().code == ErrorCode::Cancelled)
            return fail(std::move(outputs).error());
        return std::optional(std::move(outputs).error());
    }

    std::vector<TensorForm> formsOf(const KernelSite& site) const
    {
        std::vector<TensorForm> forms;
        for (const auto& [mine, reference] : site.inputs) {
            const auto form = m_forms.find(mine);
            forms.push_back(form == m_forms.end() ? TensorForm {} : form->second);
        }
        return forms;
    }

    /// Checks the kernels that were not yet checked with inputs of these forms, which change when
    /// another kernel is refused.
    Result<void> checkNewSites(const Interpreter& interpreter)
    {
        std::vector<std::size_t> fresh;
        for (std::size_t s = 0; s < m_lowered.sites.size(); ++s) {
            const auto checked = m_checked.find(m_lowered.sites[s].reference);
            if (checked == m_checked.end()
                || checked->second.check.kernel != m_lowered.sites[s].target
                || checked->second.inputs != formsOf(m_lowered.sites[s]))
                fresh.push_back(s);
        }
        std::unordered_map<std::size_t, Key> keys; // of the sites that `takeKnown` leaves
        if (m_checking.known && !fresh.empty()) {
            if (!m_referenceKeys)
                m_referenceKeys.emplace(*m_model.reference, *m_model.prepared);
            const ValueKeys lowered(*m_lowered.graph, *m_model.prepared);
            std::erase_if(fresh, [&](std::size_t s) {
                Key key = keyOf(m_lowered.sites[s], lowered);
                const bool isKnown = takeKnown(m_lowered.sites[s], key);
                if (!isKnown)
                    keys.emplace(s, std::move(key));
                return isKnown;
            });
        }
        if (fresh.empty() && (m_referenceOutputs || m_checking.refused))
            return {};
        m_job.report("convert",
                     "checking " + counted(std::int64_t(fresh.size()), "kernel") + " of "
                         + std::to_string(m_lowered.sites.size()),
                     0.5);
        QS_TRY(KernelChecks made,
               checkKernels(*m_reference, interpreter, {m_lowered, fresh, m_forms},
                            *m_checking.batch, m_job));
        m_referenceOutputs = std::move(made.outputs);
        for (std::size_t i = 0; i < fresh.size(); ++i) {
            if (const auto key = keys.find(fresh[i]); key != keys.end())
                m_checking.known->memo.keep<KernelCheck>(
                    key->second, std::make_shared<const KernelCheck>(made.checks[i]),
                    sizeof(KernelCheck) + made.checks[i].reason.size());
            take(m_lowered.sites[fresh[i]], std::move(made.checks[i]));
        }
        return {};
    }

    void take(const KernelSite& site, KernelCheck check)
    {
        if (m_checking.refused)
            check.passed = true;
        else if (!check.passed)
            m_options.refused[site.reference] = check.reason;
        m_checked[site.reference] = {formsOf(site), std::move(check)};
    }

    /// Whether an earlier conversion checked the kernel on the same values.
    bool takeKnown(const KernelSite& site, const Key& key)
    {
        const auto known = m_checking.known->memo.find<KernelCheck>(key);
        if (!known)
            return false;
        KernelCheck check = *known;
        check.node = site.origin;
        take(site, std::move(check));
        return true;
    }

    /// Key of everything that the check of a kernel depends on.
    Key keyOf(const KernelSite& site, const ValueKeys& lowered) const
    {
        KeyBuilder key("kernel check");
        key.add(m_checking.known->batch).add(m_model.engine).add(site.target);
        key.add(std::int64_t(m_lowered.reduceRange)).add(std::int64_t(site.ownGrid));
        const auto addOutputs = [&key](const Graph& graph, const ValueKeys& keys, NodeId node) {
            for (std::uint32_t i = 0; i < graph.get(node).outputs.size(); ++i)
                key.add(keys.of({node, i}));
        };
        addOutputs(*m_lowered.graph, lowered, site.kernel);
        addOutputs(*m_model.reference, *m_referenceKeys, site.reference);
        for (const auto& [mine, reference] : site.inputs) // others are constants of the kernel
            if (const Key* input = m_referenceKeys->tryOf(reference))
                key.add(*input);
        for (const TensorForm& form : formsOf(site))
            key.add(c10::str(form.sizes, form.strides, form.isQuantized, form.type))
                .add(
                    std::string_view(reinterpret_cast<const char*>(&form.scale), sizeof form.scale))
                .add(form.zeroPoint);
        return key.key();
    }

    Result<void> refuseRaising(const Error& raised)
    {
        if (m_checking.refused)
            return fail(raised);
        const auto& sites = m_lowered.sites;
        const auto site = std::find_if(sites.begin(), sites.end(), [&](const KernelSite& s) {
            return m_lowered.graph->get(s.kernel).name == raised.node;
        });
        if (site == sites.end())
            return fail(raised);
        m_options.refused[site->reference]
            = site->target + " fails after the kernels before it: " + raised.message;
        return {};
    }

    /// Lists the checks in graph order: kernels that are used, and refused ones with the reason.
    void listChecks()
    {
        std::unordered_map<NodeId, NodeId> used; // site to its kernel
        for (const KernelSite& site : m_lowered.sites)
            used[site.reference] = site.kernel;
        for (const NodePtr& node : m_model.reference->nodes()) {
            const auto checked = m_checked.find(node->id);
            if (checked == m_checked.end())
                continue;
            KernelCheck& check = checked->second.check;
            if (const auto it = m_options.refused.find(node->id); it != m_options.refused.end()) {
                check.passed = false;
                check.reason = it->second;
            } else if (const auto site = used.find(node->id); site != used.end()) {
                check.lowered = site->second;
            } else {
                continue;
            }
            check.reference = node->id;
            m_model.checks.push_back(std::move(check));
        }
    }

    ConvertedModel& m_model;
    const KernelChecking& m_checking;
    LoweringOptions& m_options;
    LoweredGraph& m_lowered;
    const JobContext& m_job;
    std::optional<ValueKeys> m_referenceKeys; ///< empty without `KernelChecking::known`
    std::optional<Interpreter> m_reference;
    InputForms m_forms; ///< in the latest run
    std::unordered_map<NodeId, Checked> m_checked; ///< by `KernelSite::reference`
    std::optional<std::vector<at::IValue>> m_referenceOutputs; ///< once the reference form ran
    std::vector<at::IValue> m_loweredOutputs;
};

} // namespace

Result<void> checkLowered(ConvertedModel& model, const KernelChecking& checking,
                          LoweringOptions& options, LoweredGraph& lowered, const JobContext& job)
{
    return LoweredCheck(model, checking, options, lowered, job).run();
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/shards/shard_dataset.h"

#include "engine/base/files/file_pattern.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dimension_rules.h"
#include "engine/calibrate/data/images/image_folder.h"
#include "engine/calibrate/data/images/image_source.h"
#include "engine/calibrate/data/input_data.h"
#include "engine/calibrate/data/shards/sample_index.h"
#include "engine/execute/torch_types.h"
#include "engine/io/npz.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace qs {

namespace fs = std::filesystem;

namespace {

bool hasTarName(const std::string& path)
{
    constexpr std::array kNames {".tar",     ".tar.gz", ".tgz",    ".tar.zst", ".tzst",
                                 ".tar.bz2", ".tbz2",   ".tar.xz", ".txz"};
    return std::any_of(kNames.begin(), kNames.end(),
                       [&](const char* end) { return path.ends_with(end); });
}

std::vector<std::string> shardsIn(const std::string& folder)
{
    std::vector<std::string> found;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        const std::string name = entry.path().filename().string();
        if (std::error_code unknown;
            name.ends_with(".tar") && !name.starts_with('.') && entry.is_regular_file(unknown))
            found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end(), naturallyBefore);
    return found;
}

/// The images of tar archives.
class ShardImages : public ImageSource
{
public:
    explicit ShardImages(SampleIndex index)
        : m_index(std::move(index))
    {
    }
    std::int64_t count() const override { return m_index.count(); }
    Result<Image> image(std::int64_t number) const override
    {
        return decoded(number, [](std::istream& in) { return readImage(in, {}); });
    }
    Result<ImageSize> size(std::int64_t number) const override
    {
        return decoded(number, [](std::istream& in) { return readImageSize(in, {}); });
    }
    Error placed(std::int64_t number, Error error) const override
    {
        return memberError(m_index.file(number), m_index.member(number, 0), std::move(error));
    }
    bool hasLabels() const override { return m_index.hasLabels(); }
    std::int64_t label(std::int64_t number) const override { return m_index.label(number); }
    std::int64_t sizesToCheck() const override { return 1; }
    std::string what() const override { return "an archive of images"; }

private:
    template<class Decode>
    auto decoded(std::int64_t number, const Decode& decode) const
        -> decltype(decode(std::declval<std::istream&>()))
    {
        QS_TRY(std::string bytes, m_index.content(number, 0));
        std::istringstream in(std::move(bytes), std::ios::binary);
        auto made = decode(in);
        if (!made)
            return fail(placed(number, std::move(made).error()));
        return made;
    }

    SampleIndex m_index;
};

/// The arrays of tar archives, one sample each.
class ShardArrays : public Dataset
{
public:
    ShardArrays(SampleIndex index, const Graph& graph, std::int64_t perCall, std::int64_t calls)
        : m_index(std::move(index))
        , m_rules(graph)
        , m_perCall(perCall)
        , m_calls(calls)
    {
        for (const Node* input : graph.inputs())
            m_inputs.push_back(*input);
    }
    std::int64_t batchCount() const override { return m_calls; }
    bool hasLabels() const override { return m_index.hasLabels(); }
    Result<std::int64_t> samplesIn(std::int64_t index) const override
    {
        return std::min(m_perCall, m_index.count() - index * m_perCall);
    }
    Result<Batch> batch(std::int64_t index) const override
    {
        const std::int64_t begin = index * m_perCall;
        Batch out;
        out.samples = std::min(m_perCall, m_index.count() - begin);
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            QS_TRY(const at::Tensor rows, stacked(i, begin, out.samples));
            const std::string what = "the batch from member " + inQuotes(m_index.member(begin, i));
            const DataForm form {fromScalarType(rows.scalar_type()), rows.sizes().vec()};
            if (auto fits = checkForm(form, m_inputs[i], what, false); !fits)
                return fail(std::move(fits).error().inFile(m_index.file(begin)));
            QS_CHECK(addInput(out, rows, m_inputs[i], what, begin, m_index.file(begin)));
        }
        if (!m_rules.empty())
            QS_CHECK(m_rules.check(out.inputs, "batch " + std::to_string(index + 1)));
        if (m_index.hasLabels()) {
            std::vector<std::int64_t> labels;
            for (std::int64_t i = 0; i < out.samples; ++i)
                labels.push_back(m_index.label(begin + i));
            out.labels = at::tensor(labels, at::kLong);
        }
        return out;
    }

    /// Checks types and shapes by the first sample, for the first and the last batch; notes
    /// conversions.
    Result<void> checkForms() const
    {
        std::vector<std::vector<std::int64_t>> shapes;
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            QS_TRY(NpyArray array, arrayOf(0, i));
            array.shape.insert(array.shape.begin(), std::min(m_perCall, m_index.count()));
            const std::string what = "member " + inQuotes(m_index.member(0, i));
            auto fits = checkForm({array.dtype, array.shape}, m_inputs[i], what, false);
            if (!fits)
                return fail(std::move(fits).error().inFile(m_index.file(0)));
            noteTypeChange(array.dtype, m_inputs[i], what);
            shapes.push_back(std::move(array.shape));
        }
        for (const std::int64_t call : {std::int64_t(0), m_calls - 1}) {
            QS_TRY(const std::int64_t samples, samplesIn(call));
            std::vector<at::IValue> outlines;
            for (auto& shape : shapes) {
                shape[0] = samples;
                outlines.push_back(outline(shape));
            }
            QS_CHECK(m_rules.check(outlines, "batch " + std::to_string(call + 1)));
        }
        return {};
    }

private:
    /// Reads one input of the samples into one tensor, sample by sample.
    Result<at::Tensor> stacked(std::size_t input, std::int64_t begin, std::int64_t samples) const
    {
        at::Tensor rows;
        NpyArray first;
        for (std::int64_t i = 0; i < samples; ++i) {
            QS_TRY(NpyArray array, arrayOf(begin + i, input));
            if (!rows.defined()) {
                std::vector<std::int64_t> sizes = array.shape;
                sizes.insert(sizes.begin(), samples);
                rows = batchTensor(sizes, toScalarType(array.dtype));
                first = {array.name, array.dtype, array.shape, {}};
            }
            if (array.shape != first.shape || array.dtype != first.dtype)
                return fail(memberError(
                    m_index.file(begin + i), m_index.member(begin + i, input),
                    makeError(ErrorCode::BadInput,
                              "has another shape or type than "
                                  + inQuotes(m_index.member(begin, input)) + " in the same batch")
                        .withHint("\"calibration\": {\"batch_size\": 1} in the recipe takes "
                                  "samples of several shapes")));
            if (!array.bytes.empty())
                std::memcpy(rows[i].mutable_data_ptr(), array.bytes.data(), array.bytes.size());
        }
        return rows;
    }

    Result<NpyArray> arrayOf(std::int64_t sample, std::size_t input) const
    {
        QS_TRY(const std::string bytes, m_index.content(sample, input));
        auto array = parseNpy(bytes);
        if (array && toScalarType(array->dtype) == at::ScalarType::Undefined)
            array = fail(ErrorCode::BadInput, "has a type that is not supported");
        if (!array)
            return fail(memberError(m_index.file(sample), m_index.member(sample, input),
                                    std::move(array).error()));
        return array;
    }

    SampleIndex m_index;
    std::vector<Node> m_inputs;
    DimensionRules m_rules;
    std::int64_t m_perCall, m_calls;
};

/// Returns the number of samples of a call. Fails if inputs take different numbers.
Result<std::int64_t> samplesOfCall(const Graph& graph, const DatasetOptions& options)
{
    std::optional<std::int64_t> fixed;
    for (const Node* input : graph.inputs()) {
        const auto own = fixedBatch(*input);
        if (own && fixed && *own != *fixed)
            return fail(makeError(ErrorCode::BadInput,
                                  "feeds each input with one row a sample; the model's inputs take "
                                      + std::to_string(*fixed) + " and " + std::to_string(*own)
                                      + " rows at a time")
                            .withHint("give a .npz with one array for each input"));
        fixed = own ? own : fixed;
    }
    const std::int64_t perCall = fixed.value_or(options.batchSize);
    if (perCall <= 0)
        return fail(ErrorCode::BadInput, "the batch size must be 1 or more");
    return perCall;
}

Result<std::unique_ptr<Dataset>> openArrays(SampleIndex index, const Graph& graph,
                                            const DatasetOptions& options)
{
    const auto inputs = graph.inputs();
    if (index.parts().extensions.size() != inputs.size())
        return fail(makeError(ErrorCode::BadInput,
                              "holds one array a sample, the model takes "
                                  + std::to_string(inputs.size()) + " (" + inputNames(inputs) + ")")
                        .withHint("name the members KEY.INPUT.npy, for every input"));
    QS_TRY(const std::int64_t perCall, samplesOfCall(graph, options));
    const bool isFixed = std::any_of(inputs.begin(), inputs.end(),
                                     [](const Node* input) { return fixedBatch(*input); });
    const std::int64_t count = index.count();
    if (isFixed && count < perCall)
        return fail(ErrorCode::BadInput,
                    "holds " + counted(count, "sample") + ", the model takes "
                        + std::to_string(perCall) + " at a time");
    if (isFixed && count % perCall != 0)
        note("the model fixes the batch size to " + std::to_string(perCall) + ": the last "
             + std::to_string(count % perCall) + " of " + counted(count, "sample")
             + " are not used");
    const std::int64_t calls = isFixed ? count / perCall : (count + perCall - 1) / perCall;
    auto data = std::make_unique<ShardArrays>(std::move(index), graph, perCall, calls);
    QS_CHECK(data->checkForms());
    return data;
}

} // namespace

bool isShards(const std::string& source)
{
    std::error_code code;
    if (!fs::is_directory(source, code))
        return hasTarName(namedFiles(source).front());
    if (shardsIn(source).empty())
        return false;
    const auto images = listImages(source);
    return !images || images->isByClass;
}

Result<std::unique_ptr<Dataset>> openShardDataset(const std::string& source, const Graph& graph,
                                                  const DatasetOptions& options)
{
    std::error_code code;
    std::vector<std::string> files
        = fs::is_directory(source, code) ? shardsIn(source) : namedFiles(source);
    if (files.size() == 1 && isFilePattern(files.front()))
        return fail(makeError(ErrorCode::NotFound, "names no file")
                        .withHint("a pattern is such as 'train-{0000..0011}.tar' or 'train-*.tar'; "
                                  "it names at most "
                                  + std::to_string(kMostNamedFiles) + " files"));
    for (const std::string& file : files)
        if (!fs::exists(file, code))
            return fail(makeError(ErrorCode::NotFound, "no such data file").inFile(file));
    std::vector<std::string> names;
    for (const Node* input : graph.inputs())
        names.push_back(input->name);
    if (names.empty())
        return fail(ErrorCode::BadInput, "the model takes no input: there is nothing to feed");
    QS_TRY(const std::int64_t perCall, samplesOfCall(graph, options));
    const std::int64_t most = options.batches > 0 ? options.batches * perCall : 0;
    QS_TRY(SampleIndex index, SampleIndex::read(std::move(files), names, most));
    if (index.hasMore())
        note("the first " + counted(index.count(), "sample") + " are used: "
             + counted(options.batches, "batch") + " of " + std::to_string(perCall) + kTakeAll);
    if (!index.parts().isImage)
        return openArrays(std::move(index), graph, options);
    QS_CHECK(checkTakesImages(graph, options, "an archive of images"));
    return makeImageDataset(std::make_shared<ShardImages>(std::move(index)), graph, options);
}

} // namespace qs

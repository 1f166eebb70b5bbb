// SPDX-License-Identifier: Apache-2.0
#include "engine/export/file_origin.h"

#include "engine/convert/lowering/quantized_engine.h"
#include "engine/export/onnx/onnx_metadata.h"
#include "engine/import/archive/pt2_archive.h"
#include "engine/import/file_kind.h"

namespace qs {

std::optional<ExportRecord> recordOfFile(const std::string& path)
{
    const auto sniff = sniffFile(path);
    if (sniff && sniff->kind == FileKind::Zip) {
        const auto archive = Pt2Archive::open(path);
        return archive ? exportRecordOf(**archive) : std::nullopt;
    }
    const auto pairs = onnxMetadata(path);
    return pairs ? recordFromPairs(*pairs) : std::nullopt;
}

std::vector<std::string> originFindings(const std::optional<ExportRecord>& record)
{
    return record ? recordFindings(*record, {currentEngine(), ownTorchVersion()})
                  : std::vector<std::string>();
}

} // namespace qs

# SPDX-License-Identifier: Apache-2.0
"""The user's backend of requirements 1.10 and 1.11, in torch.ao's words; my_backend.json in ours."""
import torch
import torch.ao.nn.intrinsic as nni
import torch.ao.nn.quantized.reference as nnqr
from torch.ao.quantization.backend_config import (BackendConfig, BackendPatternConfig, DTypeConfig,
                                                  DTypeWithConstraints, ObservationType)


def my_backend():
    quint8 = DTypeWithConstraints(dtype=torch.quint8, quant_min_lower_bound=0, quant_max_upper_bound=127,
                                  scale_min_lower_bound=2**-12)
    dtypes = DTypeConfig(input_dtype=quint8, output_dtype=quint8, weight_dtype=torch.qint8, bias_dtype=torch.float)

    def entry(pattern, root, reference):
        return (BackendPatternConfig(pattern)
                .set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)
                .add_dtype_config(dtypes).set_root_module(root).set_reference_quantized_module(reference))

    fusion = (BackendPatternConfig((torch.nn.Conv2d, torch.nn.ReLU)).set_fused_module(nni.ConvReLU2d)
              .set_fuser_method(lambda is_qat, conv, relu: nni.ConvReLU2d(conv, relu)))
    return BackendConfig("my_backend").set_backend_pattern_configs(
        [entry(torch.nn.Linear, torch.nn.Linear, nnqr.Linear), fusion,
         entry(nni.ConvReLU2d, torch.nn.Conv2d, nnqr.Conv2d)])

# SPDX-License-Identifier: Apache-2.0
"""The same decisions twice: as torch.ao takes them and as a Quantscope recipe."""
import dataclasses
import json
import pathlib
import sys

import torch
from torch.ao.nn import intrinsic
from torch.ao.nn.intrinsic import qat as intrinsic_qat
from torch.ao.nn import qat as nn_qat
from torch.ao.nn.quantized import reference
from torch.ao.quantization import MinMaxObserver, QConfig, QConfigMapping, default_weight_observer
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.backend_config import (BackendConfig, BackendPatternConfig, DTypeConfig, DTypeWithConstraints,
                                                  ObservationType)
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config

import models

sys.path.insert(0, str(models.ROOT / "resources" / "backends"))
BATCH_SIZE = 8


@dataclasses.dataclass
class Decisions:
    """`mapping` and `backend` for torch.ao, `recipe` (a dict) for Quantscope; `backend_file` the recipe's own backend."""

    name: str
    mapping: QConfigMapping
    backend: BackendConfig
    recipe: dict
    backend_json: dict | None = None

    def write(self, folder):
        """Writes the recipe and, where it has one, its backend; returns the recipe's path."""
        folder = pathlib.Path(folder)
        recipe = dict(self.recipe)
        if self.backend_json is not None:
            path = folder / "backend.json"
            path.write_text(json.dumps(self.backend_json))
            recipe["backend"] = str(path)
        path = folder / f"{self.name}.recipe.json"
        path.write_text(json.dumps(recipe))
        return path


def recipe(backend="x86", mapping=None, qconfigs=None):
    document = {"format": "quantscope.recipe", "version": 1, "backend": backend, "qconfigs": qconfigs or {},
                "calibration": {"batch_size": BATCH_SIZE, "batches": 16}}
    if mapping is not None:
        document["mapping"] = mapping
    return document


def x86():
    """The defaults: torch.ao's default mapping for x86, histograms and per-channel weights."""
    return Decisions("x86", get_default_qconfig_mapping("x86"), get_x86_backend_config(), recipe())


def minmax():
    """Minimum and maximum everywhere, weights per tensor, and no rule but the global one."""
    qconfig = QConfig(activation=MinMaxObserver.with_args(dtype=torch.quint8, reduce_range=True),
                      weight=default_weight_observer)
    own = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True},
           "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
    return Decisions("minmax", QConfigMapping().set_global(qconfig), get_x86_backend_config(),
                     recipe(mapping={"global": "minmax"}, qconfigs={"minmax": own}))


def tutorial_backend():
    """The tutorial's backend: linear and conv-relu in int8, with a smallest scale of 2^-12."""
    activation = DTypeWithConstraints(dtype=torch.quint8, quant_min_lower_bound=0, quant_max_upper_bound=255,
                                      scale_min_lower_bound=2 ** -12)
    dtypes = DTypeConfig(input_dtype=activation, output_dtype=activation, weight_dtype=torch.qint8, bias_dtype=torch.float)

    def weighted(pattern, root, qat, ref):
        return (BackendPatternConfig(pattern)
                .set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT).add_dtype_config(dtypes)
                .set_root_module(root).set_qat_module(qat).set_reference_quantized_module(ref))

    def fuse(is_qat, conv, relu):
        return intrinsic.ConvReLU2d(conv, relu)

    return (BackendConfig("tutorial")
            .set_backend_pattern_config(weighted(torch.nn.Linear, torch.nn.Linear, nn_qat.Linear, reference.Linear))
            .set_backend_pattern_config(BackendPatternConfig((torch.nn.Conv2d, torch.nn.ReLU))
                                        .set_fused_module(intrinsic.ConvReLU2d).set_fuser_method(fuse))
            .set_backend_pattern_config(weighted(intrinsic.ConvReLU2d, torch.nn.Conv2d, intrinsic_qat.ConvReLU2d,
                                                 reference.Conv2d)))


def backend_document(config):
    """A BackendConfig as a Quantscope backend file, written by the script that writes the shipped ones."""
    from make_backends import entry_json

    return {"format": "quantscope.backend", "version": 1, "name": config.name, "description": "the tutorial's",
            "patterns": [entry_json(entry) for entry in config.configs]}


def tutorial():
    """Seven-bit activations on the tutorial's backend, assigned by object type."""
    qconfig = QConfig(activation=MinMaxObserver.with_args(quant_min=0, quant_max=127, eps=2 ** -12),
                      weight=default_weight_observer)
    own = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "quant_min": 0,
                          "quant_max": 127, "eps": 2 ** -12},
           "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
    types = [torch.nn.Linear, torch.nn.Conv2d, torch.nn.BatchNorm2d, torch.nn.ReLU]
    mapping = QConfigMapping()
    for kind in types:
        mapping.set_object_type(kind, qconfig)
    rules = {"global": None, "object_type": [[f"torch.nn.{kind.__name__}", "act7"] for kind in types]}
    return Decisions("tutorial", mapping, tutorial_backend(), recipe(mapping=rules, qconfigs={"act7": own}),
                     backend_document(tutorial_backend()))


def tutorial_default():
    """torch.ao's default mapping on the tutorial's backend: its eps is under the backend's smallest scale."""
    return Decisions("tutorial_default", get_default_qconfig_mapping("x86"), tutorial_backend(),
                     recipe(mapping={"global": "x86"}), backend_document(tutorial_backend()))


RECIPES = {"x86": x86, "minmax": minmax, "tutorial": tutorial, "tutorial_default": tutorial_default}

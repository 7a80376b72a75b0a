"""Quantisation: observers, qconfigs, and the passes that quantise a model after training or while training it."""

from taeda.ao.quantization.fake_quantize import FakeQuantize as FakeQuantize
from taeda.ao.quantization.fake_quantize import FakeQuantizeBase as FakeQuantizeBase
from taeda.ao.quantization.fake_quantize import FixedQParamsFakeQuantize as FixedQParamsFakeQuantize
from taeda.ao.quantization.fake_quantize import FusedMovingAvgObsFakeQuantize as FusedMovingAvgObsFakeQuantize
from taeda.ao.quantization.fake_quantize import (
    default_affine_fixed_qparams_fake_quant as default_affine_fixed_qparams_fake_quant,
)
from taeda.ao.quantization.fake_quantize import default_dynamic_fake_quant as default_dynamic_fake_quant
from taeda.ao.quantization.fake_quantize import default_embedding_fake_quant as default_embedding_fake_quant
from taeda.ao.quantization.fake_quantize import default_embedding_fake_quant_4bit as default_embedding_fake_quant_4bit
from taeda.ao.quantization.fake_quantize import default_fake_quant as default_fake_quant
from taeda.ao.quantization.fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant as default_fixed_qparams_range_0to1_fake_quant,
)
from taeda.ao.quantization.fake_quantize import (
    default_fixed_qparams_range_neg1to1_fake_quant as default_fixed_qparams_range_neg1to1_fake_quant,
)
from taeda.ao.quantization.fake_quantize import default_fused_act_fake_quant as default_fused_act_fake_quant
from taeda.ao.quantization.fake_quantize import (
    default_fused_per_channel_wt_fake_quant as default_fused_per_channel_wt_fake_quant,
)
from taeda.ao.quantization.fake_quantize import default_fused_wt_fake_quant as default_fused_wt_fake_quant
from taeda.ao.quantization.fake_quantize import default_histogram_fake_quant as default_histogram_fake_quant
from taeda.ao.quantization.fake_quantize import (
    default_per_channel_weight_fake_quant as default_per_channel_weight_fake_quant,
)
from taeda.ao.quantization.fake_quantize import (
    default_symmetric_fixed_qparams_fake_quant as default_symmetric_fixed_qparams_fake_quant,
)
from taeda.ao.quantization.fake_quantize import default_weight_fake_quant as default_weight_fake_quant
from taeda.ao.quantization.fake_quantize import disable_fake_quant as disable_fake_quant
from taeda.ao.quantization.fake_quantize import disable_observer as disable_observer
from taeda.ao.quantization.fake_quantize import enable_fake_quant as enable_fake_quant
from taeda.ao.quantization.fake_quantize import enable_observer as enable_observer
from taeda.ao.quantization.fake_quantize import (
    fused_per_channel_wt_fake_quant_range_neg_127_to_127 as fused_per_channel_wt_fake_quant_range_neg_127_to_127,
)
from taeda.ao.quantization.fake_quantize import (
    fused_wt_fake_quant_range_neg_127_to_127 as fused_wt_fake_quant_range_neg_127_to_127,
)
from taeda.ao.quantization.fuse_modules import fuse_known_modules as fuse_known_modules
from taeda.ao.quantization.fuse_modules import fuse_modules as fuse_modules
from taeda.ao.quantization.fuse_modules import fuse_modules_qat as fuse_modules_qat
from taeda.ao.quantization.fuser_method_mappings import fuse_conv_bn as fuse_conv_bn
from taeda.ao.quantization.fuser_method_mappings import fuse_conv_bn_relu as fuse_conv_bn_relu
from taeda.ao.quantization.fuser_method_mappings import fuse_convtranspose_bn as fuse_convtranspose_bn
from taeda.ao.quantization.fuser_method_mappings import fuse_linear_bn as fuse_linear_bn
from taeda.ao.quantization.fuser_method_mappings import get_fuser_method as get_fuser_method
from taeda.ao.quantization.fuser_method_mappings import get_fuser_method_new as get_fuser_method_new
from taeda.ao.quantization.observer import AffineQuantizedObserverBase as AffineQuantizedObserverBase
from taeda.ao.quantization.observer import FixedQParamsObserver as FixedQParamsObserver
from taeda.ao.quantization.observer import Granularity as Granularity
from taeda.ao.quantization.observer import HistogramObserver as HistogramObserver
from taeda.ao.quantization.observer import MappingType as MappingType
from taeda.ao.quantization.observer import MinMaxObserver as MinMaxObserver
from taeda.ao.quantization.observer import MovingAverageMinMaxObserver as MovingAverageMinMaxObserver
from taeda.ao.quantization.observer import (
    MovingAveragePerChannelMinMaxObserver as MovingAveragePerChannelMinMaxObserver,
)
from taeda.ao.quantization.observer import NoopObserver as NoopObserver
from taeda.ao.quantization.observer import ObserverBase as ObserverBase
from taeda.ao.quantization.observer import PerAxis as PerAxis
from taeda.ao.quantization.observer import PerBlock as PerBlock
from taeda.ao.quantization.observer import PerChannelMinMaxObserver as PerChannelMinMaxObserver
from taeda.ao.quantization.observer import PerGroup as PerGroup
from taeda.ao.quantization.observer import PerRow as PerRow
from taeda.ao.quantization.observer import PerTensor as PerTensor
from taeda.ao.quantization.observer import PerToken as PerToken
from taeda.ao.quantization.observer import PlaceholderObserver as PlaceholderObserver
from taeda.ao.quantization.observer import RecordingObserver as RecordingObserver
from taeda.ao.quantization.observer import ReuseInputObserver as ReuseInputObserver
from taeda.ao.quantization.observer import TorchAODType as TorchAODType
from taeda.ao.quantization.observer import UniformQuantizationObserverBase as UniformQuantizationObserverBase
from taeda.ao.quantization.observer import ZeroPointDomain as ZeroPointDomain
from taeda.ao.quantization.observer import (
    default_affine_fixed_qparams_observer as default_affine_fixed_qparams_observer,
)
from taeda.ao.quantization.observer import default_debug_observer as default_debug_observer
from taeda.ao.quantization.observer import default_dynamic_quant_observer as default_dynamic_quant_observer
from taeda.ao.quantization.observer import (
    default_fixed_qparams_range_0to1_observer as default_fixed_qparams_range_0to1_observer,
)
from taeda.ao.quantization.observer import (
    default_fixed_qparams_range_neg1to1_observer as default_fixed_qparams_range_neg1to1_observer,
)
from taeda.ao.quantization.observer import default_float_qparams_observer as default_float_qparams_observer
from taeda.ao.quantization.observer import default_float_qparams_observer_4bit as default_float_qparams_observer_4bit
from taeda.ao.quantization.observer import default_histogram_observer as default_histogram_observer
from taeda.ao.quantization.observer import default_observer as default_observer
from taeda.ao.quantization.observer import default_per_channel_weight_observer as default_per_channel_weight_observer
from taeda.ao.quantization.observer import default_placeholder_observer as default_placeholder_observer
from taeda.ao.quantization.observer import default_reuse_input_observer as default_reuse_input_observer
from taeda.ao.quantization.observer import (
    default_symmetric_fixed_qparams_observer as default_symmetric_fixed_qparams_observer,
)
from taeda.ao.quantization.observer import default_weight_observer as default_weight_observer
from taeda.ao.quantization.observer import get_block_size as get_block_size
from taeda.ao.quantization.observer import get_observer_state_dict as get_observer_state_dict
from taeda.ao.quantization.observer import load_observer_state_dict as load_observer_state_dict
from taeda.ao.quantization.observer import (
    per_channel_weight_observer_range_neg_127_to_127 as per_channel_weight_observer_range_neg_127_to_127,
)
from taeda.ao.quantization.observer import weight_observer_range_neg_127_to_127 as weight_observer_range_neg_127_to_127
from taeda.ao.quantization.qconfig import QConfig as QConfig
from taeda.ao.quantization.qconfig import QConfigAny as QConfigAny
from taeda.ao.quantization.qconfig import QConfigDynamic as QConfigDynamic
from taeda.ao.quantization.qconfig import default_activation_only_qconfig as default_activation_only_qconfig
from taeda.ao.quantization.qconfig import default_debug_qconfig as default_debug_qconfig
from taeda.ao.quantization.qconfig import default_dynamic_qat_qconfig as default_dynamic_qat_qconfig
from taeda.ao.quantization.qconfig import default_dynamic_qconfig as default_dynamic_qconfig
from taeda.ao.quantization.qconfig import default_embedding_qat_qconfig as default_embedding_qat_qconfig
from taeda.ao.quantization.qconfig import default_embedding_qat_qconfig_4bit as default_embedding_qat_qconfig_4bit
from taeda.ao.quantization.qconfig import default_per_channel_qconfig as default_per_channel_qconfig
from taeda.ao.quantization.qconfig import (
    default_per_channel_symmetric_qnnpack_qat_qconfig as default_per_channel_symmetric_qnnpack_qat_qconfig,
)
from taeda.ao.quantization.qconfig import (
    default_per_channel_symmetric_qnnpack_qconfig as default_per_channel_symmetric_qnnpack_qconfig,
)
from taeda.ao.quantization.qconfig import default_qat_qconfig as default_qat_qconfig
from taeda.ao.quantization.qconfig import default_qat_qconfig_v2 as default_qat_qconfig_v2
from taeda.ao.quantization.qconfig import default_qconfig as default_qconfig
from taeda.ao.quantization.qconfig import default_quint8_weight_qconfig as default_quint8_weight_qconfig
from taeda.ao.quantization.qconfig import default_reuse_input_qconfig as default_reuse_input_qconfig
from taeda.ao.quantization.qconfig import default_symmetric_qnnpack_qat_qconfig as default_symmetric_qnnpack_qat_qconfig
from taeda.ao.quantization.qconfig import default_symmetric_qnnpack_qconfig as default_symmetric_qnnpack_qconfig
from taeda.ao.quantization.qconfig import default_weight_only_qconfig as default_weight_only_qconfig
from taeda.ao.quantization.qconfig import float16_dynamic_qconfig as float16_dynamic_qconfig
from taeda.ao.quantization.qconfig import float16_static_qconfig as float16_static_qconfig
from taeda.ao.quantization.qconfig import float_qparams_weight_only_qconfig as float_qparams_weight_only_qconfig
from taeda.ao.quantization.qconfig import (
    float_qparams_weight_only_qconfig_4bit as float_qparams_weight_only_qconfig_4bit,
)
from taeda.ao.quantization.qconfig import get_default_qat_qconfig as get_default_qat_qconfig
from taeda.ao.quantization.qconfig import get_default_qat_qconfig_dict as get_default_qat_qconfig_dict
from taeda.ao.quantization.qconfig import get_default_qconfig as get_default_qconfig
from taeda.ao.quantization.qconfig import get_default_qconfig_dict as get_default_qconfig_dict
from taeda.ao.quantization.qconfig import per_channel_dynamic_qconfig as per_channel_dynamic_qconfig
from taeda.ao.quantization.qconfig import qconfig_equals as qconfig_equals
from taeda.ao.quantization.qconfig_mapping import QConfigMapping as QConfigMapping
from taeda.ao.quantization.qconfig_mapping import get_default_qat_qconfig_mapping as get_default_qat_qconfig_mapping
from taeda.ao.quantization.qconfig_mapping import get_default_qconfig_mapping as get_default_qconfig_mapping
from taeda.ao.quantization.quant_type import QuantType as QuantType
from taeda.ao.quantization.quantization_mappings import (
    get_default_compare_output_module_list as get_default_compare_output_module_list,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_dynamic_quant_module_mappings as get_default_dynamic_quant_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_dynamic_sparse_quant_module_mappings as get_default_dynamic_sparse_quant_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_float_to_quantized_operator_mappings as get_default_float_to_quantized_operator_mappings,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_qat_module_mappings as get_default_qat_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_qconfig_propagation_list as get_default_qconfig_propagation_list,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_static_quant_module_mappings as get_default_static_quant_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_static_quant_reference_module_mappings as get_default_static_quant_reference_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import (
    get_default_static_sparse_quant_module_mappings as get_default_static_sparse_quant_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import get_dynamic_quant_module_class as get_dynamic_quant_module_class
from taeda.ao.quantization.quantization_mappings import (
    get_embedding_qat_module_mappings as get_embedding_qat_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import (
    get_embedding_static_quant_module_mappings as get_embedding_static_quant_module_mappings,
)
from taeda.ao.quantization.quantization_mappings import get_quantized_operator as get_quantized_operator
from taeda.ao.quantization.quantization_mappings import get_static_quant_module_class as get_static_quant_module_class
from taeda.ao.quantization.quantization_mappings import no_observer_set as no_observer_set
from taeda.ao.quantization.quantize import add_quant_dequant as add_quant_dequant
from taeda.ao.quantization.quantize import convert as convert
from taeda.ao.quantization.quantize import default_eval_fn as default_eval_fn
from taeda.ao.quantization.quantize import get_default_custom_config_dict as get_default_custom_config_dict
from taeda.ao.quantization.quantize import prepare as prepare
from taeda.ao.quantization.quantize import prepare_qat as prepare_qat
from taeda.ao.quantization.quantize import propagate_qconfig_ as propagate_qconfig_
from taeda.ao.quantization.quantize import quantize as quantize
from taeda.ao.quantization.quantize import quantize_dynamic as quantize_dynamic
from taeda.ao.quantization.quantize import quantize_qat as quantize_qat
from taeda.ao.quantization.quantize import swap_module as swap_module
from taeda.ao.quantization.stubs import DeQuantStub as DeQuantStub
from taeda.ao.quantization.stubs import QuantStub as QuantStub
from taeda.ao.quantization.stubs import QuantWrapper as QuantWrapper
from taeda.ao.quantization.utils import MatchAllNode as MatchAllNode
from taeda.ao.quantization.utils import Pattern as Pattern
from taeda.ao.quantization.utils import get_combined_dict as get_combined_dict

ObserverOrFakeQuantize = ObserverBase | FakeQuantizeBase

__all__ = [
    "AffineQuantizedObserverBase", "DeQuantStub", "FakeQuantize", "FakeQuantizeBase", "FixedQParamsFakeQuantize",
    "FixedQParamsObserver", "FusedMovingAvgObsFakeQuantize", "Granularity", "HistogramObserver", "MappingType",
    "MatchAllNode", "MinMaxObserver", "MovingAverageMinMaxObserver", "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver", "ObserverBase", "ObserverOrFakeQuantize", "Pattern", "PerAxis", "PerBlock",
    "PerChannelMinMaxObserver", "PerGroup", "PerRow", "PerTensor", "PerToken", "PlaceholderObserver", "QConfig",
    "QConfigAny", "QConfigDynamic", "QConfigMapping", "QuantStub", "QuantType", "QuantWrapper", "RecordingObserver",
    "ReuseInputObserver", "TorchAODType", "UniformQuantizationObserverBase", "ZeroPointDomain", "add_quant_dequant",
    "convert", "default_activation_only_qconfig", "default_affine_fixed_qparams_fake_quant",
    "default_affine_fixed_qparams_observer", "default_debug_observer", "default_debug_qconfig",
    "default_dynamic_fake_quant", "default_dynamic_qat_qconfig", "default_dynamic_qconfig",
    "default_dynamic_quant_observer", "default_embedding_fake_quant", "default_embedding_fake_quant_4bit",
    "default_embedding_qat_qconfig", "default_embedding_qat_qconfig_4bit", "default_eval_fn", "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant", "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_fake_quant", "default_fixed_qparams_range_neg1to1_observer",
    "default_float_qparams_observer", "default_float_qparams_observer_4bit", "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant", "default_fused_wt_fake_quant", "default_histogram_fake_quant",
    "default_histogram_observer", "default_observer", "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig", "default_per_channel_symmetric_qnnpack_qconfig",
    "default_per_channel_weight_fake_quant", "default_per_channel_weight_observer", "default_placeholder_observer",
    "default_qat_qconfig", "default_qat_qconfig_v2", "default_qconfig", "default_quint8_weight_qconfig",
    "default_reuse_input_observer", "default_reuse_input_qconfig", "default_symmetric_fixed_qparams_fake_quant",
    "default_symmetric_fixed_qparams_observer", "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig", "default_weight_fake_quant", "default_weight_observer",
    "default_weight_only_qconfig", "disable_fake_quant", "disable_observer", "enable_fake_quant", "enable_observer",
    "float16_dynamic_qconfig", "float16_static_qconfig", "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit", "fuse_conv_bn", "fuse_conv_bn_relu", "fuse_convtranspose_bn",
    "fuse_linear_bn", "fuse_modules", "fuse_modules_qat", "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127", "get_block_size", "get_combined_dict",
    "get_default_compare_output_module_list", "get_default_custom_config_dict",
    "get_default_dynamic_quant_module_mappings", "get_default_dynamic_sparse_quant_module_mappings",
    "get_default_float_to_quantized_operator_mappings", "get_default_qat_module_mappings", "get_default_qat_qconfig",
    "get_default_qat_qconfig_dict", "get_default_qat_qconfig_mapping", "get_default_qconfig",
    "get_default_qconfig_dict", "get_default_qconfig_mapping", "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings", "get_default_static_quant_reference_module_mappings",
    "get_default_static_sparse_quant_module_mappings", "get_dynamic_quant_module_class",
    "get_embedding_qat_module_mappings", "get_embedding_static_quant_module_mappings", "get_fuser_method",
    "get_fuser_method_new", "get_observer_state_dict", "get_quantized_operator", "get_static_quant_module_class",
    "load_observer_state_dict", "no_observer_set", "per_channel_dynamic_qconfig",
    "per_channel_weight_observer_range_neg_127_to_127", "prepare", "prepare_qat", "propagate_qconfig_",
    "qconfig_equals", "quantize", "quantize_dynamic", "quantize_qat", "swap_module",
    "weight_observer_range_neg_127_to_127",
]  # fmt: skip

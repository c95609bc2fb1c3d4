"""What a session says of itself: what its numbers depend on, what it was asked for, and what it made of that."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import torch

from akka_optimize.trainer.engines.decoder import devices, lora
from akka_optimize.trainer.engines.decoder.replica import PRECISIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from akka_optimize.records import Document
    from akka_optimize.trainer.engines import Job
    from akka_optimize.trainer.engines.decoder.replica import Replica

LIBRARIES = {
    "blas": r"BLAS_INFO=(\w+)",
    "mkl": r"Math Kernel Library Version ([\d.]+)",
    "mkldnn": r"MKL-DNN v(\S+)",
    "openmp": r"OpenMP (\d+)",
}


def environment(threads: int, taken: Sequence[torch.device]) -> Document:
    """What the bits of one plan may depend on beside the machine: torch's build and how it was set up."""
    shown = torch.__config__.show()
    found = {name: re.search(pattern, shown) for name, pattern in LIBRARIES.items()}
    told: Document = {
        "packages": {"torch": str(torch.__version__), "numpy": np.__version__},
        "libraries": {name: match and match[1] for name, match in found.items()},
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": taken[0].type,
        "processes": len(taken),
        "threads": threads,
        "deterministic": True,
    }
    if taken[0].type == devices.ACCELERATOR:
        told["accelerators"] = [torch.cuda.get_device_name(device) for device in taken]
        told["libraries"]["cuda"] = torch.version.cuda
    return told


def requested(job: Job) -> Document:
    """What the plan and the division ask for, by the names of `resolved`; null: the engine is to choose."""
    settings = job.plan["hyperparams"]
    adam, adapter, training = settings["optimizer"], settings["lora"], settings["training"]
    return {
        "config": {
            "seed": job.plan["seed"],
            "gpus": job.division.devices,
            "processes": job.division.devices,
            "device": None,
            "backend": None,
            "threads": job.threads,
            "precision": job.plan["model"]["precision"],
            "max_seq_length": job.plan["maxSeqLength"],
            "sequences_per_pass": job.division.sequences_per_pass,
            "accumulation": job.division.accumulation,
            "max_steps": training["steps"],
            "optimizer": "AdamW",
            "fused": True,
            "learning_rate": adam["learningRate"],
            "schedule": adam["schedule"],
            "warmup_steps": adam["warmupSteps"],
            "adam_beta1": adam["beta1"],
            "adam_beta2": adam["beta2"],
            "adam_epsilon": adam["epsilon"],
            "weight_decay": adam["weightDecay"],
            "max_grad_norm": adam["maxGradNorm"],
            "lora_rank": adapter["rank"],
            "lora_alpha": adapter["alpha"],
            "lora_dropout": adapter["dropout"],
            "lora_targets": list(lora.TARGETS),
        }
    }


def resolved(replica: Replica, asked: Document, taken: Sequence[torch.device]) -> Document:
    """What came of `asked`, read back from what was built: `config` by the same names, all of the optimizer's own
    settings, and the adapter as attached, its shapes by layer.
    """
    group = {name: value for name, value in replica.optimizer.param_groups[0].items() if name != "params"}
    layers = adapted(replica)
    one = next(iter(layers.values()))
    precisions = {dtype: name for name, dtype in PRECISIONS.items()}
    on_accelerators = taken[0].type == devices.ACCELERATOR
    read_back = {
        "seed": replica.stream.seed,
        "gpus": len(taken) if on_accelerators else 0,
        "processes": len(taken),
        "device": taken[0].type,
        "backend": devices.backend(taken),
        "threads": torch.get_num_threads(),
        "precision": precisions[one.base.weight.dtype],
        "optimizer": type(replica.optimizer).__name__,
        "fused": group["fused"],
        "learning_rate": replica.optimizer.defaults["lr"],
        "adam_beta1": group["betas"][0],
        "adam_beta2": group["betas"][1],
        "adam_epsilon": group["eps"],
        "weight_decay": group["weight_decay"],
        "lora_rank": len(one.A),
        "lora_alpha": one.scale * len(one.A),
        "lora_dropout": one.dropout,
        "lora_targets": list(dict.fromkeys(name.split(".", 2)[2] for name in layers)),
    }
    return {
        "config": asked["config"] | read_back,
        "optimizer": {name: list(value) if isinstance(value, tuple) else value for name, value in group.items()},
        "adapter": {
            "scale": one.scale,
            "trainable": trainable(replica),
            "layers": {name: {"A": list(layer.A.shape), "B": list(layer.B.shape)} for name, layer in layers.items()},
        },
    }


def runtime(replica: Replica, taken: Sequence[torch.device], changed: Sequence[str], memory: Document) -> Document:
    """What the session runs on and uses; `changed` are the names under which it does otherwise than asked."""
    parameters = Counter[str]()
    for parameter in replica.model.parameters():
        parameters[_name(parameter.dtype)] += parameter.numel()
    return {
        "trainer": {"changedBySetup": list(changed)},
        "processes": [
            {"rank": rank, "device": str(device), "threads": replica.job.threads} for rank, device in enumerate(taken)
        ],
        "backend": devices.backend(taken),
        "model": {
            "parameters": dict(parameters),
            "trainable": trainable(replica),
            "wrapped": list(adapted(replica)),
        },
        "memory": dict(memory),
    }


def adapted(replica: Replica) -> dict[str, lora.AdaptedLinear]:
    """The layers that have an adapter, by name, in model order."""
    return {name: layer for name, layer in replica.model.named_modules() if isinstance(layer, lora.AdaptedLinear)}


def trainable(replica: Replica) -> int:
    """How many numbers the run learns."""
    return sum(parameter.numel() for parameter in replica.adapter.values())


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")

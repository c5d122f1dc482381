import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "dmlplayground" / "__init__.py").read_text())[1]
README = HERE / "README.md"

CPU = ["mxnet==1.9.1"]
CU112 = ["mxnet-cu112==1.9.1"]
EXTRAS = {"cpu": CPU, "cu112": CU112}

setup(
    name="dmlplayground",
    version=VERSION,
    description="Deep metric learning methods compared fairly: thirteen methods, one trainer, on MXNet/Gluon",
    python_requires=">=3.9",
    packages=[*find_packages(include=["dmlplayground", "dmlplayground.*"])],
    install_requires=["numpy>=1.23.5"],
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["dmlplayground = dmlplayground.cli:main"]},
)

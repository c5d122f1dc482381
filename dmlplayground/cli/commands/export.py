"""write a trained network for other programs: plain MXNet, or ONNX"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..arguments import add_model, place

EXAMPLE = "export runs/TRIAL network --format onnx"
PAGE = "serving"


def add_arguments(command: ArgumentParser) -> None:
    add_model(command, "a trial's folder")
    command.add_argument(
        "out", type=place, help="where to: OUT.json, OUT-symbol.json and OUT-0000.params, or OUT.onnx"
    )
    command.add_argument("--format", default="mxnet", metavar="NAME", help="mxnet or onnx")
    command.add_argument(
        "--resize", action="store_true", help="ONNX: let the graph resize and crop images of any size itself"
    )


def run(arguments: Namespace) -> None:
    from ...serving import load

    model = load(arguments.model, arguments.which)
    for path in model.export(arguments.out, arguments.format, arguments.resize):
        print(path)
    if arguments.resize:
        print("It takes images (B, H, W, 3) of uint8 in RGB and of any size.")
    else:
        height, width = model.input_size
        print(
            f"It takes images (B, {height}, {width}, 3) of uint8 in RGB: resize to "
            f"{model.stored.describe()}, then cut out the centre."
        )

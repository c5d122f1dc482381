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
    command.add_argument(
        "--eight-bit", action="store_true", help="ONNX: a quarter of the size; says what it costs in recall"
    )


def run(arguments: Namespace) -> None:
    from ...serving import load
    from ...serving.model import ANY_SIZE

    model = load(arguments.model, arguments.which)
    for path in model.export(arguments.out, arguments.format, arguments.resize, arguments.eight_bit):
        print(path)
    print(f"It takes {ANY_SIZE if arguments.resize else model.takes}.")

"""write a trained network for other programs: plain MXNet, or ONNX"""

from ..arguments import Command, Namespace, add_which, place

EXAMPLE = "export runs/TRIAL network --format onnx"
PAGE = "serving"


def add_arguments(command: Command) -> None:
    command.takes("model", "a trial's folder", place)
    add_which(command, engine=False)
    command.takes("out", "where to: OUT.json, OUT-symbol.json and OUT-0000.params, or OUT.onnx", place)
    command.takes("--format NAME", "mxnet or onnx", default="mxnet")
    command.flag("--resize", "ONNX: let the graph resize and crop images of any size itself")
    command.flag("--eight-bit", "ONNX: a quarter of the size; says what it costs in recall")


def run(arguments: Namespace) -> None:
    from ...serving import load
    from ...serving.model import ANY_SIZE

    model = load(arguments.model, arguments.which)
    for path in model.export(arguments.out, arguments.format, arguments.resize, arguments.eight_bit):
        print(path)
    print(f"It takes {ANY_SIZE if arguments.resize else model.takes}.")

"""find, fetch, convert or verify weights of backbones"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..arguments import place

EXAMPLE = "weights convert resnet50.pth resnet50_v1b.params"
PAGE = "studies"


def add_arguments(command: ArgumentParser) -> None:
    actions = command.add_subparsers(metavar="ACTION", required=True)

    action = actions.add_parser("homes", help="say where a backbone's ImageNet weights are, with checksums")
    action.set_defaults(run=homes)
    action.add_argument("backbone")

    action = actions.add_parser("fetch", help="download a backbone's ImageNet weights, for later use offline")
    action.set_defaults(run=fetch)
    action.add_argument("backbone")

    action = actions.add_parser("convert", help="convert another framework's weights to .params")
    action.set_defaults(run=convert)
    action.add_argument(
        "source", type=place, help=".params, .safetensors or a PyTorch state dict (which is not executed)"
    )
    action.add_argument("target", type=place, help="the .params file to write")
    action.add_argument("--backbone", help="the backbone they are for, if its names do not say")

    action = actions.add_parser("verify", help="load weights, all of them, and check the features they give")
    action.set_defaults(run=verify)
    action.add_argument("backbone")
    action.add_argument("weights", nargs="?", default="imagenet", help="a file")
    action.add_argument(
        "--symbol", type=place, help="an MXNet graph as JSON whose features they must reproduce"
    )


def homes(arguments: Namespace) -> None:
    from ...parts import backbones

    print(backbones.homes(backbones.get(arguments.backbone)).as_text())


def fetch(arguments: Namespace) -> None:
    from ...parts import backbones

    print(backbones.weights_path(backbones.get(arguments.backbone), "imagenet"))


def convert(arguments: Namespace) -> None:
    from ...parts.backbones.shared.weights import conversion

    result = conversion.convert(arguments.source, arguments.target, arguments.backbone)
    print(f"{arguments.target}: {result.backbone}, {result.parameters:,} parameters, from {result.naming}")
    if result.left_out:
        print(f"left out (the classifier): {', '.join(result.left_out)}")


def verify(arguments: Namespace) -> None:
    from ...parts.backbones.shared.weights import conversion

    result = conversion.verify(arguments.backbone, arguments.weights, arguments.symbol)
    low, high = result.features
    print(f"{result.path}\nsha256 {result.sha256}")
    print(
        f"complete: {result.parameters:,} trainable parameters; features of noise images from {low:.4g} to {high:.4g}"
    )
    for mode, value in (result.difference or {}).items():
        print(f"agrees with the graph in {mode} to {value:.1e}")

"""find, fetch, convert or verify weights of backbones"""

from ..arguments import Command, Namespace, add_actions, place

EXAMPLE = "weights convert resnet50.pth resnet50_v1b.params"
PAGE = "studies"


def add_arguments(command: Command) -> None:
    of_homes, of_fetch, of_convert, of_verify = add_actions(
        command, homes, fetch, convert, verify, required=True
    )
    for action in (of_homes, of_fetch, of_verify):
        action.takes("backbone")
    of_convert.takes("source", ".params, .safetensors or a PyTorch state dict (which is not executed)", place)
    of_convert.takes("target", "the .params file to write", place)
    of_convert.takes("--backbone", "the backbone they are for, if its names do not say")
    of_verify.takes("weights", "a file", nargs="?", default="imagenet")


def homes(arguments: Namespace) -> None:
    """say where a backbone's ImageNet weights are, with checksums"""
    from ...parts import backbones

    print(backbones.homes(backbones.get(arguments.backbone)).as_text())


def fetch(arguments: Namespace) -> None:
    """download a backbone's ImageNet weights, for later use offline"""
    from ...parts import backbones

    print(backbones.weights_path(backbones.get(arguments.backbone), "imagenet"))


def convert(arguments: Namespace) -> None:
    """convert another framework's weights to .params"""
    from ...parts.backbones.shared.weights import conversion

    result = conversion.convert(arguments.source, arguments.target, arguments.backbone)
    print(f"{arguments.target}: {result.backbone}, {result.parameters:,} parameters, from {result.naming}")
    if result.left_out:
        print(f"left out (the classifier): {', '.join(result.left_out)}")


def verify(arguments: Namespace) -> None:
    """load weights, all of them, and check the features they give"""
    from ...parts.backbones.shared.weights import conversion

    result = conversion.verify(arguments.backbone, arguments.weights)
    low, high = result.features
    print(f"{result.path}\nsha256 {result.sha256}")
    print(
        f"complete: {result.parameters:,} trainable parameters; features of noise images from {low:.4g} to {high:.4g}"
    )

"""write the features that a pretrained network computes for a data set, for use as the data set "features" """

from ..arguments import Command, Namespace, data_options, place

EXAMPLE = "features glyphs --backbone efficientnet_lite0 --out glyphs.npz --set size=96 --set classes=80"
PAGE = "features"


def add_arguments(command: Command) -> None:
    command.takes("data", "a data set (see dmlplayground data)")
    command.takes("--backbone", "a network (see dmlplayground backbones)", required=True)
    command.takes("--pretrained", "its weights: imagenet, none, or a file", default="imagenet")
    command.takes("--out", "the .npz to write", place, required=True)
    command.repeats("--set OPTION=VALUE", "set an option of the data set")


def run(arguments: Namespace) -> None:
    from ...parts.backbones.shared.engines import extractor
    from ...parts.data import features

    features.check_ending(arguments.out)
    options = data_options(arguments.data, arguments.set)
    extract = extractor(arguments.backbone, arguments.pretrained)
    shape = features.write(arguments.out, arguments.data, options, extract)
    print(f"{arguments.out}: {shape[0]} images, {shape[1]} features each")
    print(
        f"train on them: dmlplayground train npairs --set data.name=features --set data.path={arguments.out}"
    )

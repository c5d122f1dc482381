"""The command line: parses, calls one function, prints. Exit codes: 0 done, 1 something failed, 2 bad input, 130 stopped."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from .errors import UserError, unknown

EPILOG = "exit codes: 0 done, 1 a trial failed, 2 bad input, 130 stopped by Ctrl-C"


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    if getattr(arguments, "threads", None):
        os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # read once, when MXNet's library is loaded
    try:
        return arguments.run(arguments) or 0
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "\nstopped; what was finished is kept, and the same command goes on from there.", file=sys.stderr
        )
        return 130
    except BrokenPipeError:  # the reader of a pipe has gone, as after "| head"
        sys.stdout = None
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dmlplayground", description="Deep metric learning methods, compared fairly.", epilog=EPILOG
    )
    from . import __version__

    parser.add_argument("--version", action="version", version=f"dmlplayground {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in (
        _methods,
        _backbones,
        _data,
        _samplers,
        _transforms,
        _hyperparams,
        _train,
        _sweep,
        _tune,
        _report,
        _compare,
        _evaluate,
        _weights,
        _export,
        _embed,
        _retrieve,
        _doctor,
    ):
        add(commands)
    return parser


def _command(commands, name: str, run, summary: str, example: str) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example: dmlplayground {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    return command


def _methods(commands) -> None:
    command = _command(
        commands, "methods", _run_methods, "list the methods, or tell all about one", "methods npairs"
    )
    command.add_argument("name", nargs="?", help="the method to tell about")


def _backbones(commands) -> None:
    _command(
        commands, "backbones", _run_backbones, "list the networks that images can go through", "backbones"
    )


def _data(commands) -> None:
    command = _command(
        commands,
        "data",
        _run_data,
        "list the data sets, prepare, verify or show one",
        "data prepare cub200 --from CUB_200_2011.tgz",
    )
    actions = command.add_subparsers(metavar="ACTION")
    prepare = _data_action(
        actions, "prepare", _run_data_prepare, "put a published data set in its place, checked"
    )
    prepare.add_argument(
        "--from", dest="sources", type=Path, nargs="+", required=True, metavar="PATH",
        help="its archives and files, or the folder where they are unpacked (which is then linked to, not copied)",
    )  # fmt: skip
    prepare.add_argument("--allow-partial", action="store_true", help="accept a part of the data set")
    fetch = _data_action(actions, "fetch", _run_data_fetch, "download a published data set and prepare it")
    for action in (prepare, fetch):
        action.add_argument(
            "--root",
            default="",
            help="the folder of data sets (default: $DMLPLAYGROUND_DATA, or the user's own)",
        )
    verify = _data_action(
        actions, "verify", _run_data_verify, "read every image of a data set, and check its cache"
    )
    show = _data_action(actions, "show", _run_data_show, "write a contact sheet as PNG")
    for action in (verify, show):
        action.add_argument(
            "--set", action="append", default=[], metavar="OPTION=VALUE", help="an option of the data set"
        )
    show.add_argument("--split", default="train", help="train or test (default: %(default)s)")
    show.add_argument("--classes", type=_count, default=20, help="rows of the sheet (default: %(default)s)")
    show.add_argument("--per-class", type=_count, default=10, help="images a row (default: %(default)s)")
    show.add_argument("--out", type=Path, help="the PNG to write (default: NAME-SPLIT.png)")


def _data_action(actions, name: str, run, summary: str) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    action.set_defaults(run=run)
    action.add_argument("name", help="the data set")
    return action


def _samplers(commands) -> None:
    _command(commands, "samplers", _run_samplers, "list the ways to draw batches", "samplers")


def _transforms(commands) -> None:
    _command(
        commands, "transforms", _run_transforms, "list the ways from an image file to a batch", "transforms"
    )


def _hyperparams(commands) -> None:
    command = _command(
        commands, "hyperparams", _run_hyperparams, "list published settings and their sources, or tell all about a method's",
        "hyperparams npairs",
    )  # fmt: skip
    command.add_argument("method", nargs="?", help="the method whose values are told, each with its source")


def _train(commands) -> None:
    command = _command(
        commands,
        "train",
        _run_train,
        "train one trial",
        "train npairs --set embed_dim=128 --set seed=1 --store runs",
    )
    command.add_argument("config", help="a YAML file with the trial's configuration, or a method's name")
    _add_trial_options(command)
    command.add_argument(
        "--store", type=Path, default=Path("runs"), help="where the record goes (default: %(default)s)"
    )
    command.add_argument(
        "--threads", type=_count, help="CPU threads for MXNet; more than one only on an idle machine"
    )
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    _add_tensorboard(command)


def _sweep(commands) -> None:
    command = _command(
        commands, "sweep", _run_sweep, "run a grid of trials and report on it", "sweep quickstart --workers 2"
    )
    command.add_argument("file", help="an experiment file, or the name of one of ours (such as quickstart)")
    _add_trial_options(command)
    command.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUE", help="only these trials of the grid"
    )
    command.add_argument("--store", type=Path, help="where the records go (default: runs/NAME)")
    _add_executor(command)
    command.add_argument("--retry-failed", action="store_true", help="run again what failed before")
    command.add_argument(
        "--print-commands", action="store_true", help="print a command for each trial that is left, for any scheduler, and stop"
    )  # fmt: skip


def _tune(commands) -> None:
    command = _command(
        commands,
        "tune",
        _run_tune,
        "search for a method's best settings, judged on validation classes",
        "tune search.yaml --workers 2",
    )
    command.add_argument(
        "file", type=Path, help="a search file: a configuration with ranges in the place of values"
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting or its range (repeatable)"
    )  # fmt: skip
    command.add_argument(
        "--store", type=Path, help="where the records and the result go (default: runs/NAME)"
    )
    _add_executor(command)


def _report(commands) -> None:
    command = _command(
        commands,
        "report",
        _run_report,
        "make tables, figures and a page of records",
        "report runs/quickstart",
    )
    command.add_argument("store", type=Path, help="the folder of a sweep, or one record")


def _compare(commands) -> None:
    command = _command(
        commands,
        "compare",
        _run_compare,
        "tell which results of two stores differ",
        "compare runs/old runs/new",
    )
    command.add_argument("first", type=Path, metavar="A")
    command.add_argument("second", type=Path, metavar="B")


def _evaluate(commands) -> None:
    command = _command(
        commands, "evaluate", _run_evaluate, "score a trained trial, or bare arrays of embeddings and labels",
        "evaluate embeddings.npy labels.npy --ks 1,10,100",
    )  # fmt: skip
    command.add_argument("target", type=Path, help="a trial's folder, or embeddings (N, E) as .npy")
    command.add_argument("labels", type=Path, nargs="?", help="labels (N,) as .npy, with bare embeddings")
    command.add_argument(
        "--which", choices=("best", "last"), default="best", help="the trial's weights (default: %(default)s)"
    )
    command.add_argument("--data", help="another data set than the trial's own")
    command.add_argument("--split", default="test", help="train or test (default: %(default)s)")
    command.add_argument(
        "--ks", type=_ranks, default=(1, 2, 4, 8, 16), help="ranks of Recall@K (default: 1,2,4,8,16)"
    )
    command.add_argument(
        "--distance", choices=("euclidean", "cosine", "hamming"), help="default: the trial's, or euclidean"
    )
    command.add_argument("--no-clustering", action="store_true", help="leave out NMI, AMI and F1")
    command.add_argument("--seed", type=int, default=0, help="of k-means (default: %(default)s)")
    _add_engine(command)


def _weights(commands) -> None:
    command = _command(
        commands, "weights", _run_weights_help, "fetch, convert or verify weights of backbones",
        "weights convert resnet50.pth resnet50_v1b.params",
    )  # fmt: skip
    actions = command.add_subparsers(metavar="ACTION")
    command.set_defaults(show_help=command.print_help)

    fetch = actions.add_parser(
        "fetch", help="get a backbone's ImageNet weights, for later use without a network"
    )
    fetch.set_defaults(run=_run_weights_fetch)
    fetch.add_argument("backbone")

    convert = actions.add_parser("convert", help="make .params of another framework's checkpoint")
    convert.set_defaults(run=_run_weights_convert)
    convert.add_argument(
        "source", type=Path, help=".params, .safetensors or a PyTorch state dict (which is not executed)"
    )
    convert.add_argument("target", type=Path, help="the .params file to write")
    convert.add_argument("--backbone", help="what it is for, where its names do not tell")

    verify = actions.add_parser("verify", help="load weights, whole, and look at the features they give")
    verify.set_defaults(run=_run_weights_verify)
    verify.add_argument("backbone")
    verify.add_argument("weights", nargs="?", default="imagenet", help="a file (default: %(default)s)")
    verify.add_argument(
        "--symbol", type=Path, help="MXNet's graph as JSON, to which the features must be equal"
    )


def _export(commands) -> None:
    command = _command(
        commands,
        "export",
        _run_export,
        "write a trained network for plain MXNet",
        "export runs/TRIAL exported/npairs",
    )
    _add_model(command, "a trial's folder")
    command.add_argument("out", type=Path, help="where to: OUT.json, OUT-symbol.json and OUT-0000.params")


def _embed(commands) -> None:
    command = _command(
        commands,
        "embed",
        _run_embed,
        "embed the images of a folder",
        "embed runs/TRIAL photos --out photos.npy",
    )
    _add_model(command, "a trial's folder, or the .json of an exported network")
    command.add_argument("images", type=Path, help="a folder of images; folders in it count")
    command.add_argument(
        "--out",
        type=Path,
        default=Path("embeddings.npy"),
        help="beside it goes a manifest, .json (default: %(default)s)",
    )
    _add_engine(command)


def _retrieve(commands) -> None:
    command = _command(
        commands, "retrieve", _run_retrieve, "find the images nearest to one",
        "retrieve runs/TRIAL query.jpg photos --count 5 --picture found.png",
    )  # fmt: skip
    _add_model(command, "a trial's folder, or the .json of an exported network")
    command.add_argument("query", type=Path, help="an image")
    command.add_argument("gallery", type=Path, help="a folder of images, or the .npy that embed has written")
    command.add_argument("--count", type=_count, default=10, help="how many (default: %(default)s)")
    command.add_argument("--picture", type=Path, help="a PNG to write, with the query and what was found")
    _add_engine(command)


def _add_model(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("model", type=Path, help=what)
    command.add_argument(
        "--which", choices=("best", "last"), default="best", help="a trial's weights (default: %(default)s)"
    )


def _add_engine(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--engine",
        default="float32",
        help="float32, fused or bfloat16: how embeddings are computed (default: %(default)s)",
    )


def _doctor(commands) -> None:
    _command(
        commands, "doctor", _run_doctor, "look at versions, devices and known traps of this machine", "doctor"
    )


def _add_trial_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting (repeatable)"
    )
    command.add_argument(
        "--hyperparams", dest="set", action="append", type="hyperparams={}".format, metavar="NAME",
        help="begin with published or tuned settings: paper, released, or a .yaml file (see dmlplayground hyperparams)",
    )  # fmt: skip
    command.add_argument(
        "--dry-run", action="store_true", help="check everything, say what would run, and stop"
    )


def _add_executor(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workers", type=_count, metavar="N", help="trials at a time (default: one a GPU or else a core)"
    )
    command.add_argument(
        "--executor", default="local", help="local, or ray for a Ray cluster (default: %(default)s)"
    )
    command.add_argument(
        "--address", help="of the Ray cluster (default: the one this machine belongs to, or one of its own)"
    )
    _add_tensorboard(command)


def _add_tensorboard(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--tensorboard", action="store_true", help="write TensorBoard's event files beside the records"
    )


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _ranks(text: str) -> tuple[int, ...]:
    return tuple(_count(part) for part in text.split(","))


# --- what the commands do -----------------------------------------------------------------------------------------


def _run_methods(arguments) -> None:
    from . import listing

    print(listing.method(arguments.name) if arguments.name else listing.methods())


def _run_backbones(arguments) -> None:
    from . import listing

    print(listing.backbones())


def _run_data(arguments) -> None:
    from . import listing

    print(listing.data())


def _run_data_prepare(arguments) -> None:
    from .data import releases

    print(
        releases.prepare(_release(arguments.name), arguments.sources, arguments.root, arguments.allow_partial)
    )


def _run_data_fetch(arguments) -> None:
    from .data import releases

    print(releases.fetch(_release(arguments.name), arguments.root))


def _release(name: str):
    from . import data

    release = data.get(name).release
    if release is None:
        raise UserError(f"the data set {name} needs no preparation.")
    return release


def _run_data_verify(arguments) -> int:
    from .data.verify import verify

    told, wrong = verify(arguments.name, **_data_options(arguments))
    print("\n".join([*told, *wrong, f"{len(wrong)} problems" if wrong else "all is well"]))
    return 1 if wrong else 0


def _data_options(arguments) -> dict:
    from . import config

    return config.merge(*(config.override(text) for text in arguments.set))


def _run_data_show(arguments) -> None:
    from . import data
    from .data import pictures

    options = _data_options(arguments)
    if "cache" in data.get(arguments.name).options:
        options = {"cache": "none", **options}  # for a few images
    dataset = data.load(arguments.name, split=arguments.split, **options)
    path = arguments.out or Path(f"{arguments.name}-{arguments.split}.png")
    pictures.contact_sheet(dataset, arguments.classes, arguments.per_class).save(path)
    print(f"{dataset.describe()}\nwrote {path}")


def _run_samplers(arguments) -> None:
    from . import listing

    print(listing.samplers())


def _run_transforms(arguments) -> None:
    from . import listing

    print(listing.transforms())


def _run_hyperparams(arguments) -> None:
    from . import listing

    print(listing.hyperparams_of(arguments.method) if arguments.method else listing.hyperparams())


def _run_train(arguments) -> int:
    from . import config, listing, methods
    from .store import records
    from .training import train

    if arguments.config in methods.names():
        given = {"method": arguments.config}
    elif Path(arguments.config).exists():
        given = config.read_yaml(arguments.config)
    else:
        raise unknown("method (and no such file)", arguments.config, methods.names())
    trial = config.trial(given, arguments.set)
    if arguments.dry_run:
        print(listing.plan([trial], arguments.store))
        return 0
    from .training.run import TrialFailed

    try:
        record = train(trial, arguments.store, quiet=arguments.quiet, tensorboard=arguments.tensorboard)
    except TrialFailed as failure:
        print(
            f"{failure}\nthe whole story is in {arguments.store / trial.id / records.RECORD}", file=sys.stderr
        )
        return 1
    print(listing.outcome(record, arguments.store / trial.id))
    return 0


def _run_sweep(arguments) -> int:
    from . import listing
    from .sweeps import executors, grid, plan, runner

    experiment, path = grid.load(arguments.file)
    trials = experiment.trials(arguments.where, arguments.set)
    store = arguments.store or Path("runs") / path.stem
    if arguments.dry_run:
        print(listing.plan(trials, store))
        return 0
    plan.write(store, experiment, path, trials, part=bool(arguments.where or arguments.set))
    if arguments.print_commands:
        print("\n".join(plan.commands(store, plan.jobs(store, trials, arguments.retry_failed))))
        return 0
    print(f"{experiment.title}: {len(trials)} trials, records in {store}", flush=True)
    executor = executors.create(arguments.executor, arguments.address, arguments.tensorboard)
    try:
        runner.run(store, trials, executor, workers=arguments.workers, retry_failed=arguments.retry_failed)
    except KeyboardInterrupt:
        print(listing.tally(plan.tally(store, trials)), file=sys.stderr)
        raise
    _print_report(store)
    states = plan.tally(store, trials)
    print(listing.tally(states))
    if states["failed"]:
        print(f"run what failed again: {_rerun(arguments, store)}")
    return 1 if states["failed"] else 0


def _rerun(arguments, store: Path) -> str:
    """The command that runs just what failed."""
    chosen = [part for rule in arguments.where for part in ("--where", rule)]
    chosen += [part for override in arguments.set for part in ("--set", override)]
    return shlex.join(
        ["dmlplayground", "sweep", arguments.file, "--store", str(store), *chosen, "--retry-failed"]
    )


def _run_tune(arguments) -> None:
    from . import listing
    from .sweeps import executors, search, tune

    wanted = search.load(arguments.file, arguments.set)
    store = arguments.store or Path("runs") / arguments.file.stem
    print(f"{wanted.title}: {wanted.trials} trials, records in {store}", flush=True)
    executor = executors.create(arguments.executor, arguments.address, arguments.tensorboard)
    winner = tune.tune(wanted, store, executor, workers=arguments.workers)
    print(f"\n{listing.winner(winner)}\n\nuse it: --hyperparams {shlex.quote(str(winner))}")


def _run_report(arguments) -> None:
    _print_report(arguments.store)


def _print_report(store: Path) -> None:
    from . import reports
    from .store import records

    page = reports.report(store)
    print("\n" + reports.terminal(reports.leaderboard(records.load_store(store), reports.planned(store))))
    print(f"\nreport: {page}")


def _run_compare(arguments) -> None:
    from . import reports

    print(reports.terminal(reports.compare(arguments.first, arguments.second)))


def _run_evaluate(arguments) -> None:
    from . import listing
    from .training import scoring

    if arguments.labels is not None:
        scores = scoring.of_arrays(
            arguments.target, arguments.labels, ks=arguments.ks, clustering=not arguments.no_clustering,
            seed=arguments.seed, distance=arguments.distance or "euclidean",
        )  # fmt: skip
    else:
        scores = scoring.of_trial(
            arguments.target, which=arguments.which, data=arguments.data, split=arguments.split, ks=arguments.ks,
            clustering=not arguments.no_clustering, seed=arguments.seed, distance=arguments.distance,
            engine=arguments.engine,
        )  # fmt: skip
    print(listing.scores(scores))


def _run_weights_help(arguments) -> None:
    arguments.show_help()


def _run_weights_fetch(arguments) -> None:
    from . import backbones

    print(backbones.weights_path(backbones.get(arguments.backbone), "imagenet"))


def _run_weights_convert(arguments) -> None:
    from . import listing
    from .backbones import conversion

    print(
        listing.converted(
            conversion.convert(arguments.source, arguments.target, arguments.backbone), arguments.target
        )
    )


def _run_weights_verify(arguments) -> None:
    from . import listing
    from .backbones import conversion

    print(listing.verified(conversion.verify(arguments.backbone, arguments.weights, arguments.symbol)))


def _run_export(arguments) -> None:
    from . import export
    from .training import scoring

    for path in export.write(scoring.learners(arguments.model, arguments.which), arguments.out):
        print(path)


def _run_embed(arguments) -> None:
    from . import retrieval

    model = retrieval.Model(arguments.model, arguments.which, arguments.engine)
    gallery = model.embed(retrieval.images_in(arguments.images))
    path, manifest = gallery.save(arguments.out, arguments.model)
    print(
        f"{path}: {gallery.embeddings.shape[0]} images, {gallery.embeddings.shape[1]} numbers each; files in {manifest}"
    )


def _run_retrieve(arguments) -> None:
    from . import listing, retrieval

    model = retrieval.Model(arguments.model, arguments.which, arguments.engine)
    stored = arguments.gallery.suffix == ".npy"
    gallery = (
        retrieval.Gallery.load(arguments.gallery)
        if stored
        else model.embed(retrieval.images_in(arguments.gallery))
    )
    query = model.embed([arguments.query]).embeddings[0]
    found = retrieval.nearest(query, gallery, arguments.count)
    print(listing.columns([(f"{distance:.4f}", str(path)) for path, distance in found]))
    if arguments.picture:
        retrieval.picture(arguments.query, found).save(arguments.picture)
        print(f"wrote {arguments.picture}")


def _run_doctor(arguments) -> int:
    from . import doctor

    return doctor.main()

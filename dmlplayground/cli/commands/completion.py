"""print a script that completes commands and options in your shell

bash: add to ~/.bashrc:                     eval "$(dmlplayground completion bash)"
zsh:  add to ~/.zshrc, after compinit:      eval "$(dmlplayground completion zsh)"
fish: put into ~/.config/fish/config.fish:  dmlplayground completion fish | source"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

EXAMPLE = "completion bash"
PAGE = "getting-started"

Words = Mapping[str, list[str]]


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("shell", choices=sorted(SHELLS), help="your shell")


def run(arguments: Namespace) -> None:
    from .. import vocabulary

    print(SHELLS[arguments.shell](vocabulary()))


def _bash(words: Words) -> str:
    cases = "\n".join(f'    *:{name}) words="{" ".join(own)}" ;;' for name, own in words.items())
    return f"""_dmlplayground() {{
  local words=""
  case "$COMP_CWORD:${{COMP_WORDS[1]}}" in
    1:*) words="{" ".join(words)}" ;;
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _dmlplayground dmlplayground"""


def _zsh(words: Words) -> str:
    cases = "\n".join(f"    {name}) compadd -- {' '.join(own)} ;;" for name, own in words.items())
    return f"""_dmlplayground() {{
  if (( CURRENT == 2 )); then
    compadd -- {" ".join(words)}
    return
  fi
  case $words[2] in
{cases}
  esac
  _files
}}
compdef _dmlplayground dmlplayground"""


def _fish(words: Words) -> str:
    first = f"complete -c dmlplayground -n __fish_use_subcommand -f -a '{' '.join(words)}'"
    rest = [
        f"complete -c dmlplayground -n '__fish_seen_subcommand_from {name}' -a '{' '.join(own)}'"
        for name, own in words.items()
    ]
    return "\n".join([first, *rest])


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}

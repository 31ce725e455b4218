import { NEXT_WORD, optionCases, placeFunctions, quote } from './cases.js'
import type { CompletedNode, CompletedOption } from './tree.js'

/** Returns the completion script for zsh, for a directory in fpath or for sourcing after compinit. */
export function zshCompletion(nodes: readonly CompletedNode[]): string {
  return `#compdef gpunvme
# Completion of gpunvme's command line for zsh, written by \`gpunvme completion zsh\`.

# Addresses and names of the NVMe drives of this machine: PCI class 01h, subclass 08h, interface 02h.
_gpunvme_drives() {
  local device class
  local -a drives
  for device in /sys/bus/pci/devices/*(N); do
    { read -r class < $device/class } 2> /dev/null || continue
    [[ $class == 0x010802 ]] && drives+=(\${device:t})
  done
  for device in /sys/class/nvme/nvme*(N); do
    drives+=(\${device:t})
  done
  compadd -a drives
}

${placeFunctions(nodes, ({ children }) => `kind=verbs shown=(${shown(children)})`)}

_gpunvme_options() {
  case "$1" in
${optionCases(nodes, ({ options }) => `shown=(${shown(options.flatMap(eachName))})`)}
  esac
}

_gpunvme() {
  local node= kind= literal= word current=$words[CURRENT]
  local -a shown
  integer operands=0
  for word in "\${(@)words[2,CURRENT-1]}"; do
${NEXT_WORD}
  done
  if [[ -z $kind && -z $literal && $current == --*=* ]]; then
    _gpunvme_value "$node" "\${current%%=*}"
    compset -P '*='
  elif [[ -z $kind && -z $literal && $current == -* ]]; then
    _gpunvme_options "$node"
    _describe -o option shown
    return
  elif [[ -z $kind ]]; then
    _gpunvme_operand "$node" "$operands"
  fi
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
    drives) _gpunvme_drives ;;
    verbs) _describe verb shown ;;
    words*) compadd -- \${=kind#words } ;;
  esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _gpunvme "$@"
else
  compdef _gpunvme gpunvme
fi
`
}

interface Shown {
  readonly name: string
  readonly summary: string
}

function eachName({ names, description }: CompletedOption): Shown[] {
  return names.map((name) => ({ name, summary: description }))
}

/** In the format of _describe: text before a colon is completed. */
function shown(all: readonly Shown[]): string {
  return all.map(({ name, summary }) => quote(summary === '' ? name : `${name}:${summary}`)).join(' ')
}

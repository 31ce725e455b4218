import { NEXT_WORD, optionCases, placeFunctions, quote } from './cases.js'
import type { CompletedNode } from './tree.js'

/** Returns the completion script for bash 4 and newer, which needs no other file. */
export function bashCompletion(nodes: readonly CompletedNode[]): string {
  return `# Completion of gpunvme's command line for bash, written by \`gpunvme completion bash\`.

# Addresses and names of the NVMe drives of this machine: PCI class 01h, subclass 08h, interface 02h.
_gpunvme_drives() {
  local device class
  for device in /sys/bus/pci/devices/*; do
    { read -r class < "$device/class"; } 2> /dev/null || continue
    [[ $class == 0x010802 ]] && printf '%s\\n' "\${device##*/}"
  done
  for device in /sys/class/nvme/nvme*; do
    [[ -e $device ]] && printf '%s\\n' "\${device##*/}"
  done
}

${placeFunctions(nodes, ({ children }) => `kind=${quote(`words ${children.map(({ name }) => name).join(' ')}`)}`)}

_gpunvme_options() {
  case "$1" in
${optionCases(nodes, ({ options }) => `kind=${quote(options.flatMap(({ names }) => names).join(' '))}`)}
  esac
}

_gpunvme() {
  local line=\${COMP_LINE:0:COMP_POINT} node='' kind='' literal='' operands=0 words word current last i
  # Not COMP_WORDS, which are cut at the colons of addresses.
  read -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  last=$(( \${#words[@]} - 1 ))
  current=\${words[last]}
  for (( i = 1; i < last; i++ )); do
    word=\${words[i]}
${NEXT_WORD}
  done
  COMPREPLY=()
  if [[ -z $kind && -z $literal && $current == --*=* ]]; then
    _gpunvme_value "$node" "\${current%%=*}"
    current=\${current#*=}
  elif [[ -z $kind && -z $literal && $current == -* ]]; then
    _gpunvme_options "$node"
    kind="words $kind"
  elif [[ -z $kind ]]; then
    _gpunvme_operand "$node" "$operands"
  fi
  case $kind in
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2> /dev/null ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames 2> /dev/null ;;
    drives) mapfile -t COMPREPLY < <(compgen -W "$(_gpunvme_drives)" -- "$current") ;;
    words*) mapfile -t COMPREPLY < <(compgen -W "\${kind#words }" -- "$current") ;;
  esac
  # Bash replaces what follows the last colon alone.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
  fi
}

complete -F _gpunvme gpunvme
`
}

import type { CompletedNode, CompletedOption, Completes } from './tree.js'

/** Returns the completion script for fish 3 and newer. */
export function fishCompletion(nodes: readonly CompletedNode[]): string {
  return `# Completion of gpunvme's command line for fish, written by \`gpunvme completion fish\`.

function __gpunvme_drives -d 'addresses and names of the NVMe drives of this machine'
    for device in /sys/bus/pci/devices/*
        # PCI class 01h, subclass 08h, interface 02h
        if test -r $device/class; and read -l class < $device/class; and test "$class" = 0x010802
            path basename $device
        end
    end
    for device in /sys/class/nvme/nvme*
        path basename $device
    end
end

# Options that take a value, by the place that they belong to.
set -g __gpunvme_with_value ${nodes.flatMap(withValue).map(quote).join(' ')}

# Words that lead from one place to another: from, word, to.
function __gpunvme_child -a step
    switch $step
${nodes.flatMap(childCases).join('\n')}
        case '*'
            return 1
    end
end

function __gpunvme_at -a place count -d 'whether the words so far lead to a place, and to which of its operands'
    set -l node ''
    set -l operands 0
    set -l skips 0
    for word in (commandline -opc)[2..]
        if test $skips = 1
            set skips 0
        else if string match -q -- '-*' $word
            contains -- "$node/$word" $__gpunvme_with_value; and set skips 1
        else if test $operands = 0; and set -l child (__gpunvme_child "$node/$word")
            set node $child
        else
            set operands (math $operands + 1)
        end
    end
    test "$node" = "$place"; or return 1
    test -z "$count"; or test $operands = $count
end

complete -c gpunvme -f
${nodes.flatMap(completions).join('\n')}
`
}

function withValue({ path, options }: CompletedNode): string[] {
  return options.flatMap(({ names, value }) => (value === undefined ? [] : names.map((name) => `${path}/${name}`)))
}

function childCases({ path, children }: CompletedNode): string[] {
  return children.map(
    (child) => `        case ${quote(`${path}/${child.name}`)}\n            echo ${quote(child.path)}`,
  )
}

function completions(node: CompletedNode): string[] {
  const { path, options, operands, repeats, children } = node
  const at = (index?: number) => {
    const place = quote(path)
    return `complete -c gpunvme -n ${quote(index === undefined ? `__gpunvme_at ${place}` : `__gpunvme_at ${place} ${index}`)}`
  }
  return [
    ...options.map((option) => `${at()} ${flags(option)}`),
    ...children.map(({ name, summary }) => `${at(0)} -a ${quote(name)} -d ${quote(summary)}`),
    ...operands.flatMap((operand, index) => {
      const words = candidates(operand)
      const isEvery = repeats && index === operands.length - 1
      return words === '' ? [] : [`${at(isEvery ? undefined : index)} ${words}`]
    }),
  ]
}

function flags({ names, description, value }: CompletedOption): string {
  const each = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  // Without -x, fish also offers files.
  const taken = value === undefined ? '' : value.kind === 'files' ? ' -r' : ' -x'
  const listed = value === undefined ? '' : ` ${candidates(value)}`
  return `${each.join(' ')}${taken}${listed.trimEnd()} -d ${quote(description)}`
}

function candidates(value: Completes): string {
  switch (value.kind) {
    case 'files':
      return '-F'
    case 'folders':
      return `-a '(__fish_complete_directories)'`
    case 'drives':
      return `-a '(__gpunvme_drives)'`
    case 'words':
      return `-a ${quote(value.words.join(' '))}`
    case 'anything':
      return ''
  }
}

/** Quotes text as one word for fish, which has two escapes inside single quotes. */
function quote(text: string): string {
  return `'${text.replace(/[\\']/g, String.raw`\$&`)}'`
}

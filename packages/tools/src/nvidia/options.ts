import type { ConfiguredOption } from './driver-state.js'

/** Returns the module's options in a file below modprobe.d (modprobe.d(5)). `file` is its name in messages. */
export function optionsIn(file: string, text: string): ConfiguredOption[] {
  return logicalLines(text).flatMap((line) => {
    const [, module, rest] = /^options\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return module === 'nvidia' && rest !== undefined ? words(rest).flatMap((word) => option(file, word)) : []
  })
}

/** Returns the module's options on the kernel command line: nvidia.NVreg_EnableResizableBar=1. */
export function optionsOnCommandLine(text: string): ConfiguredOption[] {
  return words(text).flatMap((word) =>
    word.startsWith('nvidia.') ? option('/proc/cmdline', word.slice('nvidia.'.length)) : [],
  )
}

/** Parses /proc/driver/nvidia/params: 'EnableResizableBar: 0', strings in quotes. */
export function parametersOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const [, name, value = ''] = /^([A-Za-z0-9_]+):\s*(.*)$/.exec(line) ?? []
    return name === undefined ? [] : [[name, value.replace(/^"(.*)"$/, '$1')]]
  })
  return Object.fromEntries(pairs) as Record<string, string>
}

/**
 * Parses NVreg_RegistryDwords: 'RMForceStaticBar1=1;ForceP2P=0x11'. Values that are not numbers are skipped, as by the
 * driver. The last value of a name counts.
 */
export function registryOf(text: string): Record<string, number> {
  const pairs = text.split(';').flatMap((entry) => {
    const [, name, value] = /^\s*([A-Za-z0-9_]+)\s*=\s*(0x[0-9a-f]{1,8}|\d{1,10})\s*$/i.exec(entry) ?? []
    return name === undefined ? [] : [[name, Number(value)] as const]
  })
  return Object.fromEntries(pairs)
}

/** modprobe passes all options of a name, and the module uses the last. */
export function lastOf(options: readonly ConfiguredOption[], name: string): ConfiguredOption | undefined {
  return options.findLast((option) => option.name === name)
}

function option(file: string, word: string): ConfiguredOption[] {
  const at = word.indexOf('=')
  return at <= 0 ? [] : [{ file, name: word.slice(0, at), value: word.slice(at + 1) }]
}

/** Returns lines without comments; a backslash at the end joins a line with the next. */
function logicalLines(text: string): string[] {
  return text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** Splits at blanks outside quotes, and removes the quotes. */
function words(text: string): string[] {
  return (text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) => word.replace(/["']/g, ''))
}

import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { parseDeviceName } from './device-name.js'
import type { Machine } from './machine.js'
import { printable } from '../terminal/printable.js'

/**
 * Returns the addresses of the GPUs and drives named by command-line words: '0000:0b:00.0', '0b:00.0', 'nvme0',
 * '/dev/nvme0n1'.
 * @throws UsageError for a word of another form, NothingThereError.
 */
export function addressesOf(machine: Machine, words: readonly string[]): string[] {
  return [...new Set(words.map((word) => addressOf(machine, word)))]
}

function addressOf({ gpus, drives, functions }: Machine, word: string): string {
  const named = parseDeviceName(word)
  if (named?.kind === 'linux') {
    const drive = drives.find((each) => each.name === named.name)
    if (drive === undefined) throw new NothingThereError(`No PCI drive is named ${named.name}`)
    return drive.address
  }
  if (named?.kind !== 'address')
    throw new UsageError(`'${printable(word)}' names neither a GPU nor a drive`, {
      facts: ['expected a PCI address such as 0000:0b:00.0 or 0b:00.0, or a name such as nvme0'],
      next: { command: ['list'] },
    })
  const { address } = named
  if ([...gpus, ...drives].some((each) => each.address === address)) return address
  const other = functions.find((each) => each.address === address)
  throw new NothingThereError(
    other === undefined
      ? `There is no PCI function ${address}`
      : `${address} is neither a GPU nor an NVMe drive${other.deviceName === undefined ? '' : `, but ${printable(other.deviceName)}`}`,
  )
}

/** Error of an address or name without a GPU or drive. */
export class NothingThereError extends ToolsError {
  constructor(problem: string) {
    super('ERR_GPUNVME_NOTHING_THERE', 'not-found', problem, {
      next: { command: ['list'], note: 'which lists GPUs and drives' },
    })
  }
}

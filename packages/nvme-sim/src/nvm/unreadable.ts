import { STATUS } from '@gpunvme/nvme-spec'
import type { Ended, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { prepareChange, prepareRange } from './checks.js'
import type { IoCommand } from './io-command.js'

/** No retry reads what is marked, as it might read what a medium has trouble with. */
const UNREADABLE: Ended = { ...STATUS.UNRECOVERED_READ_ERROR, retry: 'never' }

/**
 * How many blocks of a namespace may be marked at a time: 1 GiB of them. Blocks, and not ranges, since what is written
 * in the middle of a range makes two of it; with every other block marked they take 16 MiB here.
 */
export const MOST_UNREADABLE_BLOCKS = 2 ** 21

/** Write Uncorrectable (NVM 1.2 §3.3.7). More than may be marked is an Internal Error: no medium has failed. */
export const writeUncorrectable: IoCommand = {
  work: 'write',
  direction: 'none',
  effects: { LBCC: 1 },
  prepare: (command, device) => prepareRange(command, device) ?? prepareChange(command),
  perform(command, { diagnostics }) {
    const { namespace, slba, blocks } = command
    const { unreadable } = namespace!
    if (unreadable.count + blocks - unreadable.countIn(slba, blocks) > MOST_UNREADABLE_BLOCKS) {
      diagnostics.report(
        `${command.words()}: namespace ${namespace!.nsid} has ${unreadable.count} blocks that are marked as unreadable, ` +
          `and may have ${MOST_UNREADABLE_BLOCKS}`,
      )
      return STATUS.INTERNAL_ERROR
    }
    unreadable.add(slba, blocks)
    return STATUS.SUCCESS
  },
}

/** Why blocks of a command cannot be read: some were made uncorrectable, and stay so until they are written. */
export function unreadableStatus(command: ServedCommand, slba = command.slba, blocks = command.blocks) {
  return command.namespace!.unreadable.overlaps(slba, blocks) ? UNREADABLE : undefined
}

/** The same, for commands that have to speak about what is stored: media that move no bytes cannot be asked. */
export function unknownStatus(command: ServedCommand, { diagnostics }: Device): Ended | undefined {
  const { media, nsid } = command.namespace!
  if (media.movesData !== false) return unreadableStatus(command)
  diagnostics.report(`namespace ${nsid} has media that move no bytes: nothing can be said about what is stored there`)
  return UNREADABLE
}

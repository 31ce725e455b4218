import { STATUS } from '@gpunvme/nvme-spec'
import type { Ended, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { prepareChange, prepareRange } from './checks.js'
import type { IoCommand } from './io-command.js'

/** A retry cannot read marked blocks, unlike those of a failing medium. */
const UNREADABLE: Ended = { ...STATUS.UNRECOVERED_READ_ERROR, retry: 'never' }

/**
 * Maximum number of marked blocks of a namespace: 1 GiB. Blocks are limited, not ranges, since writing into the middle
 * of a range splits it; with every other block marked they take 16 MiB.
 */
export const MAX_UNREADABLE_BLOCKS = 2 ** 21

/** Write Uncorrectable (NVM 1.2 §3.3.7). Exceeding the limit is an Internal Error, since no medium has failed. */
export const writeUncorrectable: IoCommand = {
  work: 'write',
  direction: 'none',
  effects: { LBCC: 1 },
  prepare: (command, device) => prepareRange(command, device) ?? prepareChange(command),
  perform(command, { diagnostics }) {
    const { namespace, slba, blocks } = command
    const { unreadable } = namespace!
    if (unreadable.count + blocks - unreadable.countIn(slba, blocks) > MAX_UNREADABLE_BLOCKS) {
      diagnostics.report(
        'simulator-limit',
        `${command.describe()}: namespace ${namespace!.nsid} has ${unreadable.count} blocks marked as unreadable, ` +
          `of at most ${MAX_UNREADABLE_BLOCKS}`,
      )
      return STATUS.INTERNAL_ERROR
    }
    unreadable.add(slba, blocks)
    return STATUS.SUCCESS
  },
}

/** Returns why blocks of a command cannot be read: those made uncorrectable stay so until they are written. */
export function unreadableStatus(command: ServedCommand, slba = command.slba, blocks = command.blocks) {
  return command.namespace!.unreadable.overlaps(slba, blocks) ? UNREADABLE : undefined
}

/** Likewise, for commands that depend on stored data: not available on media that move no bytes. */
export function unknownStatus(command: ServedCommand, { diagnostics }: Device): Ended | undefined {
  const { media, nsid } = command.namespace!
  if (media.movesData !== false) return unreadableStatus(command)
  diagnostics.report(
    'simulator-limit',
    `namespace ${nsid} has media that move no bytes: its contents cannot be checked`,
  )
  return UNREADABLE
}

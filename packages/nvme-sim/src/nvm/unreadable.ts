import { STATUS } from '@gpunvme/nvme-spec'
import type { Ended, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { prepareChange, prepareRange } from './checks.js'
import type { IoCommand } from './io-command.js'

/** No retry reads what is marked, as it might read what a medium has trouble with. */
const UNREADABLE: Ended = { ...STATUS.UNRECOVERED_READ_ERROR, retry: 'never' }

/** Write Uncorrectable (NVM 1.2 §3.3.7). */
export const writeUncorrectable: IoCommand = {
  work: 'write',
  direction: 'none',
  effects: { LBCC: 1 },
  prepare: (command, device) => prepareRange(command, device) ?? prepareChange(command),
  perform({ namespace, slba, blocks }) {
    namespace!.unreadable.add(slba, blocks)
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

import type { StatusCode } from '@gpunvme/nvme-spec'
import type { Ended, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import type { MediaWork } from '../model/drive-timing.js'

/** Side effects of a command, as in the Commands Supported and Effects log. */
export type Effects = Readonly<Partial<Record<'LBCC' | 'NCC' | 'NIC' | 'CCC' | 'CSE', number>>>

/** A command of the NVM Command Set, in two steps between which its time passes. */
export interface IoCommand {
  /** Its work on the media. */
  readonly work: MediaWork
  /** Direction of its data on the link. */
  readonly direction: 'to-host' | 'from-host' | 'none'
  readonly effects?: Effects
  /**
   * All checks before data move; returns undefined on success. Sets the inputs of `perform`: the namespace, the blocks,
   * and the bytes that cross the link with their memory.
   */
  prepare(command: ServedCommand, device: Device): StatusCode | undefined
  /**
   * Executes the command when its time has passed; it takes effect at once. Returns undefined after a part of a long
   * operation: it is called again after other commands had their turn.
   */
  perform(command: ServedCommand, device: Device): Ended | undefined
}

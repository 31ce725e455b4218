import type { StatusCode } from '@gpunvme/nvme-spec'
import type { Ended, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import type { MediaWork } from '../model/drive-timing.js'

/** What a command does beside its own work, as the Commands Supported and Effects log says. */
export type Effects = Readonly<Partial<Record<'LBCC' | 'NCC' | 'NIC' | 'CCC' | 'CSE', number>>>

/** A command of the NVM Command Set, in the two steps between which its time passes. */
export interface IoCommand {
  /** What the media has to do for it. */
  readonly work: MediaWork
  /** Which way its data crosses the link. */
  readonly direction: 'to-host' | 'from-host' | 'none'
  readonly effects?: Effects
  /**
   * Everything that can be refused before data moves; undefined is fit to go on. Sets what `perform` works with:
   * the namespace, the blocks, and the bytes that cross the link with the memory that they lie in.
   */
  prepare(command: ServedCommand, device: Device): StatusCode | undefined
  /**
   * The command takes effect, all at once, when its time has passed. Undefined: it has done a part of what takes long, and
   * is asked again when others had their turn.
   */
  perform(command: ServedCommand, device: Device): Ended | undefined
}

import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import { printable } from '../terminal/printable.js'

/** Where models stay after the command has ended. */
export interface Place {
  /** As it was given: 'drive.img', 'nvme0'. */
  readonly name: string
  /** The option that names it, for the next command: '--image drive.img'. */
  readonly option: string
}

/** Undefined of a drive in memory, which goes with the command. */
export function placeOf({ image, drive, socket }: DriveFlags): Place | undefined {
  if (drive !== undefined) return { name: drive, option: `--drive ${printable(drive)}` }
  if (image !== undefined) return { name: image, option: `--image ${printable(image)}` }
  if (socket !== undefined) return { name: socket, option: `--socket ${printable(socket)}` }
  return undefined
}

/** @param command the verb with what goes before its options: 'rm draft'. @throws UsageError */
export function requirePlace(flags: DriveFlags, command: string): Place {
  const place = placeOf(flags)
  if (place !== undefined) return place
  throw new UsageError(`${command.split(' ')[0]!} needs a drive`, {
    next: `gpunvme ${command} --image FILE, or --drive ADDRESS`,
  })
}

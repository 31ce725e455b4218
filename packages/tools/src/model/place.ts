import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import { requireNamedDrive } from '../drive/require-named.js'

/** Where models stay after the command has ended. */
export interface Place {
  /** As it was given: 'drive.img', 'nvme0'. */
  readonly name: string
  /** The option that names it, for the next command: `['--image', 'drive.img']`. */
  readonly option: readonly [name: string, value: string]
}

/** Undefined of a drive in memory, which goes with the command. */
export function placeOf({ image, drive, socket }: DriveFlags): Place | undefined {
  if (drive !== undefined) return { name: drive, option: ['--drive', drive] }
  if (image !== undefined) return { name: image, option: ['--image', image] }
  if (socket !== undefined) return { name: socket, option: ['--socket', socket] }
  return undefined
}

/**
 * Returns the place that the flags name.
 * @param words arguments between the verb and its options.
 * @throws UsageError where no drive is named, and for a simulated drive without an image, whose contents end with the command.
 */
export async function requirePlace(flags: DriveFlags, verb: string, ...words: readonly string[]): Promise<Place> {
  const place = placeOf(flags)
  if (place !== undefined) return place
  await requireNamedDrive(flags)
  throw new UsageError(`${verb} requires a drive that keeps its contents`, {
    facts: ['a simulated drive without --image is in memory, and ends with the command'],
    next: { command: [verb, ...words, '--image', 'FILE'], note: 'or --drive ADDRESS' },
  })
}

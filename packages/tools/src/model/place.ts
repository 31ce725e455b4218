import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import { requireNamedDrive } from '../drive/require-named.js'

/** Where models stay after the command has ended. */
export interface Place {
  /** As it was given: 'drive.img', 'nvme0'; of a set 'a.img, b.img'. */
  readonly name: string
  /** The options that name it, for the next command: `['--image', 'drive.img']`. */
  readonly options: readonly string[]
}

/** Undefined of a drive in memory, which goes with the command. @param drives several are those of a set */
export function placeOf(drives: readonly DriveFlags[]): Place | undefined {
  const options = drives.map(optionOf)
  const named = options.flatMap((option) => (option === undefined ? [] : [option]))
  if (named.length === 0) return undefined
  return { name: named.map(([, value]) => value).join(', '), options: named.flat() }
}

/** Returns the name of each drive of a set, as it was given. */
export function namesOf(drives: readonly DriveFlags[]): string[] {
  return drives.map((drive) => placeOf([drive])?.name ?? 'the simulated drive')
}

function optionOf({ image, drive, socket }: DriveFlags): readonly [option: string, value: string] | undefined {
  if (drive !== undefined) return ['--drive', drive]
  if (image !== undefined) return ['--image', image]
  return socket === undefined ? undefined : ['--socket', socket]
}

/**
 * Returns the place that the flags name.
 * @param words arguments between the verb and its options.
 * @throws UsageError where no drive is named, and for a simulated drive without an image, whose contents end with the command.
 */
export async function requirePlace(
  drives: readonly DriveFlags[],
  verb: string,
  ...words: readonly string[]
): Promise<Place> {
  const place = placeOf(drives)
  if (place !== undefined) return place
  for (const drive of drives) await requireNamedDrive(drive)
  throw new UsageError(`${verb} requires a drive that keeps its contents`, {
    facts: ['a simulated drive without --image is in memory, and ends with the command'],
    next: { command: [verb, ...words, '--image', 'FILE'], note: 'or --drive ADDRESS' },
  })
}

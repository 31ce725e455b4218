import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { requireNamedDrive } from '../drive/require-named.js'

/** Storage of models that outlives the command. */
export interface Place {
  /** Name as given: 'drive.img', 'nvme0'; for a set 'a.img, b.img'. */
  readonly name: string
  /** Options that name it in further commands: `['--image', 'drive.img']`. */
  readonly options: readonly string[]
}

/** Returns undefined for a drive in memory. @param drives several for a set */
export function placeOf(drives: readonly DriveFlags[]): Place | undefined {
  const options = drives.map(optionOf)
  const named = options.flatMap((option) => (option === undefined ? [] : [option]))
  if (named.length === 0) return undefined
  return { name: named.map(([, value]) => value).join(', '), options: named.flat() }
}

/** Returns the name of each drive of a set, as given. */
export function namesOf(drives: readonly DriveFlags[]): string[] {
  return drives.map((drive) => placeOf([drive])?.name ?? 'the simulated drive')
}

function optionOf({ image, drive, socket }: DriveFlags): readonly [option: string, value: string] | undefined {
  if (drive !== undefined) return ['--drive', drive]
  if (image !== undefined) return ['--image', image]
  return socket === undefined ? undefined : ['--socket', socket]
}

/**
 * Returns the place of the flags.
 * @param words arguments between the verb and its options.
 * @throws UsageError without a named drive, and for a simulated drive without an image, whose data end with the
 * command.
 */
export async function requirePlace(
  drives: readonly DriveFlags[],
  verb: string,
  ...words: readonly string[]
): Promise<Place> {
  const place = placeOf(drives)
  if (place !== undefined) return place
  for (const drive of drives) await requireNamedDrive(drive)
  throw new UsageError(`${verb} requires a drive that keeps its data`, {
    facts: ['a simulated drive without --image loses its data when the command ends'],
    next: { command: [...verb.split(' '), ...words, '--image', 'FILE'], note: 'or --drive ADDRESS' },
  })
}

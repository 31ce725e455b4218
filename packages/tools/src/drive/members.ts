import { stat } from 'node:fs/promises'
import type { DriveFlags, SeveralFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { printable } from '../terminal/printable.js'
import { addressOf } from './find-drive.js'

/** Flags of one of the given drives. */
export type Member<F extends SeveralFlags> = Omit<F, keyof SeveralFlags> & DriveFlags & { readonly serial?: string }

/**
 * Returns the flags of each drive; without a named drive, only the common flags.
 * @throws UsageError for drives of different kinds, a duplicate drive, and a wrong number of serial numbers
 */
export async function membersOf<F extends SeveralFlags>(flags: F): Promise<Member<F>[]> {
  const { drive, image, socket, serial, ...common } = flags
  const kinds = Object.entries({ drive, image, socket }).filter(([, names]) => names !== undefined)
  const [first, other] = kinds
  const [kind, names = []] = first ?? []
  if (other !== undefined)
    throw new UsageError(`--${other[0]} and --${kind} are mutually exclusive`, { next: `omit --${other[0]}` })
  const drives = Math.max(1, names.length)
  if (serial !== undefined && serial.length !== drives)
    throw new UsageError(`--serial is given ${serial.length} times for ${drives} drives`, {
      next: 'use one --serial per drive, in the order of the drives',
    })
  if (kind !== undefined) await refuseTwice(kind, names)
  return Array.from({ length: drives }, (_, at) => ({
    ...common,
    ...(kind !== undefined && { [kind]: names[at] }),
    ...(serial !== undefined && { serial: serial[at] }),
  }))
}

/** @throws UsageError for two names of the same drive or file */
async function refuseTwice(kind: string, names: readonly string[]): Promise<void> {
  const seen = new Map<string, string>()
  if (names.length === 1) return
  for (const name of names) {
    const identity = kind === 'drive' ? addressOf(name, '/') : await fileIdentity(name)
    const before = seen.get(identity)
    if (before !== undefined) {
      const headline =
        before === name
          ? `--${kind} ${printable(name)} is given more than once`
          : `--${kind} ${printable(before)} and --${kind} ${printable(name)} are the same`
      throw new UsageError(headline, { next: 'name each drive of the set once' })
    }
    seen.set(identity, name)
  }
}

/** Opening an unreadable file reports the error. */
async function fileIdentity(path: string): Promise<string> {
  return stat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => path,
  )
}

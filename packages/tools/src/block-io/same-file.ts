import { statSync, type BigIntStats } from 'node:fs'
import { tryRead } from '../command-line/file-error.js'

/** Returns whether two paths refer to the same file; false if one does not exist or is not readable. */
export function sameFile(one: string, other: string): boolean {
  const [a, b] = [statsOf(one), statsOf(other)]
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function statsOf(path: string): BigIntStats | undefined {
  // Opening the file reports the error.
  return tryRead(() => statSync(path, { bigint: true }))
}

import { statSync, type BigIntStats } from 'node:fs'
import { isSystemError } from '../command-line/file-error.js'

/** Returns whether two paths refer to the same file; false if one does not exist or is not readable. */
export function sameFile(one: string, other: string): boolean {
  const [a, b] = [statsOf(one), statsOf(other)]
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    // Opening the file reports the error.
    if (isSystemError(error)) return undefined
    throw error
  }
}

import { statSync, type BigIntStats } from 'node:fs'
import { isSystemError } from '../command-line/file-error.js'

/** Whether two names are of the same file. Not where one of them is of none, or of one that cannot be looked at. */
export function sameFile(one: string, other: string): boolean {
  const [a, b] = [statsOf(one), statsOf(other)]
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    // Whoever opens it says what is wrong with it.
    if (isSystemError(error)) return undefined
    throw error
  }
}

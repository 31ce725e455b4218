import { statSync } from 'node:fs'

/** Whether two names are of the same file. Not where one of them is of none. */
export function sameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

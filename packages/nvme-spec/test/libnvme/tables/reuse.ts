// Tables of Linux out of those of libnvme: both call most things alike, and Linux has fewer of them.
import type { Numbers, Struct } from '../table.js'

type Names = Readonly<Record<string, string>>

/** A group of a table with other properties. */
export function like(group: Numbers | string | undefined, changes: Partial<Numbers> = {}): Numbers {
  if (typeof group !== 'object') throw new Error('expected a group of a table of libnvme, got none')
  return { ...group, ...changes }
}

/** The names of a group that are among some. */
export function only(group: Numbers | string | undefined, names: readonly string[]): Names {
  return Object.fromEntries(Object.entries(like(group).names ?? {}).filter(([name]) => names.includes(name)))
}

/** The names of a group that are not among some. */
export function without(group: Numbers | string | undefined, names: readonly string[]): Names {
  return Object.fromEntries(Object.entries(like(group).names ?? {}).filter(([name]) => !names.includes(name)))
}

/** The names of the members of a structure. */
export function membersOf(group: Struct | string | undefined): Names {
  if (typeof group !== 'object') throw new Error('expected a structure of a table of libnvme, got none')
  return group.names ?? {}
}

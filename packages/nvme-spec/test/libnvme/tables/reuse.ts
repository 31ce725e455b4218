// Tables of Linux out of those of libnvme: both call most things alike, and Linux has fewer of them.
import type { Numbers, Structs } from '../table.js'

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
export function membersOf(group: Structs | undefined): Names {
  if (typeof group !== 'object' || !('ours' in group))
    throw new Error('expected a structure of a table of libnvme, got none')
  return group.names ?? {}
}

/** A structure as another table has it. */
export function same(structs: Readonly<Record<string, Structs>>, name: string): Structs {
  const group = structs[name]
  if (group === undefined) throw new Error(`expected ${name} in a table of libnvme, got none`)
  return group
}

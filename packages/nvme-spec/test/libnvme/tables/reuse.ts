// Derives tables of Linux from those of libnvme: most names are the same, and Linux has fewer of them.
import type { Numbers, Structs } from '../table.js'

type Names = Readonly<Record<string, string>>

/** Returns a group of a table with changed properties. */
export function like(group: Numbers | string | undefined, changes: Partial<Numbers> = {}): Numbers {
  if (typeof group !== 'object') throw new Error('expected a group of a table of libnvme, got none')
  return { ...group, ...changes }
}

/** Returns those names of a group that are in `names`. */
export function only(group: Numbers | string | undefined, names: readonly string[]): Names {
  return Object.fromEntries(Object.entries(like(group).names ?? {}).filter(([name]) => names.includes(name)))
}

/** Returns those names of a group that are not in `names`. */
export function without(group: Numbers | string | undefined, names: readonly string[]): Names {
  return Object.fromEntries(Object.entries(like(group).names ?? {}).filter(([name]) => !names.includes(name)))
}

/** Returns the member names of a structure. */
export function membersOf(group: Structs | undefined): Names {
  if (typeof group !== 'object' || !('ours' in group))
    throw new Error('expected a structure of a table of libnvme, got none')
  return group.names ?? {}
}

/** Returns a structure of another table. */
export function same(structs: Readonly<Record<string, Structs>>, name: string): Structs {
  const group = structs[name]
  if (group === undefined) throw new Error(`expected ${name} in a table of libnvme, got none`)
  return group
}

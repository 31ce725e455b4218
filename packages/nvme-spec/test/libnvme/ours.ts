import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFacts } from './facts.js'

/** Include folder of nvme_spec.h. */
export const include = join(import.meta.dirname, '..', '..', 'include')

/** Text of nvme_spec.h. */
export const header = readFileSync(join(include, 'gpunvme', 'nvme_spec.h'), 'utf8')

/** Declarations of nvme_spec.h: names of macros without GPUNVME_, and members of structures. */
export interface Ours {
  readonly macros: ReadonlySet<string>
  readonly structs: ReadonlyMap<string, ReadonlySet<string>>
}

export function readOurs(text: string): Ours {
  const { numbers, layouts } = readFacts(text, /^GPUNVME_/)
  return {
    macros: new Set(numbers.map(({ name }) => name.replace(/^GPUNVME_/, ''))),
    structs: new Map(
      layouts.map(({ name, members }) => [
        name.replace(/^gpunvme_/, ''),
        new Set(members.map((member) => member.name)),
      ]),
    ),
  }
}

/** Kinds of items in nvme_spec.h. */
export type Kind = 'structures' | 'members' | 'fields' | 'numbers'

/** Returns all items of nvme_spec.h by kind, without reserved members and members that rows share. */
export function itemsOf({ macros, structs }: Ours): ReadonlyMap<Kind, ReadonlySet<string>> {
  const fields = [...macros].filter((name) => /_(SHIFT|BITS)$/.test(name))
  const derived = new Set(fields.flatMap((name) => ['SHIFT', 'MASK', 'BITS', 'DWORD'].map((end) => swap(name, end))))
  return new Map<Kind, ReadonlySet<string>>([
    ['structures', new Set(structs.keys())],
    [
      'members',
      new Set(
        [...structs].flatMap(([struct, members]) =>
          [...members].filter((name) => !/^(reserved|bits)_\d+$/.test(name)).map((name) => `${struct}.${name}`),
        ),
      ),
    ],
    ['fields', new Set(fields.map((name) => name.replace(/_(SHIFT|BITS)$/, '')))],
    ['numbers', new Set([...macros].filter((name) => !derived.has(name)))],
  ])
}

const swap = (name: string, end: string) => name.replace(/_(SHIFT|BITS)$/, `_${end}`)

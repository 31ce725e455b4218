import type { Facts } from './facts.js'
import { judge, type Judged, type Sources } from './judge.js'
import { match } from './match.js'
import { itemsOf, readOurs, type Kind } from './ours.js'
import type { Difference, Table } from './table.js'

/** Another header, with its table. */
export interface Case extends Sources {
  readonly facts: Facts
  readonly table: Table
  /** Path of the table, for messages. */
  readonly where: string
  readonly differences: Readonly<Record<string, Difference>>
  /** Text of nvme_spec.h, which is in the first of the folders. */
  readonly header: string
}

/** Result of a comparison. */
export interface Report {
  readonly compared: readonly Judged[]
  /** Number of facts without a counterpart, and of reserved members. */
  readonly absent: number
  readonly reserved: number
  /** Number of differences that the list explains. */
  readonly explained: number
  /** Facts missing from the table, and unexplained differences. */
  readonly problems: readonly string[]
  /** Unused entries of tables and lists. */
  readonly useless: readonly string[]
  /** Items of nvme_spec.h of which all compared values are equal, by kind. */
  readonly confirmed: ReadonlyMap<Kind, ReadonlySet<string>>
}

export function report({ facts, table, where, differences, header, ...sources }: Case): Report {
  const ours = readOurs(header)
  const { pairs, absent, reserved, unknown, useless } = match(facts, table, ours, where)
  const compared = judge(pairs, sources)
  const different = compared.filter(({ values: [theirs, ours] }) => theirs !== ours)
  const unexplained = different.filter(({ fact, values }) => {
    const known = differences[fact]
    return known === undefined || BigInt(known.theirs) !== values[0] || BigInt(known.ours) !== values[1]
  })
  const found = new Set(different.map(({ fact }) => fact))
  const equal = new Set(compared.flatMap(({ confirms }) => confirms))
  for (const item of different.flatMap(({ confirms }) => confirms)) equal.delete(item)
  const confirmed = Array.from(itemsOf(ours), ([kind, items]) => [kind, intersection(items, equal)] as const)
  return {
    compared,
    absent,
    reserved,
    explained: found.size - new Set(unexplained.map(({ fact }) => fact)).size,
    problems: [
      ...unknown,
      ...unexplained.map(
        ({ fact, ours, values: [theirs, value] }) =>
          `${fact} is ${show(theirs)}, but ${ours} is ${show(value)}: correct the declaration, or list both values in differences.ts with the source that confirms one of them`,
      ),
    ],
    useless: [
      ...useless,
      ...Object.keys(differences)
        .filter((fact) => !found.has(fact))
        .map((fact) => `${fact} is listed in differences.ts, but does not differ; remove it`),
    ],
    confirmed: new Map(confirmed),
  }
}

/** Returns a line with the number of compared facts and of confirmed items. */
export function summary(judgeName: string, header: string, { compared, absent, explained, confirmed }: Report): string {
  const all = itemsOf(readOurs(header))
  const counts = Array.from(confirmed, ([kind, items]) => `${items.size} of ${all.get(kind)?.size ?? 0} ${kind}`)
  return `${judgeName}: ${compared.length} facts compared, ${explained} explained differences, ${absent} without counterpart; confirms ${counts.join(', ')}`
}

/** Prints a line to the output of the test run. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const show = (value: bigint) => `0x${value.toString(16)}`

function intersection(items: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...items].filter((item) => others.has(item)))
}

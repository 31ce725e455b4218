// Which expression of ours is to equal which of theirs, by the tables; and everything that the tables leave open.
import type { Facts, Layout, NamedNumber } from './facts.js'
import type { Ours } from './ours.js'
import type { Absent, Numbers, Struct, Table } from './table.js'

/** Two expressions of C that should be equal. */
export interface Pair {
  /** The fact, in words: `NVME_CAP_TO_SHIFT`, `offsetof nvme_id_ctrl.vid`. */
  readonly fact: string
  readonly theirs: string
  readonly ours: string
  /** The items of our header, as itemsOf() names them, that are right where the expressions are equal. */
  readonly confirms: readonly string[]
}

export interface Matched {
  readonly pairs: readonly Pair[]
  /** How many of theirs have no counterpart, for a reason. */
  readonly absent: number
  readonly reserved: number
  /** What is in no table: something new. */
  readonly unknown: readonly string[]
  /** What is in a table, but not in their header. */
  readonly useless: readonly string[]
}

/** Members that hold nothing. */
const RESERVED = /^(rsvd|resv|reserved)\w*\d*$/

export function match(facts: Facts, table: Table, ours: Ours, where: string): Matched {
  const matcher = new Matcher(table, ours, where)
  for (const number of facts.numbers) matcher.number(number)
  for (const layout of facts.layouts) matcher.layout(layout)
  return matcher.finish()
}

class Matcher {
  private readonly pairs: Pair[] = []
  private readonly unknown: string[] = []
  private readonly used = new Set<string>()
  private absent = 0
  private reserved = 0
  /** What names may begin with, the longest first. */
  private readonly prefixes: readonly string[]

  private readonly table: Table
  private readonly ours: Ours
  private readonly where: string

  constructor(table: Table, ours: Ours, where: string) {
    this.table = table
    this.ours = ours
    this.where = where
    this.prefixes = Object.keys(table.numbers).toSorted((a, b) => b.length - a.length)
  }

  number({ name, owner }: NamedNumber): void {
    const key = owner in this.table.numbers ? owner : this.prefixes.find((prefix) => name.startsWith(prefix))
    const group = key === undefined ? undefined : this.table.numbers[key]
    if (key === undefined || group === undefined) {
      this.unknown.push(
        `${name}${owner === '' ? '' : ` of enum ${owner}`}: add it to numbers in ${this.where}: what it is in our header, or why it is not`,
      )
      return
    }
    this.used.add(`numbers ${key}`)
    if (typeof group === 'string') {
      this.absent++
      return
    }
    const rest = name.startsWith(group.theirs) ? name.slice(group.theirs.length) : name
    const listed = `numbers ${key}`
    const pair = group.pairs?.[rest]
    if (pair !== undefined) {
      this.used.add(`${listed} ${rest}`)
      for (const expression of typeof pair === 'string' ? [pair] : pair) this.numberPair(name, expression, key)
      return
    }
    const [base, end] = split(group, rest)
    const found = [rest, base].find((name) => group.names?.[name] !== undefined)
    if (found === undefined && this.isAbsent(listed, group.absent, rest)) return
    if (found !== undefined) this.used.add(`${listed} ${found}`)
    for (const our of (group.names?.[found ?? ''] ?? base).split(' ')) {
      const tail = found === rest ? '' : end
      this.numberPair(name, byRule(group, our, tail), key)
      for (const template of group.also ?? []) {
        const expression = byRule({ ...group, ours: '' }, template.replace('*', our), tail)
        if (needsOf(expression).macros.every((macro) => this.ours.macros.has(macro)))
          this.numberPair(name, expression, key)
      }
    }
  }

  private numberPair(name: string, expression: string, key: string): void {
    const { macros, members, structs } = needsOf(expression)
    const missing = [
      ...macros.filter((macro) => !this.ours.macros.has(macro)).map((macro) => `GPUNVME_${macro}`),
      ...members.filter((member) => !this.hasMember(member)),
      ...structs.filter((struct) => !this.ours.structs.has(struct)),
    ]
    if (missing.length > 0)
      this.unknown.push(
        `${name}: no ${missing.join(', ')} in our header; say in ${key} of ${this.where} what it is (names, pairs) or why it is not ours (absent)`,
      )
    else
      this.pairs.push({
        ...{ fact: name, theirs: name, ours: inC(expression) },
        confirms: [...this.itemsOf(macros), ...members, ...structs],
      })
  }

  layout({ name, members }: Layout): void {
    const group = this.table.structs[name]
    if (group === undefined) {
      this.unknown.push(
        `struct ${name}: add it to structs in ${this.where}: what it is in our header, or why it is not`,
      )
      return
    }
    const key = `structs ${name}`
    this.used.add(key)
    if (typeof group === 'string') this.absentStruct(name, members.length)
    else for (const struct of 'ours' in group ? [group] : group) this.structPairs(key, { name, members }, struct)
  }

  /** A structure that is not ours, for a reason: none excuses what has our name for it. */
  private absentStruct(name: string, members: number): void {
    this.absent += members
    const plain = (tag: string) => tag.replace(/^(gpu)?nvme_/, '').replaceAll('_', '')
    for (const tag of this.ours.structs.keys()) {
      if (plain(tag) === plain(name))
        this.unknown.push(
          `struct ${name}: structs of ${this.where} says why it is not ours, but there is a struct gpunvme_${tag}; compare them`,
        )
    }
  }

  private structPairs(key: string, { name, members }: Layout, group: Struct): void {
    if (!this.ours.structs.has(group.ours)) {
      this.unknown.push(`struct ${name}: no struct gpunvme_${group.ours} in our header; see structs of ${this.where}`)
      return
    }
    if (!this.isAbsent(key, group.absent, 'sizeof')) {
      const [theirs, ours] = [`sizeof(struct ${name})`, `sizeof(struct gpunvme_${group.ours})`]
      this.pairs.push({ fact: theirs, theirs, ours, confirms: [group.ours] })
    }
    for (const { name: member, flexible } of members) {
      if (RESERVED.test(member) && group.names?.[member] === undefined) {
        this.reserved++
        continue
      }
      if (this.isAbsent(key, group.absent, member)) continue
      if (group.names?.[member] !== undefined) this.used.add(`${key} ${member}`)
      this.member(name, member, flexible, group)
    }
  }

  private member(struct: string, member: string, flexible: boolean, group: Struct): void {
    const fact = `${struct}.${member}`
    for (const target of (group.names?.[member] ?? member.toLowerCase()).split(' ')) {
      this.memberPairs(fact, struct, member, flexible, group.ours, target)
    }
  }

  private memberPairs(fact: string, struct: string, member: string, flexible: boolean, tag: string, target: string) {
    const place = this.placeOf(tag, target)
    if (place === undefined) {
      this.unknown.push(
        `${fact}: no ${target} in struct gpunvme_${tag}; say in structs of ${this.where} what it is (names) or why it is not ours (absent)`,
      )
      return
    }
    this.pairs.push({
      fact: `offsetof ${fact}`,
      theirs: `offsetof(struct ${struct}, ${member})`,
      ours: place.offset,
      confirms: place.confirms,
    })
    if (flexible || place.size === undefined) return
    this.pairs.push({
      fact: `sizeof ${fact}`,
      theirs: `sizeof(((struct ${struct} *)0)->${member})`,
      ours: place.size,
      confirms: place.confirms,
    })
  }

  /** Where something of ours is, as Struct.names says it. */
  private placeOf(struct: string, target: string) {
    if (target.endsWith('.end')) {
      const tag = target.slice(0, -'.end'.length) || struct
      if (!this.ours.structs.has(tag)) return undefined
      return { offset: `sizeof(struct gpunvme_${tag})`, size: undefined, confirms: [tag] }
    }
    if (/^[A-Z]/.test(target)) return this.fieldPlace(target)
    if (target.startsWith(':')) return this.rowPlace('', target.slice(1))
    const [, only, other, first = '', last, row] = /^(@?)(?:(\w+)\.)?(\w+)(?:-(\w+))?(?::(\w+))?$/.exec(target) ?? []
    const tag = other ?? struct
    const members = [first, ...(last === undefined ? [] : [last])]
    if (!members.every((member) => this.hasMember(`${tag}.${member}`))) return undefined
    const at = (member: string) => `offsetof(struct gpunvme_${tag}, ${member})`
    const sizeOf = (member: string) => `sizeof(((struct gpunvme_${tag} *)0)->${member})`
    if (row !== undefined) return this.rowPlace(`${at(first)} + `, row)
    const size = last === undefined ? sizeOf(first) : `${at(last)} + ${sizeOf(last)} - ${at(first)}`
    const all = [...(this.ours.structs.get(tag) ?? [])]
    const range = all.slice(all.indexOf(first), all.indexOf(last ?? first) + 1)
    const confirms = range.map((member) => `${tag}.${member}`)
    return { offset: at(first), size: only === '@' ? undefined : size, confirms }
  }

  /** The byte that a row begins in. */
  private rowPlace(base: string, row: string) {
    if (!this.ours.macros.has(`${row}_SHIFT`)) return undefined
    return { offset: `${base}GPUNVME_${row}_SHIFT / 8`, size: undefined, confirms: [row] }
  }

  /** Where in its entry the field of a command is. */
  private fieldPlace(field: string) {
    const has = (end: string) => this.ours.macros.has(`${field}_${end}`)
    if (!has('DWORD')) return undefined
    const confirms = [field]
    const dword = `4 * GPUNVME_${field}_DWORD`
    if (has('BITS')) return { offset: dword, size: `GPUNVME_${field}_BITS / 8`, confirms }
    return {
      offset: `${dword} + GPUNVME_${field}_SHIFT / 8`,
      size: `__builtin_popcountll(GPUNVME_${field}_MASK) / 8`,
      confirms,
    }
  }

  private hasMember(path: string): boolean {
    const [struct = '', member = ''] = path.split('.')
    return this.ours.structs.get(struct)?.has(member) === true
  }

  private isAbsent(key: string, absent: Absent = {}, name: string): boolean {
    const pattern = Object.values(absent)
      .flat()
      .find((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
    if (pattern === undefined) return false
    this.used.add(`${key} ${pattern}`)
    if (name !== 'sizeof') this.absent++
    return true
  }

  /** The fields and numbers that macros belong to. */
  private itemsOf(macros: readonly string[]): string[] {
    const fieldOf = (name: string) => name.replace(/_(SHIFT|MASK)$/, '')
    return [...new Set(macros.map((name) => (this.ours.macros.has(`${fieldOf(name)}_SHIFT`) ? fieldOf(name) : name)))]
  }

  finish(): Matched {
    const numbers = Object.entries(this.table.numbers).flatMap(([name, group]) =>
      entries(
        `numbers ${name}`,
        typeof group === 'string' ? [] : [{ ...group.names, ...group.pairs }],
        typeof group === 'string' ? [] : [group.absent],
      ),
    )
    const structs = Object.entries(this.table.structs).flatMap(([name, group]) => {
      const all = typeof group === 'string' ? [] : 'ours' in group ? [group] : group
      return entries(
        `structs ${name}`,
        all.map(({ names }) => names ?? {}),
        all.map(({ absent }) => absent),
      )
    })
    const listed = [...numbers, ...structs]
    const useless = listed
      .filter((entry) => !this.used.has(entry))
      .map((entry) => `${entry}: nothing of theirs uses this entry of ${this.where}; remove it`)
    const { pairs, absent, reserved, unknown } = this
    return { pairs, absent, reserved, unknown, useless }
  }
}

/** What a name says of a word: the field, and whether it is its place (_SHIFT) or its ones (_MASK). */
function split({ as }: Numbers, rest: string): [base: string, end: string] {
  const [, base, end] = (as === 'word' && /^(.*)(_SHIFT|_MASK)$/.exec(rest)) || []
  return [base ?? rest, end ?? '']
}

/** The expression of a name of ours. */
function byRule({ ours, as }: Numbers, name: string, end: string): string {
  const macro = ours + name
  if (as === 'mask') return `${macro}_MASK`
  return end === '_MASK' ? `ONES(${macro})` : macro + end
}

/** What an expression needs of our header: macros, members as `struct.member`, and structures. */
function needsOf(expression: string): { macros: string[]; members: string[]; structs: string[] } {
  const members = Array.from(expression.matchAll(/\b(?:AT|BITS)\((\w+), (\w+)\)/g), (found) => found.slice(1).join('.'))
  const structs = Array.from(expression.matchAll(/\bSIZE\((\w+)\)/g), ([, struct = '']) => struct)
  const macros = Array.from(expression.matchAll(/ONES\((\w+)\)|\b(?!(?:AT|BITS|SIZE)\b)[A-Z]\w+/g), ([name, field]) =>
    field === undefined ? [name] : [`${field}_SHIFT`, `${field}_MASK`],
  )
  return { macros: macros.flat(), members, structs }
}

/** An expression with the whole names of our macros. */
const inC = (expression: string) => expression.replace(/\b(?!(?:ONES|AT|BITS|SIZE)\b)[A-Z]\w+/g, 'GPUNVME_$&')

/** The entries of a group, as `used` has them. */
function entries(key: string, names: readonly object[], absent: readonly (Absent | undefined)[]): string[] {
  const rests = [
    ...names.flatMap((all) => Object.keys(all)),
    ...absent.flatMap((all) => Object.values(all ?? {}).flat()),
  ]
  return [key, ...rests.map((rest) => `${key} ${rest}`)]
}

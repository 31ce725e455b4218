// Pairs the expressions of another header with those of nvme_spec.h according to a table, and finds gaps in the table.
import type { Facts, Layout, NamedNumber } from './facts.js'
import type { Ours } from './ours.js'
import type { Absent, Numbers, Struct, Table } from './table.js'

/** Two expressions of C that should be equal. */
export interface Pair {
  /** Name of the fact: `NVME_CAP_TO_SHIFT`, `offsetof nvme_id_ctrl.vid`. */
  readonly fact: string
  readonly theirs: string
  readonly ours: string
  /** Items of nvme_spec.h that equal values confirm, named as by itemsOf(). */
  readonly confirms: readonly string[]
}

export interface Matched {
  readonly pairs: readonly Pair[]
  /** Number of facts without a counterpart, for a listed reason. */
  readonly absent: number
  readonly reserved: number
  /** Facts missing from the table. */
  readonly unknown: readonly string[]
  /** Entries of the table that match nothing in the header. */
  readonly useless: readonly string[]
}

/** Reserved members. */
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
  /** Prefixes of names, the longest first. */
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
        `${name}${owner === '' ? '' : ` of enum ${owner}`}: add it to numbers in ${this.where}, with its counterpart in nvme_spec.h or the reason why it has none`,
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
        `${name}: no ${missing.join(', ')} in nvme_spec.h; add its counterpart (names, pairs) or the reason why it has none (absent) to ${key} of ${this.where}`,
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
        `struct ${name}: add it to structs in ${this.where}, with its counterpart in nvme_spec.h or the reason why it has none`,
      )
      return
    }
    const key = `structs ${name}`
    this.used.add(key)
    if (typeof group === 'string') this.absentStruct(name, members.length)
    else for (const struct of 'ours' in group ? [group] : group) this.structPairs(key, { name, members }, struct)
  }

  /** Records a structure without a counterpart, and a problem if nvme_spec.h has a structure of the same name. */
  private absentStruct(name: string, members: number): void {
    this.absent += members
    const plain = (tag: string) => tag.replace(/^(gpu)?nvme_/, '').replaceAll('_', '')
    for (const tag of this.ours.structs.keys()) {
      if (plain(tag) === plain(name))
        this.unknown.push(
          `struct ${name}: structs of ${this.where} has a reason why it has no counterpart, but struct gpunvme_${tag} exists; compare them`,
        )
    }
  }

  private structPairs(key: string, { name, members }: Layout, group: Struct): void {
    if (!this.ours.structs.has(group.ours)) {
      this.unknown.push(`struct ${name}: no struct gpunvme_${group.ours} in nvme_spec.h; see structs of ${this.where}`)
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
        `${fact}: no ${target} in struct gpunvme_${tag}; add its counterpart (names) or the reason why it has none (absent) to structs of ${this.where}`,
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

  /** Returns offset and size of a target of Struct.names. */
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

  /** Returns the byte in which a row begins. */
  private rowPlace(base: string, row: string) {
    if (!this.ours.macros.has(`${row}_SHIFT`)) return undefined
    return { offset: `${base}GPUNVME_${row}_SHIFT / 8`, size: undefined, confirms: [row] }
  }

  /** Returns offset and size of a field of a command in its entry. */
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

  /** Returns the fields and numbers to which macros belong. */
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
      .map((entry) => `${entry}: unused entry of ${this.where}; remove it`)
    const { pairs, absent, reserved, unknown } = this
    return { pairs, absent, reserved, unknown, useless }
  }
}

/** Splits a name of a word into the field and its suffix: _SHIFT, _MASK or none. */
function split({ as }: Numbers, rest: string): [base: string, end: string] {
  const [, base, end] = (as === 'word' && /^(.*)(_SHIFT|_MASK)$/.exec(rest)) || []
  return [base ?? rest, end ?? '']
}

/** Returns the expression of a name in nvme_spec.h. */
function byRule({ ours, as }: Numbers, name: string, end: string): string {
  const macro = ours + name
  if (as === 'mask') return `${macro}_MASK`
  return end === '_MASK' ? `ONES(${macro})` : macro + end
}

/** Returns the macros, members (as `struct.member`) and structures that an expression uses. */
function needsOf(expression: string): { macros: string[]; members: string[]; structs: string[] } {
  const members = Array.from(expression.matchAll(/\b(?:AT|BITS)\((\w+), (\w+)\)/g), (found) => found.slice(1).join('.'))
  const structs = Array.from(expression.matchAll(/\bSIZE\((\w+)\)/g), ([, struct = '']) => struct)
  const macros = Array.from(expression.matchAll(/ONES\((\w+)\)|\b(?!(?:AT|BITS|SIZE)\b)[A-Z]\w+/g), ([name, field]) =>
    field === undefined ? [name] : [`${field}_SHIFT`, `${field}_MASK`],
  )
  return { macros: macros.flat(), members, structs }
}

/** Returns an expression with the full names of macros. */
const inC = (expression: string) => expression.replace(/\b(?!(?:ONES|AT|BITS|SIZE)\b)[A-Z]\w+/g, 'GPUNVME_$&')

/** Returns the entries of a group in the form of `used`. */
function entries(key: string, names: readonly object[], absent: readonly (Absent | undefined)[]): string[] {
  const rests = [
    ...names.flatMap((all) => Object.keys(all)),
    ...absent.flatMap((all) => Object.values(all ?? {}).flat()),
  ]
  return [key, ...rests.map((rest) => `${key} ${rest}`)]
}

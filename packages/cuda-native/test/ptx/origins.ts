import type { Instruction, Kernel } from './parse.js'

/**
 * Origin of an address, as an expression of kernel parameters. `p0` is the first parameter, and `p0+8` the address 8
 * bytes after it. `[p0+16]` is the pointer that is stored at `p0+16`, and `[[p0+16]+8]` the pointer that is stored 8
 * bytes after its target. Indexes are omitted: each element of an array has the origin of the first one.
 */
export type Origin = string

interface Place {
  readonly base: string
  readonly offset: number
}

const show = ({ base, offset }: Place): Origin => (offset === 0 ? base : `${base}+${offset}`)
const key = ({ base, offset }: Place): string => `${base} ${offset}`

/** Returns whether an instruction reads memory, writes it, or both. Kernel parameters do not count as memory. */
export function accessOf({ opcode }: Instruction): 'read' | 'write' | 'both' | undefined {
  if (/^ldu?\./.test(opcode)) return opcode.startsWith('ld.param.') ? undefined : 'read'
  if (/^st\./.test(opcode)) return 'write'
  return /^(atom|red|cp|prefetch|discard|applypriority)\b/.test(opcode) ? 'both' : undefined
}

/** Returns a function that returns all possible origins of an access's address, on any path. */
export function originsOf(kernel: Kernel): (instruction: Instruction) => readonly Origin[] {
  const definitions = new Map<string, { instruction: Instruction; element: number }[]>()
  for (const instruction of kernel.instructions) {
    const result = instruction.operands[0] ?? ''
    if (accessOf(instruction) === 'write' || /^(bra|bar|ret)/.test(instruction.opcode)) continue
    registersOf(result).forEach((register, element) => {
      definitions.set(register, [...(definitions.get(register) ?? []), { instruction, element }])
    })
  }
  const known = new Map<string, readonly Place[]>()

  // In a loop, a register can depend on itself. That adds only an index to its value before the loop.
  function ofRegister(register: string, above: ReadonlySet<string>): { places: readonly Place[]; cut: boolean } {
    const before = known.get(register)
    if (before !== undefined) return { places: before, cut: false }
    if (above.has(register)) return { places: [], cut: true }
    const below = new Set([...above, register])
    const places = new Map<string, Place>()
    const cuts: string[] = []
    for (const { instruction, element } of definitions.get(register) ?? []) {
      const found = ofDefinition(instruction, element, (source) => {
        const result = ofRegister(source, below)
        if (result.cut) cuts.push(source)
        return result.places
      })
      for (const place of found) places.set(key(place), place)
    }
    const cut = cuts.length > 0
    const all = [...places.values()]
    if (!cut || above.size === 0) known.set(register, all)
    return { places: all, cut }
  }

  const ask = (register: string): readonly Place[] => ofRegister(register, new Set()).places
  return (instruction) => [...new Set(addressOf(instruction, ask).map(show))].sort()
}

type Ask = (register: string) => readonly Place[]

function registersOf(operand: string): string[] {
  return operand.match(/%(?:rd|r|rs|fd|f|rl)\d+/g) ?? []
}

function addressOf({ opcode, operands }: Instruction, ask: Ask): Place[] {
  const address = operands.find((operand) => operand.startsWith('['))
  const found = /^\[(%\w+)(?:\+(-?\d+))?\]$/.exec(address ?? '')
  // Names of shared memory, which contains no pointers.
  if (found === null && /^\[[\w$]+(\+-?\d+)?\]$/.test(address ?? '')) return []
  if (found === null) throw new Error(`ptx: expected an address in ${opcode} ${operands.join(', ')}`)
  return ask(found[1]!).map(({ base, offset }) => ({ base, offset: offset + Number(found[2] ?? 0) }))
}

function ofDefinition(instruction: Instruction, element: number, ask: Ask): readonly Place[] {
  const { opcode, operands } = instruction
  const [name] = opcode.split('.') as [string]
  const parameter = /_param_(\d+)(?:\+(\d+))?\]$/.exec(operands[1] ?? '')
  if (opcode.startsWith('ld.param.')) {
    if (parameter === null) throw new Error(`ptx: expected a parameter in ${opcode} ${operands.join(', ')}`)
    return [{ base: `p${parameter[1]!}`, offset: Number(parameter[2] ?? 0) }]
  }
  if (accessOf(instruction) !== undefined) {
    const bytes = Number(/\.[busf](\d+)$/.exec(opcode)?.[1] ?? NaN) / 8
    return addressOf(instruction, ask).map(({ base, offset }) => ({
      base: `[${show({ base, offset: offset + element * bytes })}]`,
      offset: 0,
    }))
  }
  const shifted = (source: string, by: number) => ask(source).map(({ base, offset }) => ({ base, offset: offset + by }))
  const sources = operands.slice(1)
  const constant = /^-?\d+$/.test(sources[1] ?? '') ? Number(sources[1]) : undefined
  // Results of these are indexes, lengths or data, not pointers.
  if (/^(setp|shl|shr|mul|div|rem|bfi|bfe|bfind|match|prmt|shf|shfl|popc|clz|brev|not|xor|lop3)$/.test(name)) return []
  if (name === 'add' && constant !== undefined) return shifted(sources[0]!, constant)
  if (name === 'sub') return shifted(sources[0]!, constant === undefined ? 0 : -constant)
  if (name === 'mad') return ask(sources[2]!)
  // A pointer that is assembled from halves has the origin of its lower half.
  if (name === 'mov' && sources[0]!.startsWith('{')) return registersOf(sources[0]!).slice(0, 1).flatMap(ask)
  return sources.flatMap(registersOf).flatMap(ask)
}

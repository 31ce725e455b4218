import { accessOf, originsOf } from './origins.js'
import type { Origin } from './origins.js'
import { isFence, unfenced, unmet } from './order.js'
import type { Instruction, Kernel, Ptx } from './parse.js'

/** Origins of a kernel's pointers to queues and doorbells. */
export interface Queues {
  readonly tailDoorbell: Origin
  readonly headDoorbell: Origin
  readonly submissionQueue: Origin
  readonly completionQueue: Origin
  /** Words that the host stores while the kernel runs. */
  readonly hostWords: readonly Origin[]
  /** Words, or structures of words, that the host reads while the kernel runs. */
  readonly wordsForHost: readonly Origin[]
  /** Words by which lanes of a warp see that entries are complete, before one of the lanes announces them. */
  readonly entryMarks?: Origin
}

/** Returns the violations of the rules in a PTX file. */
export function violations(ptx: Ptx, queues: Readonly<Record<string, Queues>>): string[] {
  const found = [
    ...(ptx.version === '8.2' ? [] : [`.version is ${ptx.version}`]),
    ...(ptx.target === 'sm_75' ? [] : [`.target is ${ptx.target}`]),
    ...(ptx.addressSize === '64' ? [] : [`.address_size is ${ptx.addressSize}`]),
    // Kernels must not need functions, variables or tables: all their inputs are parameters.
    ...ptx.others.map((other) => `outside of kernels there is ${other.split('\n')[0]!}`),
  ]
  for (const kernel of ptx.kernels) {
    found.push(...forbidden(kernel), ...accesses(kernel, queues[kernel.name]))
  }
  return found
}

/** Patterns of directives and opcodes that no kernel may contain. */
const forbiddenWords: readonly (readonly [word: RegExp, why: string])[] = [
  [/^call\b/, 'calls a function'],
  [/\.local\b/, 'uses local memory'],
  [/\.volatile\b/, 'uses volatile, which gives no guarantees for registers'],
  [/^(?!st\b).*\.mmio\b/, 'reads a register'],
  [/^st\.(?!mmio\.relaxed\.sys\.global\.u32$).*mmio/, 'stores to a register in an unsupported way'],
]

// Known instructions: those that only compute, and others. The addresses of loads, stores and atomics are checked.
const computing =
  'abs add and bfe bfi bfind brev clz cvt cvta div lop3 mad max min mov mul neg not or popc prmt rem selp setp shf shl shr sub xor'
const others = 'activemask atom bar bra exit fence ld match membar nanosleep red ret shfl st trap vote'
const known = new Set(`${computing} ${others}`.split(' '))

function forbidden({ name, directives, instructions }: Kernel): string[] {
  const opcodes = instructions.map(({ opcode }) => opcode)
  const strange = opcodes.filter((opcode) => !known.has(opcode.split('.')[0]!))
  const worded = [...directives, ...opcodes].flatMap((text) =>
    forbiddenWords.filter(([word]) => word.test(text)).map(([, why]) => `${name} ${why}: ${text}`),
  )
  return [...strange.map((opcode) => `${name} has an unclassified instruction: ${opcode}`), ...worded]
}

function accesses(kernel: Kernel, queues: Queues | undefined): string[] {
  const originsAt = originsOf(kernel)
  const early = unfenced(kernel)
  const found: string[] = []
  const shared = new Set<Instruction>()
  for (const instruction of kernel.instructions) {
    if (accessOf(instruction) === undefined || /\.shared\b/.test(instruction.opcode)) continue
    const origins = originsAt(instruction)
    const what = `${kernel.name}: ${instruction.opcode} of ${origins.join(' or ')}`
    // An unknown address may be that of a doorbell.
    if (origins.length === 0) found.push(`${what}an unknown address`)
    for (const origin of origins) {
      if ([queues?.submissionQueue, queues?.entryMarks].includes(baseOf(origin))) shared.add(instruction)
      const problems = problemsOf(instruction, origin, queues, early.has(instruction))
      found.push(...problems.map((problem) => `${what}: ${problem}`))
    }
  }
  // A fence orders the accesses of its own lane, and those of other lanes before they met this lane.
  const alone = queues?.entryMarks === undefined ? [] : [...unmet(kernel, shared)].filter(isFence)
  return [
    ...found,
    ...alone.map(() => `${kernel.name}: a fence before the lanes that stored or checked entries have met`),
  ]
}

const baseOf = (origin: Origin): Origin => origin.replace(/\+-?\d+$/, '')

function problemsOf({ opcode }: Instruction, origin: Origin, queues: Queues | undefined, early: boolean): string[] {
  const base = baseOf(origin)
  const rings = opcode.includes('.mmio')
  if (base === queues?.tailDoorbell || base === queues?.headDoorbell) {
    if (!rings) return ['a doorbell must only be written, by st.mmio']
    if (origin !== base) return ['a write next to a doorbell']
    return base === queues.tailDoorbell && early ? ['rung before a fence made its entries visible'] : []
  }
  if (rings) return ['st.mmio to an address that is not a doorbell']
  if (base === queues?.submissionQueue && opcode !== 'st.global.v4.u32')
    return ['entries must be stored 16 bytes at a time, and never read']
  if (base === queues?.completionQueue && (opcode !== 'ld.relaxed.sys.global.u64' || origin !== `${base}+8`))
    return ['a completion must be read by one load of its last 8 bytes, with system scope']
  if (queues?.hostWords.includes(origin) === true && !/^ld\.(relaxed|acquire)\.sys\.global\.u64$/.test(opcode))
    return ['a word of the host must be loaded by ld.relaxed.sys or stronger']
  if (
    [base, origin].some((each) => queues?.wordsForHost.includes(each)) &&
    !/^st\.(relaxed|release)\.sys\.global\.u64$/.test(opcode)
  )
    return ['a word for the host must be stored by st.relaxed.sys or stronger, and never read']
  return []
}

/** Counts the instructions of a kernel that match `opcode`, by the origin of their address. */
export function countOf(kernel: Kernel, opcode: RegExp): Record<string, number> {
  const originsAt = originsOf(kernel)
  const counts: Record<string, number> = {}
  for (const instruction of kernel.instructions) {
    if (!opcode.test(instruction.opcode)) continue
    const origin = originsAt(instruction).join(' or ')
    counts[origin] = (counts[origin] ?? 0) + 1
  }
  return counts
}

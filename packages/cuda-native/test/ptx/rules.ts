import { accessOf, originsOf } from './origins.js'
import type { Origin } from './origins.js'
import { isFence, unfenced, unmet } from './order.js'
import type { Instruction, Kernel, Ptx } from './parse.js'

/** Where a kernel's pointers to queues and doorbells lie; see Origin. */
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

/** What of the text is not as it has to be; nothing, where all of it is. */
export function violations(ptx: Ptx, queues: Readonly<Record<string, Queues>>): string[] {
  const found = [
    ...(ptx.version === '8.2' ? [] : [`.version is ${ptx.version}`]),
    ...(ptx.target === 'sm_75' ? [] : [`.target is ${ptx.target}`]),
    ...(ptx.addressSize === '64' ? [] : [`.address_size is ${ptx.addressSize}`]),
    // A function of another library, a variable, a table: kernels take all that they need from their parameters.
    ...ptx.others.map((other) => `outside of kernels there is ${other.split('\n')[0]!}`),
  ]
  for (const kernel of ptx.kernels) {
    found.push(...forbidden(kernel), ...accesses(kernel, queues[kernel.name]))
  }
  return found
}

/** Words that no kernel may have, wherever. */
const forbiddenWords: readonly (readonly [word: RegExp, why: string])[] = [
  [/^call\b/, 'calls a function'],
  [/\.local\b/, 'uses local memory'],
  [/\.volatile\b/, 'uses volatile, which promises registers nothing'],
  [/^(?!st\b).*\.mmio\b/, 'reads a register'],
  [/^st\.(?!mmio\.relaxed\.sys\.global\.u32$).*mmio/, 'stores to a register in another way'],
]

// Whose reach is known here: those that compute, and loads, stores and atomics, whose addresses are looked at.
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
  return [...strange.map((opcode) => `${name} has an instruction that nobody judged: ${opcode}`), ...worded]
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
    // What is not known to be elsewhere may be a doorbell.
    if (origins.length === 0) found.push(`${what}nothing known`)
    for (const origin of origins) {
      if ([queues?.submissionQueue, queues?.entryMarks].includes(baseOf(origin))) shared.add(instruction)
      const problems = problemsOf(instruction, origin, queues, early.has(instruction))
      found.push(...problems.map((problem) => `${what}: ${problem}`))
    }
  }
  // A fence orders the accesses of its own lane, and those that other lanes made before they met it.
  const alone = queues?.entryMarks === undefined ? [] : [...unmet(kernel, shared)].filter(isFence)
  return [
    ...found,
    ...alone.map(() => `${kernel.name}: a fence before the lanes of the warp met, which stored or checked entries`),
  ]
}

const baseOf = (origin: Origin): Origin => origin.replace(/\+-?\d+$/, '')

function problemsOf({ opcode }: Instruction, origin: Origin, queues: Queues | undefined, early: boolean): string[] {
  const base = baseOf(origin)
  const rings = opcode.includes('.mmio')
  if (base === queues?.tailDoorbell || base === queues?.headDoorbell) {
    if (!rings) return ['a doorbell is only rung, by st.mmio']
    if (origin !== base) return ['a doorbell is rung beside it']
    return base === queues.tailDoorbell && early ? ['rung before a fence made its entries visible'] : []
  }
  if (rings) return ['st.mmio to an address that is not a doorbell']
  if (base === queues?.submissionQueue && opcode !== 'st.global.v4.u32')
    return ['entries are stored 16 bytes at once, and never read']
  if (base === queues?.completionQueue && (opcode !== 'ld.relaxed.sys.global.u64' || origin !== `${base}+8`))
    return ["an entry is read by one load of its last 8 bytes, of the system's scope"]
  if (queues?.hostWords.includes(origin) === true && !/^ld\.(relaxed|acquire)\.sys\.global\.u64$/.test(opcode))
    return ['a word of the host is loaded by ld.relaxed.sys or stronger']
  if (
    [base, origin].some((each) => queues?.wordsForHost.includes(each)) &&
    !/^st\.(relaxed|release)\.sys\.global\.u64$/.test(opcode)
  )
    return ['a word for the host is stored by st.relaxed.sys or stronger, and never read']
  return []
}

/** How often each access to memory of these origins stands in a kernel. */
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

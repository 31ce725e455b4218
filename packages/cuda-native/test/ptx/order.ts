import { accessOf } from './origins.js'
import type { Instruction, Kernel } from './parse.js'

/** Returns whether the instruction is an unconditional system-scope fence: `__threadfence_system()`. */
export const isFence = ({ guard, opcode }: Instruction): boolean =>
  guard === undefined && (opcode === 'fence.sc.sys' || opcode === 'membar.sys')

/** Returns whether the instruction stores to memory that a fence must make visible. Doorbells are not such memory. */
const isStore = (instruction: Instruction): boolean =>
  !instruction.opcode.includes('.shared') &&
  !instruction.opcode.includes('.mmio') &&
  ['write', 'both'].includes(accessOf(instruction) ?? '')

/**
 * Returns the instructions that some path from the kernel's entry reaches without a fence after the last store. Other
 * threads may have stored before the entry. Throws if the control flow is unknown.
 */
export function unfenced(kernel: Kernel): ReadonlySet<Instruction> {
  return reachedDirty(kernel, true, (instruction, dirty) => !isFence(instruction) && (dirty || isStore(instruction)))
}

/** Returns the instructions that a path reaches after one of `accesses` before the lanes of the warp meet. */
export function unmet(kernel: Kernel, accesses: ReadonlySet<Instruction>): ReadonlySet<Instruction> {
  const meets = ({ guard, opcode, operands }: Instruction) =>
    guard === undefined && opcode === 'bar.warp.sync' && operands[0] === '-1'
  return reachedDirty(
    kernel,
    false,
    (instruction, dirty) => !meets(instruction) && (dirty || accesses.has(instruction)),
  )
}

/**
 * Returns the instructions that some path reaches dirty. `leaves` returns whether the state after an instruction is
 * dirty.
 */
function reachedDirty(
  kernel: Kernel,
  atFirst: boolean,
  leaves: (instruction: Instruction, dirty: boolean) => boolean,
): ReadonlySet<Instruction> {
  const { instructions } = kernel
  const reached = new Set<Instruction>()
  // Two bits per instruction: reached clean, and reached dirty.
  const seen = new Uint8Array(instructions.length)
  const waiting: [index: number, dirty: boolean][] = [[0, atFirst]]
  for (let next; (next = waiting.pop()) !== undefined;) {
    const [index, dirty] = next
    const instruction = instructions[index]
    if (instruction === undefined || (seen[index]! & (dirty ? 2 : 1)) !== 0) continue
    seen[index]! |= dirty ? 2 : 1
    if (dirty) reached.add(instruction)
    const after = leaves(instruction, dirty)
    for (const to of successors(kernel, index, instruction)) waiting.push([to, after])
  }
  return reached
}

function successors(kernel: Kernel, index: number, { guard, opcode, operands }: Instruction): number[] {
  const on = guard === undefined ? [] : [index + 1]
  if (/^(ret|exit|trap)$/.test(opcode)) return on
  if (/^brx/.test(opcode)) throw new Error(`${kernel.name}: unknown targets of ${opcode}`)
  if (!/^bra(\.uni)?$/.test(opcode)) return [index + 1]
  const to = kernel.labels.get(operands[0]!)
  if (to === undefined) throw new Error(`${kernel.name}: no label ${operands[0]!}`)
  return [...on, to]
}

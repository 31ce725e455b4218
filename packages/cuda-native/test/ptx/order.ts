import { accessOf } from './origins.js'
import type { Instruction, Kernel } from './parse.js'

/** What orders everything before it, for all of the system, before everything after it: `__threadfence_system()`. */
export const isFence = ({ guard, opcode }: Instruction): boolean =>
  guard === undefined && (opcode === 'fence.sc.sys' || opcode === 'membar.sys')

/** A doorbell is no memory that a fence would have to make visible. */
const isStore = (instruction: Instruction): boolean =>
  !instruction.opcode.includes('.shared') &&
  !instruction.opcode.includes('.mmio') &&
  ['write', 'both'].includes(accessOf(instruction) ?? '')

/**
 * The instructions before which, on some way from the kernel's start, something was stored, or may have been by others,
 * and no fence came after it. Throws where it cannot say which way a kernel goes.
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

/** What is reached dirty on some way, where an instruction says of what it leaves whether that is dirty. */
function reachedDirty(
  kernel: Kernel,
  atFirst: boolean,
  leaves: (instruction: Instruction, dirty: boolean) => boolean,
): ReadonlySet<Instruction> {
  const { instructions } = kernel
  const reached = new Set<Instruction>()
  // Two bits each: whether it was reached clean, and dirty.
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
  if (/^brx/.test(opcode)) throw new Error(`${kernel.name}: where ${opcode} goes is not known`)
  if (!/^bra(\.uni)?$/.test(opcode)) return [index + 1]
  const to = kernel.labels.get(operands[0]!)
  if (to === undefined) throw new Error(`${kernel.name}: no label ${operands[0]!}`)
  return [...on, to]
}

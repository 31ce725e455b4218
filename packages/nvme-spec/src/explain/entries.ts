import { sqeLayout } from '../commands.js'
import { CQE } from '../entries.js'
import type { CommandSet, Memory } from '../layout/index.js'
import { SGL1_OFFSET, sglLayout } from '../sgl.js'
import { explain, type ExplainedLine, type ExplainOptions } from './explain.js'

/** An explained entry: title, source and lines. */
export interface ExplainedEntry {
  /** The specification's name of the command; `Completion Queue Entry` for a completion. */
  readonly title: string
  /** Section of the specification. */
  readonly spec: string
  readonly lines: readonly ExplainedLine[]
}

/**
 * Explains the submission queue entry at byteOffset as the command selected by the command set and its opcode. An SGL
 * descriptor is explained by its type.
 * @throws RangeError if `memory` ends before the 64 bytes of the entry do.
 */
export function explainSqe(set: CommandSet, memory: Memory, byteOffset = 0, options?: ExplainOptions): ExplainedEntry {
  const layout = sqeLayout(set, memory, byteOffset)
  const lines = explain(layout, memory, byteOffset, options).flatMap((line): ExplainedLine[] => {
    if (line.path !== 'SGL1') return [line]
    const descriptor = sglLayout(memory, byteOffset + SGL1_OFFSET)
    const inner = explain(descriptor, memory, byteOffset + SGL1_OFFSET, options).map((each) => ({
      ...each,
      path: `SGL1.${each.path}`,
      depth: each.depth + 1,
      location: { ...each.location, offset: each.location.offset + SGL1_OFFSET },
    }))
    return [{ ...line, text: '', meaning: descriptor.name }, ...inner]
  })
  return { title: layout.name, spec: layout.spec, lines }
}

/**
 * Explains the completion queue entry at byteOffset.
 * @throws RangeError if `memory` ends before the 16 bytes of the entry do.
 */
export function explainCqe(memory: Memory, byteOffset = 0, options?: ExplainOptions): ExplainedEntry {
  return { title: CQE.doc, spec: CQE.spec, lines: explain(CQE, memory, byteOffset, options) }
}

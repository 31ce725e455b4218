import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { isMediaError } from '../image/copies.js'
import { readBytes } from '../store/read-bytes.js'
import type { BlockStore } from '../store/store.js'
import { LABEL_BYTES, LABEL_OFFSET_BYTES, type LabelCopyName } from './format.js'
import { decodeLabel, hasLabelMagic, SetLabelError, UnsupportedSetError, type SetLabel } from './label.js'

/** What was found where one copy of a label belongs. */
interface LabelCopy {
  readonly copy: LabelCopyName
  readonly label?: SetLabel
  /** Why it cannot be used. */
  readonly problem?: GpuNvmeError
  /** Whether it starts as a label does, or cannot be read and so might. */
  readonly ours: boolean
  /** Every byte is zero. */
  readonly isZero?: boolean
}

/** What is known of a store from its label. */
export interface FoundLabel {
  /** Absent where it has none that can be used. */
  readonly label?: SetLabel
  /** Why one copy, or both, cannot be used. */
  readonly problem?: GpuNvmeError
  /** It is a member of a set, or was one. */
  readonly ours: boolean
  /** It has zeros in copy A and a label of epoch 1, or a torn one, in copy B: as while a set is being created. */
  readonly isHalf: boolean
  /** In which order copies are to be written anew, so that one is always whole: the damaged or older one first. */
  readonly order: readonly LabelCopyName[]
}

/** Reads both copies. A media error counts as damage of the copy; anything else is thrown. */
export async function readLabel(store: BlockStore, options?: ExecuteOptions): Promise<FoundLabel> {
  const copies = await Promise.all((['A', 'B'] as const).map((copy) => readCopy(store, copy, options)))
  const epochOf = ({ label }: LabelCopy) => label?.epoch ?? 0
  const sorted = copies.toSorted((a, b) => epochOf(a) - epochOf(b))
  const [older, newer] = sorted as [LabelCopy, LabelCopy]
  const problem = older.problem ?? newer.problem
  const [a, b] = copies as [LabelCopy, LabelCopy]
  const found = {
    ours: copies.some(({ ours }) => ours),
    isHalf: a.isZero === true && (b.label?.epoch === 1 || b.problem instanceof SetLabelError),
    order: sorted.map(({ copy }) => copy),
  }
  const { label } = newer
  // A later version may count epochs in another way: which copy is the newer one cannot be told then.
  if (problem instanceof UnsupportedSetError || label === undefined) return { ...found, ...(problem && { problem }) }
  const disagreement = older.label && disagreementOf(older.label, label)
  if (disagreement !== undefined) return { ...found, problem: disagreement }
  return { ...found, label, ...(problem && { problem }) }
}

async function readCopy(store: BlockStore, copy: LabelCopyName, options?: ExecuteOptions): Promise<LabelCopy> {
  const offsetBytes = LABEL_OFFSET_BYTES[copy]
  if (store.capacityBytes < offsetBytes + LABEL_BYTES) return { copy, ours: false }
  try {
    const encoded = await readBytes(store, offsetBytes, LABEL_BYTES, options)
    const ours = hasLabelMagic(encoded)
    if (!ours) return { copy, ours, isZero: encoded.every((byte) => byte === 0) }
    try {
      return { copy, label: decodeLabel(copy, encoded), ours }
    } catch (problem) {
      if (problem instanceof SetLabelError || problem instanceof UnsupportedSetError) return { copy, problem, ours }
      throw problem
    }
  } catch (problem) {
    if (isMediaError(problem)) return { copy, problem, ours: true }
    throw problem
  }
}

/** Two copies of one epoch are one label; nothing that could happen to a drive makes two of them. */
function disagreementOf(one: SetLabel, other: SetLabel): SetLabelError | undefined {
  const plain = (label: SetLabel) => JSON.stringify({ ...label, pattern: [...label.pattern] })
  if (one.setId !== other.setId || one.index !== other.index)
    return new SetLabelError(
      'SET_ID',
      `${other.setId}, member ${other.index}`,
      `${one.setId}, member ${one.index}`,
      'the two copies',
    )
  if (one.epoch !== other.epoch || plain(one) === plain(other)) return undefined
  return new SetLabelError('EPOCH', 'copies of one epoch that are equal', 'two that differ', `epoch ${one.epoch}`)
}

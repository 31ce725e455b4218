import { hasCode } from '../error.js'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { isMediaError } from '../image/copies.js'
import { readBytes } from '../store/read-bytes.js'
import type { BlockStore } from '../store/store.js'
import { LABEL_BYTES, LABEL_OFFSET_BYTES, type LabelCopyName } from './format.js'
import { decodeLabel, hasLabelMagic, SetLabelError, type SetLabel } from './label.js'

/** Content at the location of a label copy. */
interface LabelCopy {
  readonly copy: LabelCopyName
  readonly label?: SetLabel
  /** Why it is unusable. */
  readonly problem?: GpuNvmeError
  /** Whether it has the magic of a label, or cannot be read and so might. */
  readonly ours: boolean
  /** Whether every byte is zero. */
  readonly isZero?: boolean
}

/** Data of a store from its label. */
export interface FoundLabel {
  /** Absent without a usable label. */
  readonly label?: SetLabel
  /** Why one copy, or both, are unusable. */
  readonly problem?: GpuNvmeError
  /** Whether it is or was a member of a set. */
  readonly ours: boolean
  /** Whether copy A is zero and copy B has epoch 1 or is torn, as during creation of a set. */
  readonly isHalf: boolean
  /** Order for rewriting the copies, the damaged or older one first, so that one is always valid. */
  readonly order: readonly LabelCopyName[]
}

/** Reads both copies. A media error counts as a damaged copy; other errors are thrown. */
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
  // A later version may count epochs differently, so the newer copy is unknown.
  if (hasCode(problem, 'ERR_GPUNVME_SET_UNSUPPORTED') || label === undefined)
    return { ...found, ...(problem && { problem }) }
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
      if (problem instanceof SetLabelError || hasCode(problem, 'ERR_GPUNVME_SET_UNSUPPORTED'))
        return { copy, problem, ours }
      throw problem
    }
  } catch (problem) {
    if (isMediaError(problem)) return { copy, problem, ours: true }
    throw problem
  }
}

/** Two copies of one epoch are the same label; no fault of a drive creates two different ones. */
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
  return new SetLabelError('EPOCH', 'equal copies of one epoch', 'different copies', `epoch ${one.epoch}`)
}

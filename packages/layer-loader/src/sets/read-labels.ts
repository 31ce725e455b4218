import { hasCode } from '../error.js'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { CopyName } from '../image/format.js'
import type { RecordCopy } from '../image/sealed-record.js'
import type { BlockStore } from '../store/store.js'
import { LABELS, SetLabelError, type SetLabel } from './label.js'

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
  readonly order: readonly CopyName[]
}

/** Reads both copies. A media error counts as a damaged copy; other errors are thrown. */
export async function readLabel(store: BlockStore, options?: ExecuteOptions): Promise<FoundLabel> {
  const [a, b] = await Promise.all([LABELS.read(store, 'A', options), LABELS.read(store, 'B', options)])
  const epochOf = ({ content }: RecordCopy<SetLabel>) => content?.epoch ?? 0
  const [older, newer] = epochOf(a) <= epochOf(b) ? ([a, b] as const) : ([b, a] as const)
  const problem = [older, newer].find((each) => each.ours && each.problem !== undefined)?.problem
  const found = {
    ours: a.ours || b.ours,
    isHalf:
      a.encoded?.every((byte) => byte === 0) === true &&
      (b.content?.epoch === 1 || (b.ours && b.problem instanceof SetLabelError)),
    order: [older.copy, newer.copy],
  }
  const label = newer.content
  // A later version may count epochs differently, so the newer copy is unknown.
  if (hasCode(problem, 'ERR_GPUNVME_SET_UNSUPPORTED') || label === undefined)
    return { ...found, ...(problem && { problem }) }
  const disagreement = older.content && disagreementOf(older.content, label)
  if (disagreement !== undefined) return { ...found, problem: disagreement }
  return { ...found, label, ...(problem && { problem }) }
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

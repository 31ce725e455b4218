import { wholeNumber, type SubmittedEntry } from './entry-text.js'

/** A command of a trace that can be sent again: the same blocks and operation. */
export interface ReplayableCommand {
  readonly name: 'Read' | 'Write' | 'Flush'
  readonly nsid: number
  /** 0 for Flush, like `blocks`. */
  readonly slba: number
  readonly blocks: number
}

/** Target of replayed commands. */
export interface ReplayTarget {
  /** Namespace of the trace that is replayed. */
  readonly nsid: number
  readonly blocks: number
  readonly blockBytes: number
  readonly maxTransferBytes: number
  readonly allowWrites: boolean
  /** First block checked by the write guards, and the one after the last. */
  readonly writtenFrom: number
  readonly writtenTo: number
}

/**
 * Parses a command; undefined for one that is never replayed: Admin commands, and other than reads, writes and flushes.
 */
export function replayable(qid: number, { name, fields }: SubmittedEntry): ReplayableCommand | undefined {
  if (qid === 0) return undefined
  const nsid = wholeNumber(fields.get('NSID') ?? '', 0xffff_fffe)
  if (nsid === undefined || nsid === 0) return undefined
  if (name === 'Flush') return { name, nsid, slba: 0, blocks: 0 }
  const slba = wholeNumber(fields.get('SLBA') ?? '')
  // 0's based (NVM 1.2 §3.3.4).
  const nlb = wholeNumber(fields.get('NLB') ?? '', 0xffff)
  if ((name !== 'Read' && name !== 'Write') || slba === undefined || nlb === undefined) return undefined
  return { name, nsid, slba, blocks: nlb + 1 }
}

/** Returns why a command is not sent; undefined if it is. */
export function whyNot(command: ReplayableCommand, target: ReplayTarget): string | undefined {
  const { name, nsid, slba, blocks } = command
  if (nsid !== target.nsid) return 'for another namespace'
  if (name !== 'Read' && !target.allowWrites) return 'without --allow-writes'
  if (slba + blocks > target.blocks) return 'beyond the end of this namespace'
  if (blocks * target.blockBytes > target.maxTransferBytes) return 'longer than the limit of this drive (MDTS)'
  return undefined
}

/** Returns whether a command writes outside the checked range: it was not in the trace when it was scanned. */
export function isUnguarded({ name, slba, blocks }: ReplayableCommand, target: ReplayTarget): boolean {
  return name === 'Write' && (slba < target.writtenFrom || slba + blocks > target.writtenTo)
}

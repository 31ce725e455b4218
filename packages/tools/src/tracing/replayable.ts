import { wholeNumber, type SubmittedEntry } from './entry-text.js'

/** A command of a trace that can be sent again: the same blocks, the same way. */
export interface ReplayableCommand {
  readonly name: 'Read' | 'Write' | 'Flush'
  readonly nsid: number
  /** 0 of Flush, as `blocks` is. */
  readonly slba: number
  readonly blocks: number
}

/** Where a command of a trace would have to go. */
export interface ReplayTarget {
  /** The namespace of the trace that is replayed. */
  readonly nsid: number
  readonly blocks: number
  readonly blockBytes: number
  readonly maxTransferBytes: number
  readonly allowWrites: boolean
  /** The first block that the guards of writes have looked at, and the one after the last. */
  readonly writtenFrom: number
  readonly writtenTo: number
}

/** Reads the command; undefined for one that is never replayed: Admin commands, and what is neither read nor written. */
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

/** Why this drive is not sent the command; undefined where it is. */
export function whyNot(command: ReplayableCommand, target: ReplayTarget): string | undefined {
  const { name, nsid, slba, blocks } = command
  if (nsid !== target.nsid) return 'of another namespace'
  if (name !== 'Read' && !target.allowWrites) return 'without --allow-writes'
  if (slba + blocks > target.blocks) return 'beyond the end of this namespace'
  if (blocks * target.blockBytes > target.maxTransferBytes) return 'longer than one command may be here (MDTS)'
  return undefined
}

/** Whether a command that would be sent writes where no guard has looked: then it was not there when the trace was scanned. */
export function isUnguarded({ name, slba, blocks }: ReplayableCommand, target: ReplayTarget): boolean {
  return name === 'Write' && (slba < target.writtenFrom || slba + blocks > target.writtenTo)
}

import { Flush, Read, Write } from '@gpunvme/nvme-spec'
import type { TraceCommand } from '@gpunvme/nvme-spec/transport'

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
export function replayable({ qid, opcode, nsid, slba, nlb }: TraceCommand): ReplayableCommand | undefined {
  // NSID FFFFFFFFh is that of all namespaces.
  if (qid === 0 || nsid === 0 || nsid === 0xffff_ffff) return undefined
  if (opcode === Flush.opcode) return { name: 'Flush', nsid, slba: 0, blocks: 0 }
  const name = opcode === Read.opcode ? 'Read' : opcode === Write.opcode ? 'Write' : undefined
  // Beyond 2^53, which no drive has, the first block is text.
  if (name === undefined || typeof slba !== 'number' || nlb === undefined || nlb > 0xffff) return undefined
  // 0's based (NVM 1.2 §3.3.4).
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

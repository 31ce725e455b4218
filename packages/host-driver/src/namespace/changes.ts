import {
  Copy,
  CopyRange0,
  DatasetManagement,
  DatasetManagementRange,
  GpuNvmeError,
  MAX_BLOCKS_PER_COMMAND,
  WriteZeroes,
  zeroBased,
} from '@gpunvme/nvme-spec'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue } from '../commands/command-queue.js'
import { CommandError, unsupportedCommand } from '../commands/errors.js'
import { sendChange } from '../commands/unknown-fate.js'
import type { RunningController } from '../running/running-controller.js'
import { copyLimits, zeroesDeallocate } from '../admin/block-limits.js'
import { groupRanges, overlaps, rangeInWords, splitRange, totalBlocks, type BlockRange } from './ranges.js'

/** Options of commands outside plans. */
export interface CommandLimits {
  /** Aborting it sends no further command. The command in flight is waited for, and completed ones stay in effect. */
  readonly signal?: AbortSignalLike | undefined
  /** Time limit of each command, from its submission. Default: `commandTimeoutNs` of the controller. */
  readonly timeoutNs?: number | undefined
}

/** Target of commands that change blocks of a namespace. */
export interface ChangeTarget {
  readonly controller: RunningController
  readonly nsid: number
  readonly blockBytes: number
  /** Identify, CNS 00h. */
  readonly raw: DataView
  /** Presence of the namespace: commands are sent only while it is unchanged. */
  readonly presence: object
}

/** One command of a change: its blocks, and how it is sent. */
interface Part {
  readonly changed: readonly BlockRange[]
  readonly send: (queue: CommandQueue) => Promise<number>
}

/** Sends Write Zeroes for a range, in as many commands as needed (NVM 1.2 §3.3.8). */
export async function writeZeroes(
  target: ChangeTarget,
  range: BlockRange,
  { deallocate = false, fua = false, ...options }: CommandLimits & { deallocate?: boolean; fua?: boolean },
): Promise<void> {
  const { controller, nsid, blockBytes, raw } = target
  const limits = await controller.blockCommandLimits()
  const bytes = deallocate ? limits.writeZeroesDeallocateBytes : limits.writeZeroesBytes
  if (bytes === undefined) throw unsupportedCommand('Write Zeroes', 'ONCS.NVMWZSV and WZSL are 0')
  if (deallocate && !zeroesDeallocate(raw)) {
    throw unsupportedCommand('Write Zeroes with Deallocate', `DLFEAT.WZDS of namespace ${nsid} is 0`)
  }
  const max = blocksIn(bytes, blockBytes)
  const flags = { DEAC: deallocate ? 1 : 0, FUA: fua ? 1 : 0 } as const
  await sendParts(target, 'Write Zeroes', [range], options, partsOf(range, max))

  function* partsOf(whole: BlockRange, maxBlocks: number): Generator<Part> {
    for (const piece of splitRange(whole, maxBlocks)) {
      const values = { NSID: nsid, SLBA: piece.slba, NLB: zeroBased(piece.blocks), ...flags }
      yield { changed: [piece], send: (queue) => queue.execute(WriteZeroes, values, options) }
    }
  }
}

/** Sends Dataset Management with Deallocate for ranges (NVM 1.2 §3.3.3). */
export async function deallocate(
  target: ChangeTarget,
  ranges: readonly BlockRange[],
  options: CommandLimits,
): Promise<void> {
  const limits = (await target.controller.blockCommandLimits()).deallocate
  if (limits === undefined) {
    throw unsupportedCommand('Dataset Management', 'ONCS.NVMDSMSV, DMRL, DMRSL and DMSL are 0')
  }
  await sendParts(target, 'Dataset Management', ranges, options, parts())

  function* parts(): Generator<Part> {
    for (const group of groupRanges(ranges, limits!)) {
      const list = new DataView(new ArrayBuffer(group.length * DatasetManagementRange.bytes))
      for (const [index, { slba, blocks }] of group.entries()) {
        DatasetManagementRange.encode(list, index * DatasetManagementRange.bytes, { SLBA: slba, LLB: blocks })
      }
      const values = { NSID: target.nsid, NR: zeroBased(group.length), AD: 1 } as const
      yield {
        changed: group,
        send: (queue) => queue.executeWithData(DatasetManagement, values, new Uint8Array(list.buffer), options),
      }
    }
  }
}

/** Sends Copy for ranges of one namespace, to consecutive blocks (NVM 1.2 §3.3.2). */
export async function copy(
  target: ChangeTarget,
  sources: readonly BlockRange[],
  destination: BlockRange,
  options: CommandLimits,
): Promise<void> {
  const supported = (await target.controller.blockCommandLimits()).copy
  if (!supported) {
    throw unsupportedCommand('Copy, with ranges of format 0h', 'ONCS.NVMCPYS or CDFS.CDF0S is 0')
  }
  // A copy takes several commands: a later one could read what an earlier one wrote.
  const overwritten = sources.find((source) => overlaps(source, destination))
  if (overwritten !== undefined) {
    throw new RangeError(
      `copy: expected sources outside of the destination, ${rangeInWords(destination)}, got ${rangeInWords(overwritten)}`,
    )
  }
  await sendParts(target, 'Copy', [destination], options, parts())

  function* parts(): Generator<Part> {
    let { slba } = destination
    for (const group of groupRanges(sources, copyLimits(target.raw))) {
      const list = new DataView(new ArrayBuffer(group.length * CopyRange0.bytes))
      for (const [index, source] of group.entries()) {
        CopyRange0.encode(list, index * CopyRange0.bytes, { SLBA: source.slba, NLB: zeroBased(source.blocks) })
      }
      const values = { NSID: target.nsid, SDLBA: slba, NR: zeroBased(group.length) }
      const blocks = totalBlocks(group)
      yield {
        changed: [{ slba, blocks }],
        send: (queue) => queue.executeWithData(Copy, values, new Uint8Array(list.buffer), options),
      }
      slba += blocks
    }
  }
}

/** Returns the maximum number of blocks of a command: NLB has 16 bits. */
export function blocksIn(bytes: number, blockBytes: number): number {
  return Math.max(1, Math.min(Math.floor(bytes / blockBytes), MAX_BLOCKS_PER_COMMAND))
}

/** Sends commands one after another, so that the outcome of at most one is unknown. */
async function sendParts(
  { controller, nsid, presence }: ChangeTarget,
  name: string,
  whole: readonly BlockRange[],
  { signal }: CommandLimits,
  parts: Iterable<Part>,
): Promise<void> {
  let done = 0
  const progress = () => `${done} of ${totalBlocks(whole)} blocks were completed before it`
  for (const { changed, send } of parts) {
    if (signal?.aborted === true) throw signal.reason
    try {
      await sendChange(
        (run) => controller.onceIo(nsid, run, presence),
        name,
        send,
        () => ({
          facts: [`namespace ${nsid}, ${changed.map(rangeInWords).join(', ')}`, progress()],
          next: 'repeat it for these blocks, or read them back before you use them',
        }),
      )
    } catch (error) {
      if (error instanceof CommandError) throw new BlockCommandError(error, changed, done, progress())
      throw error
    }
    done += totalBlocks(changed)
  }
}

/** A command that changes blocks failed. Earlier commands of the same call were executed. */
export class BlockCommandError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BLOCK_COMMAND'
  readonly category = 'device'
  /** Status Code Type. */
  readonly sct: number
  /** Status Code. */
  readonly sc: number
  /** Do Not Retry. */
  readonly dnr: boolean
  /** Blocks of the failed command. */
  readonly ranges: readonly BlockRange[]
  /** Number of blocks that earlier commands changed. */
  readonly doneBlocks: number
  constructor(cause: CommandError, ranges: readonly BlockRange[], doneBlocks: number, progress: string) {
    super(cause.headline, {
      facts: [...cause.facts, ranges.map(rangeInWords).join(', '), progress],
      next: cause.dnr
        ? 'do not repeat it: the controller reports that it would fail again (DNR = 1)'
        : 'repeat it: the status allows a retry',
      cause,
    })
    this.sct = cause.sct
    this.sc = cause.sc
    this.dnr = cause.dnr
    this.ranges = ranges
    this.doneBlocks = doneBlocks
  }
}

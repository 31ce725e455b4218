/** Words of kernels/pattern_drive.cuh. */

/** Memory that entries may refer to: its IOVA, and its address in the kernel or process that serves the queues. */
export interface DriveMemory {
  readonly iova: bigint
  readonly lengthBytes: number
  readonly address: bigint
}

/** Deviations from completing each command once, in order. "One in" counts commands of a queue. */
export interface DriveFaults {
  /** Commands that are never completed. */
  readonly loseOneIn?: number
  /** Commands that are completed `delayRounds` rounds later. */
  readonly delayOneIn?: number
  readonly delayRounds?: number
  /** Commands that are completed twice. */
  readonly duplicateOneIn?: number
  /** Whether completions of a round are posted in reverse order. */
  readonly reverses?: boolean
  /** Whether data are moved. */
  readonly movesData?: boolean
}

export interface DriveOptions extends DriveFaults {
  readonly blocks: number
  readonly blockBytes: number
  readonly maxBlocks: number
  readonly data: DriveMemory
  readonly prpLists: DriveMemory
}

export const DRIVE_SEED = 30n
export const DRIVE_NSID = 1
const PAGE_SHIFT = 12

const pair = (low: number, high: number) => BigInt(low) | (BigInt(high) << 32n)
const memoryWords = ({ iova, lengthBytes, address }: DriveMemory) => [iova, BigInt(lengthBytes), address]

/** Returns the words of a `DriveNamespace` and a `DrivePlan`. */
export function driveWords(options: DriveOptions): bigint[] {
  const { blocks, blockBytes, maxBlocks, loseOneIn = 0, delayOneIn = 0, delayRounds = 0, duplicateOneIn = 0 } = options
  return [
    ...[BigInt(blocks), DRIVE_SEED, pair(DRIVE_NSID, Math.log2(blockBytes)), pair(maxBlocks, PAGE_SHIFT)],
    ...[...memoryWords(options.data), ...memoryWords(options.prpLists)],
    ...[pair(loseOneIn, delayOneIn), pair(delayRounds, duplicateOneIn)],
    pair(Number(options.reverses ?? false), Number(options.movesData ?? false)),
  ]
}

/** A queue pair. Addresses are those of the kernel or process that serves it. */
export interface DriveQueue {
  readonly sq: bigint
  readonly cq: bigint
  readonly tailDoorbell: bigint
  readonly headDoorbell: bigint
  readonly entries: number
  readonly qid: number
}

/** Returns the words of a `DriveQueue` for the addon, which sets `in_flight`. */
export function queueWords({ sq, cq, tailDoorbell, headDoorbell, entries, qid }: DriveQueue): bigint[] {
  return [sq, cq, tailDoorbell, headDoorbell, 0n, pair(entries, qid), BigInt(entries), ...Array<bigint>(6).fill(0n)]
}

/** Number of words of a `DriveQueue`. */
export const QUEUE_WORDS = 13

/** Counts of a drive, summed over its queues. */
export interface DriveCounts {
  readonly commands: number
  /** Changes of tail doorbells that the drive has seen. It misses values that are overwritten between two polls. */
  readonly rings: number
  readonly completions: number
  readonly lost: number
  readonly mistakes: number
  /** Name of the first mistake on a queue. */
  readonly firstMistake: string
}

/** Names of `Mistake`, by its values. */
const MISTAKES = ['none', 'tail', 'field', 'nsid', 'range', 'prp', 'cid', 'data']

/** Adds up the counts in words of `DriveQueue`s. */
export function countsOf(words: BigUint64Array): DriveCounts {
  const sum = (at: number) =>
    words.reduce((all, word, index) => all + (index % QUEUE_WORDS === at ? Number(word) : 0), 0)
  const mistake = words.find((word, index) => index % QUEUE_WORDS === 12 && word !== 0n) ?? 0n
  return {
    ...{ commands: sum(7), rings: sum(8), completions: sum(9), lost: sum(10), mistakes: sum(11) },
    firstMistake: MISTAKES[Number(mistake)]!,
  }
}

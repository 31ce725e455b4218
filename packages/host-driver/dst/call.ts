import type { OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { CallMemory } from './memory.js'
import type { Fetched } from './world.js'
import { ANY, fillBlock, firstDifference, holds, RunFailure, writtenContent, type Medium } from '@gpunvme/nvme-sim/dst'

/** Bytes before and after the data, which must not change. */
const GUARD_BYTES = 8192
/** Initial value of the memory, which makes data that did not arrive recognizable. */
const UNWRITTEN = 0xa5

/** Part of a call that one command transfers. */
interface Part {
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
  readonly offsetBytes: number
  /** Whether a fault may have damaged its data. */
  isDamaged: boolean
}

/** A call that reads or writes blocks: its commands, its memory, and the checks of its outcome. */
export class Call {
  readonly memory: CallMemory
  readonly plan: Plan
  readonly what: string
  private readonly parts: readonly Part[]
  private readonly began: number
  private readonly medium: Medium
  private readonly before: Uint8Array
  private readonly bytes: Uint8Array

  /** Returns the offset of the data in the memory of a call. */
  static startOf(shiftBytes: number): number {
    return GUARD_BYTES + shiftBytes
  }

  /** Returns the length of the memory of a call. */
  static lengthOf(shiftBytes: number, dataBytes: number): number {
    return 2 * GUARD_BYTES + shiftBytes + dataBytes
  }

  constructor(medium: Medium, plan: Plan, memory: CallMemory, salt: number) {
    this.medium = medium
    this.plan = plan
    this.memory = memory
    this.what = `${plan.operation} of ${plan.commands} commands, NSID ${plan.nsid}`
    this.began = medium.tick()
    this.parts = Array.from({ length: plan.commands }, (_, command) => ({
      nsid: plan.nsid,
      slba: plan.slba[command]!,
      blocks: plan.blocks[command]!,
      offsetBytes: plan.offsetBytes[command]!,
      isDamaged: false,
    }))
    this.bytes = memory.bytes.fill(UNWRITTEN)
    if (plan.operation === 'write') {
      for (const part of this.parts) {
        this.eachBlock(part, (block, lba) => fillBlock(block, writtenContent(salt, part.nsid, lba)))
        medium.begin(part, part, (index) => writtenContent(salt, part.nsid, part.slba + index))
      }
    }
    memory.store()
    this.before = this.bytes.slice()
  }

  /** Records that a fault has damaged a command: every part with the same blocks may be that command. */
  damage({ operation, nsid, slba, blocks }: Fetched): void {
    if (operation !== this.plan.operation || nsid !== this.plan.nsid) return
    for (const part of this.parts) {
      if (part.slba !== slba || part.blocks !== blocks) continue
      part.isDamaged = true
      if (operation === 'read') continue
      for (let index = 0; index < blocks; index++) this.medium.damage(part, part, index)
    }
  }

  /**
   * Records that the call was rejected, or that a command of a single read failed. The data of such a read is not
   * checked, since its caller gets only an error.
   */
  refused(wasSent: boolean, why: string): void {
    this.memory.load()
    if (this.plan.operation === 'write') for (const part of this.parts) this.medium.cancel(part, part)
    this.checkMemory(wasSent ? this.parts : [], why)
  }

  /**
   * Checks the outcomes and the data.
   * @returns a function to call after the next reset: until then, writes that ended with `device-lost` may be executed.
   */
  ended(summary: OutcomeSummary): () => void {
    const outcomes = this.outcomesOf(summary)
    this.memory.load()
    const pending: Part[] = []
    const { medium } = this
    this.parts.forEach((part, command) => {
      const kind = outcomes[command]
      if (this.plan.operation === 'read') {
        if (kind === undefined && !part.isDamaged) this.checkData(part)
      } else if (kind === undefined) medium.end(part, part)
      else if (kind === 'not-submitted') medium.cancel(part, part)
      else if (kind === 'device-lost') pending.push(part)
      else medium.abandon(part, part)
    })
    this.checkMemory(this.parts)
    return () => {
      for (const part of pending) medium.abandon(part, part)
    }
  }

  /** Returns the outcome of each command: undefined for success. */
  private outcomesOf({ commands, succeeded, bytes, failures }: OutcomeSummary): (string | undefined)[] {
    const wrong = (text: string) => new RunFailure('outcome', `${this.what}: ${text}`)
    const { plan } = this
    const outcomes = Array<string | undefined>(plan.commands).fill(undefined)
    const mayBe =
      plan.operation === 'read'
        ? ['status', 'timeout', 'device-lost', 'not-submitted']
        : ['status', 'unknown', 'device-lost', 'not-submitted']
    for (const { command, outcome } of failures) {
      if (command < 0 || command >= plan.commands) throw wrong(`an outcome for command ${command}`)
      if (outcomes[command] !== undefined) throw wrong(`two outcomes for command ${command}`)
      if (!mayBe.includes(outcome.kind)) throw wrong(`command ${command} ended with '${outcome.kind}'`)
      outcomes[command] = outcome.kind
    }
    if (commands !== plan.commands || succeeded + failures.length !== commands) {
      throw wrong(`${succeeded} successes and ${failures.length} failures of ${commands} commands`)
    }
    const moved = this.parts.reduce(
      (sum, { blocks }, command) => sum + (outcomes[command] === undefined ? blocks * plan.blockBytes : 0),
      0,
    )
    if (bytes !== moved) throw wrong(`${bytes} bytes reported, ${moved} moved`)
    return outcomes
  }

  private checkData(part: Part): void {
    this.eachBlock(part, (block, lba) => {
      const possible = this.medium.possibleContents(part.nsid, lba, this.began)
      if (possible.some((content) => holds(block, content))) return
      const allowed = possible.map((content) => (content === ANY ? 'anything' : content)).join(' or ')
      throw new RunFailure('data', `${this.what}: LBA ${lba} has the wrong content, allowed: ${allowed}`)
    })
  }

  /** Checks that only the destinations of reads have changed. */
  private checkMemory(destinations: readonly Part[], why = 'ended'): void {
    const isRead = this.plan.operation === 'read'
    if (isRead) {
      for (const part of destinations) {
        const end = part.offsetBytes + part.blocks * this.plan.blockBytes
        this.before.set(this.bytes.subarray(part.offsetBytes, end), part.offsetBytes)
      }
    }
    const at = firstDifference(this.bytes, this.before)
    if (at >= 0) throw new RunFailure('memory', `${this.what}: byte ${at} of its memory was changed (${why})`)
  }

  private eachBlock(part: Part, visit: (block: Uint8Array, lba: number) => void): void {
    const { blockBytes } = this.plan
    for (let index = 0; index < part.blocks; index++) {
      const start = part.offsetBytes + index * blockBytes
      visit(this.bytes.subarray(start, start + blockBytes), part.slba + index)
    }
  }
}

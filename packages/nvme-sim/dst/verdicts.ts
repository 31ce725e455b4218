import type { Buffers } from './buffers.js'
import { checkAbort, type EventChecks } from './check-admin.js'
import { checkCompare, checkData, damagedRanges } from './check-completion.js'
import type { FusedChecks } from './check-fused.js'
import type { Medium, Range } from './medium.js'
import { transferBytes } from './spaces.js'
import type { Submitted } from './submitted.js'
import { Tally } from './tally.js'

const ADMIN_DATA_BYTES = 4096

interface Parts {
  readonly medium: Medium
  readonly buffers: Buffers
  readonly fused: FusedChecks
  readonly events: EventChecks
}

/** Checks the outcome of a command, and applies it to the expected media and buffers. */
export class Verdicts {
  /** Whether the volatile write cache is disabled, so that completed changes survive a power loss. */
  isCacheOff = false
  /** Counts successful operations. */
  readonly tally = new Tally()
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** Checks the data of a completed command, applies its changes, and frees its buffer. */
  conclude(command: Submitted): void {
    const { order, slot, changes } = command
    this.count(command)
    if (order) {
      checkCompare(command, this.parts.medium)
      checkData(command, this.parts.medium)
      this.parts.fused.check(command)
      if (changes) this.concludeChange(command, changes)
      if (order.operation === 'flush') this.concludeFlush(command)
    }
    if (command.admin === 'event') this.parts.events.check(command)
    if (command.admin === 'abort') checkAbort(command)
    if (command.abortedBy?.status !== undefined) checkAbort(command.abortedBy)
    if (command.admin && slot) {
      const hasSucceeded = command.status === '0/00' && !command.injected.has('status')
      // A shutdown may abort any command (Base 2.1 §3.6.1), and an Abort excludes only effects after its completion
      // (§5.1.1.1): data that arrived earlier remain.
      if (hasSucceeded || command.isDelayed) slot.data.accept(0, ADMIN_DATA_BYTES)
      slot.data.check()
    }
    if (slot) this.parts.buffers.give(slot)
  }

  private count({ order, space, status, injected, half }: Submitted): void {
    if (order === undefined || status !== '0/00' || injected.has('status')) return
    this.tally.add(order.operation)
    if (order.sgl) this.tally.add('SGL')
    if (space!.metadataBytes > 0) this.tally.add('metadata')
    if (order.fua) this.tally.add('FUA')
    if (half === 'second') this.tally.add('fused')
  }

  private concludeChange(command: Submitted, changes: Range): void {
    // A command with a delayed completion has already taken effect when an Abort ends it.
    if (command.status !== '0/00' && command.isDelayed) this.parts.medium.abandon(changes, command)
    // Other failed commands, and those with a status of the fault plan, have had no effect.
    else if (command.status !== '0/00' || command.injected.has('status')) this.parts.medium.cancel(changes, command)
    else this.parts.medium.end(changes, command, this.isCacheOff || command.order?.fua === true)
  }

  private concludeFlush({ order, status, injected, began }: Submitted): void {
    if (status === '0/00' && !injected.has('status')) this.parts.medium.flush(order!.nsid, began)
  }

  /** Records damage to a Write's data on the media, which other commands may find before the Write has completed. */
  damage(command: Submitted): void {
    const { changes, space } = command
    if (changes === undefined) return
    const blockBytes = transferBytes(space!)
    for (const [from, to] of damagedRanges(command)) {
      const last = Math.min(changes.blocks - 1, Math.floor((to - 1) / blockBytes))
      for (let index = Math.floor(from / blockBytes); index <= last; index++) {
        this.parts.medium.damage(changes, command, index)
      }
    }
  }
}

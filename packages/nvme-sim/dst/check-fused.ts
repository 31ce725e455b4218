import { RunFailure } from './failure.js'
import type { Medium } from './medium.js'
import type { Content } from './pattern.js'
import type { Submitted } from './submitted.js'

/**
 * Checks fused Compare and Write operations (NVM 1.2 §2.1.3.1): the outcomes of both halves agree, and only one of two
 * operations that expect and replace the same content of a block succeeds.
 */
export class FusedChecks {
  private readonly medium: Medium
  /** Name of the operation that replaced a content, by namespace, block and content. */
  private readonly replaced = new Map<string, string>()

  constructor(medium: Medium) {
    this.medium = medium
  }

  /** Checks a pair after both halves have completed, and before the Write is recorded as complete. */
  check(command: Submitted): void {
    const { partner } = command
    if (partner?.status === undefined || command.status === undefined) return
    const [first, second] = command.half === 'first' ? [command, partner] : [partner, command]
    if ([first, second].some(isEndedEarly)) return
    const hasCompared = first.status === '0/00'
    const isRefused = second.status === '0/09'
    const areOfDifferentRanges = first.status === '0/02' && second.status === '0/02'
    if (hasCompared === isRefused && !areOfDifferentRanges) {
      const facts = `${first.name} ended with ${first.status}, ${second.name} with ${second.status}`
      throw new RunFailure('fused', facts)
    }
    // With a status of the fault plan, or without success, nothing was compared or nothing was written.
    if (first.injected.has('status') || second.injected.has('status') || second.status !== '0/00') return
    this.noteReplaced(first, second)
  }

  private noteReplaced({ order, contents }: Submitted, { name }: Submitted): void {
    const { nsid, slba, blocks } = order!
    for (let index = 0; index < blocks; index++) {
      const content: Content = contents[index]!
      // A content that several commands may have written may be replaced several times.
      if (this.medium.writers(nsid, slba + index, content) !== 1) continue
      const key = `${nsid}/${slba + index}/${content}`
      const other = this.replaced.get(key)
      if (other !== undefined) {
        throw new RunFailure('fused', `${name} and ${other} have both replaced the same content of LBA ${slba + index}`)
      }
      this.replaced.set(key, name)
    }
  }

  /** Forgets all replacements: a content that was replaced may have returned. */
  forget(): void {
    this.replaced.clear()
  }
}

/** Returns whether something other than its partner may have ended a half. */
function isEndedEarly({ abortedBy, isDetached, isQueueDeleted, isShutDown }: Submitted): boolean {
  return abortedBy !== undefined || isDetached || isQueueDeleted || isShutDown
}

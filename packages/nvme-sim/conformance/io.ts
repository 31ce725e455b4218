import { transfer, type Entry } from './raw-host/entry.js'
import { prpsOf } from './raw-host/prps.js'
import { equal, fail, success } from './check.js'
import type { Completed } from './completed.js'
import type { ControllerFacts } from './facts.js'
import type { CaseHost } from './host.js'
import type { CaseMemory } from './memory.js'

/** Skip condition for cases that read or write. */
export function needsBlocks({ blocks, metadataBytes }: ControllerFacts): string | undefined {
  if (blocks === 0) return 'namespace 1 is not active'
  return metadataBytes === 0 ? undefined : 'namespace 1 has metadata'
}

/** Returns a skip condition for cases that read or write with this many queue pairs. */
export function needsPairs(count: number): (facts: ControllerFacts) => string | undefined {
  return (facts) => {
    const granted = Math.min(facts.ioSqs, facts.ioCqs)
    return granted < count ? `${count} I/O queue pairs are needed, got ${granted}` : needsBlocks(facts)
  }
}

/** Returns PRP1 and PRP2 for a transfer; a PRP list is written to newly allocated pages. */
export function prps(
  host: CaseHost,
  memory: CaseMemory,
  offset = 0,
  lengthBytes = memory.lengthBytes - offset,
): readonly [prp1: number, prp2: number] {
  return prpsOf(memory, offset, lengthBytes, host.pageBytes, (bytes) => host.alloc(bytes))
}

/** A Read of block 0, for cases that can use any command. */
export function anyRead(host: CaseHost): Entry {
  return transfer(0x02, 0, 1, [host.alloc(host.facts.blockBytes).iova(), 0])
}

/**
 * Submits the entries with one doorbell write and waits for their completions, exactly one for each, which must all be
 * successful. Returns the completions in the order in which they were posted.
 */
export async function batch(host: CaseHost, qid: number, entries: readonly Entry[]): Promise<Completed[]> {
  const { cqid } = host.sqs.get(qid)!
  const cids = entries.map((entry) => host.stage(qid, entry))
  host.ringTail(qid)
  const completed = await host.collect(cqid, cids.length)
  const missing = new Set(cids)
  for (const each of completed) {
    success(each)
    equal('SQID of a completion', each.sqid, qid)
    if (!missing.delete(each.cid))
      fail(`SQ ${qid}: expected one completion for each command, got another of CID ${each.cid}`)
  }
  return completed
}

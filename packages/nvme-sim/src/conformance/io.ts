import { equal, fail, success } from './check.js'
import type { Completed, Entry } from './entry.js'
import type { ControllerFacts } from './facts.js'
import type { CaseHost } from './host.js'
import type { CaseMemory } from './memory.js'

/** For cases that read or write: why they cannot on such a controller. */
export function needsBlocks({ blocks, metadataBytes }: ControllerFacts): string | undefined {
  if (blocks === 0) return 'namespace 1 is not active'
  return metadataBytes === 0 ? undefined : 'namespace 1 has metadata'
}

/** For cases with that many queue pairs, which read or write. */
export function needsPairs(count: number): (facts: ControllerFacts) => string | undefined {
  return (facts) => {
    const granted = Math.min(facts.ioSqs, facts.ioCqs)
    return granted < count ? `${granted} I/O queue pairs, and ${count} are needed` : needsBlocks(facts)
  }
}

/**
 * PRP1 and PRP2 for a transfer. A list takes fresh pages; the last entry of a full page leads to the next one
 * (Base 2.3 §4.3.1).
 */
export function prps(
  host: CaseHost,
  memory: CaseMemory,
  offset = 0,
  lengthBytes = memory.lengthBytes - offset,
): readonly [prp1: number, prp2: number] {
  const { pageBytes } = host
  const prp1 = memory.iova(offset)
  const pages: number[] = []
  for (let at = offset + pageBytes - (prp1 % pageBytes); at < offset + lengthBytes; at += pageBytes) {
    pages.push(memory.iova(at))
  }
  if (pages.length <= 1) return [prp1, pages[0] ?? 0]
  const slots = pageBytes / 8
  const lists = host.alloc(Math.ceil(pages.length / (slots - 1)) * pageBytes)
  let slot = 0
  pages.forEach((page, index) => {
    if (slot % slots === slots - 1 && index < pages.length - 1) lists.set64(8 * slot++, lists.iova(8 * slot))
    lists.set64(8 * slot++, page)
  })
  return [prp1, lists.iova()]
}

/** A Read (02h) or Write (01h), or another command of the same shape, of `blocks` blocks of namespace 1 at `slba`. */
export function transfer(opcode: number, slba: number, blocks: number, [prp1, prp2]: readonly [number, number]): Entry {
  return { opcode, nsid: 1, prp1, prp2, cdw: { 10: slba % 2 ** 32, 11: Math.floor(slba / 2 ** 32), 12: blocks - 1 } }
}

/** A Read of block 0, for cases in which any command will do. */
export function anyRead(host: CaseHost): Entry {
  return transfer(0x02, 0, 1, [host.alloc(host.facts.blockBytes).iova(), 0])
}

/**
 * Submits the entries with one doorbell and waits for their completions, of which there must be one for each and no
 * other, all successful. The completions are in the order in which they were posted.
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

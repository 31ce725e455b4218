import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { ANY, fillBlock, holds, RunFailure, writtenContent, ZEROES } from '@gpunvme/nvme-sim/dst'
import type { DriverNamespace } from '../conformance/driver.js'
import { Change } from './change.js'
import type { Host } from './host.js'
import { plainMemory } from './memory.js'
import type { BlockCall, Extent } from './scenario.js'

/** Salt for data that no step writes: a compare with it must report a difference. */
const NEVER_WRITTEN = 2_000_000

/** Returns whether the driver implements a call and all of its blocks are inside the namespace. */
export function canCall(namespace: DriverNamespace, call: BlockCall): boolean {
  const ranges = rangesOf(call)
  return namespace[call.call] !== undefined && ranges.every(({ slba, blocks }) => slba + blocks <= namespace.blocks)
}

/** Makes a call outside plans and checks its outcome. */
export async function callBlocks(namespace: DriverNamespace, call: BlockCall, host: Host): Promise<void> {
  if (call.call === 'verify') return verify(namespace, call, host)
  if (call.call === 'compare') return compare(namespace, call, host)
  const { medium, scenario, tally } = host
  const { timeoutNs } = scenario
  const { nsid } = namespace
  const ranges = (call.call === 'copy' ? [destinationOf(call)] : rangesOf(call)).map((range) => ({ nsid, ...range }))
  const lbas =
    call.call === 'copy'
      ? call.sources.flatMap(({ slba, blocks }) => [...Array(blocks).keys()].map((i) => slba + i))
      : []
  const contentAt = (index: number) => (call.call === 'copy' ? { nsid, lba: lbas[index]! } : ZEROES)
  const change = new Change(medium, `${call.call} of NSID ${nsid}`, ranges, contentAt)
  try {
    if (call.call === 'copy') await namespace.copy!(call.sources, call.to, { timeoutNs })
    else if (call.call === 'deallocate') await namespace.deallocate!(call.ranges, { timeoutNs })
    else {
      const { range, deallocate, fua } = call
      await namespace.writeZeroes!(range.slba, range.blocks, { deallocate, fua, timeoutNs })
    }
    change.succeeded(call.call === 'writeZeroes' && call.fua)
    tally.add(call.call)
  } catch (error) {
    host.refuse(change.what, error)
    host.later(change.failed(error as GpuNvmeError))
  }
}

async function verify(
  namespace: DriverNamespace,
  { range }: Extract<BlockCall, { call: 'verify' }>,
  host: Host,
): Promise<void> {
  const { timeoutNs } = host.scenario
  try {
    await namespace.verify!(range.slba, range.blocks, { timeoutNs })
    host.tally.add('verify')
  } catch (error) {
    host.refuse(`verify of NSID ${namespace.nsid}`, error)
  }
}

async function compare(
  namespace: DriverNamespace,
  { range, differsAt }: Extract<BlockCall, { call: 'compare' }>,
  host: Host,
): Promise<void> {
  const { medium } = host
  const { timeoutNs } = host.scenario
  const { nsid, blockBytes, dma } = namespace
  const { slba, blocks } = range
  const began = medium.tick()
  const held = plainMemory(dma, blocks * blockBytes)
  const { memory, bytes } = held
  const each = (visit: (block: Uint8Array, lba: number) => void) => {
    for (let i = 0; i < blocks; i++) visit(bytes.subarray(i * blockBytes, (i + 1) * blockBytes), slba + i)
  }
  each((block, lba) => {
    const known = medium.possibleContents(nsid, lba, began).find((content) => content >= 0)
    fillBlock(block, lba === slba + (differsAt ?? NaN) ? writtenContent(NEVER_WRITTEN, nsid, lba) : (known ?? ZEROES))
  })
  try {
    const isEqual = await namespace.compare!(slba, blocks, memory, { timeoutNs })
    let [mayMatch, mayDiffer] = [true, false]
    each((block, lba) => {
      const possible = medium.possibleContents(nsid, lba, began)
      mayMatch &&= possible.some((content) => holds(block, content))
      mayDiffer ||= possible.some((content) => content === ANY || !holds(block, content))
    })
    if (isEqual ? !mayMatch : !mayDiffer) {
      throw new RunFailure('data', `compare of NSID ${nsid}, LBA ${slba}: expected ${!isEqual}, got ${isEqual}`)
    }
    host.tally.add('compare')
  } catch (error) {
    if (error instanceof RunFailure) throw error
    host.refuse(`compare of NSID ${nsid}`, error)
  } finally {
    held.free()
  }
}

/** Returns the block ranges that a call reads or changes. */
function rangesOf(call: BlockCall): readonly Extent[] {
  switch (call.call) {
    case 'copy':
      return [...call.sources, destinationOf(call)]
    case 'deallocate':
      return call.ranges
    default:
      return [call.range]
  }
}

function destinationOf({ sources, to }: Extract<BlockCall, { call: 'copy' }>): Extent {
  return { slba: to, blocks: sources.reduce((sum, { blocks }) => sum + blocks, 0) }
}

import { Copy, CopyRange0, countOf, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import { load, newBlocks, store } from './blocks.js'
import { prepareChange, prepareNamespace } from './checks.js'
import { COPY_LIMITS } from './copy-limits.js'
import { fetchDescriptors } from './descriptors.js'
import type { IoCommand } from './io-command.js'
import { unreadableStatus } from './unreadable.js'

/**
 * Copy within a namespace (NVM 1.2 §3.3.2), with Copy Descriptor Format 0h. Formats 2h and 3h copy between namespaces
 * and must be enabled in Host Behavior Support; CDFS does not report them. All data are read before any are written: a
 * failed Copy has copied nothing, as DW0 = 0 reports, and overlapping ranges are copied as they were before.
 */
export const copy: IoCommand = {
  work: 'write',
  direction: 'from-host',
  effects: { LBCC: 1 },
  prepare(command, device) {
    const fault = prepareNamespace(command, device)
    if (fault) return fault
    const { NR, DESFMT, SDLBA } = Copy.view(command.data)
    if (DESFMT !== 0) return STATUS.INVALID_FIELD_IN_COMMAND
    const ranges = countOf(NR)
    if (ranges > countOf(COPY_LIMITS.MSRC)) return STATUS.COMMAND_SIZE_LIMIT_EXCEEDED
    const list = fetchDescriptors(command, device, ranges * CopyRange0.bytes)
    if (!(list instanceof DataView)) return list
    const range = CopyRange0.view(list)
    command.ranges = Array.from({ length: ranges }, (_, i) => [range.at(i).SLBA, countOf(range.NLB)]).flat()
    command.slba = SDLBA
    command.blocks = totalOf(command.ranges)
    const { blockBytes, metadataBytes } = command.namespace!
    command.inwardBytes = command.blocks * (blockBytes + metadataBytes)
    return limitFault(command) ?? prepareChange(command)
  },
  perform(command) {
    const { slba, blocks, ranges, data } = command
    const namespace = command.namespace!
    const { media } = namespace
    for (let i = 0; i < ranges.length; i += 2) {
      const status = unreadableStatus(command, ranges[i], ranges[i + 1])
      if (status) return status
    }
    const found = newBlocks(namespace, blocks)
    for (let i = 0, at = 0; i < ranges.length; at += ranges[i + 1]!, i += 2) {
      load(namespace, ranges[i]!, ranges[i + 1]!, found, at)
    }
    store(namespace, slba, found)
    if (Copy.view(data).FUA === 1) media.flush()
    return STATUS.SUCCESS
  },
}

function limitFault({ ranges, slba, blocks, namespace }: ServedCommand): StatusCode | undefined {
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i + 1]! > COPY_LIMITS.MSSRL) return STATUS.COMMAND_SIZE_LIMIT_EXCEEDED
  }
  if (blocks > COPY_LIMITS.MCL) return STATUS.COMMAND_SIZE_LIMIT_EXCEEDED
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i]! + ranges[i + 1]! > namespace!.blocks) return STATUS.LBA_OUT_OF_RANGE
  }
  return slba + blocks > namespace!.blocks ? STATUS.LBA_OUT_OF_RANGE : undefined
}

function totalOf(ranges: readonly number[]): number {
  return ranges.reduce((sum, value, index) => (index % 2 === 1 ? sum + value : sum), 0)
}

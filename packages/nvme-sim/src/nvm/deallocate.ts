import {
  countOf,
  DatasetManagement,
  DatasetManagementRange,
  STATUS,
  WriteZeroes,
  WriteZeroesDw0,
} from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import { deallocate } from '../media/media.js'
import { metadataOffset } from './blocks.js'
import { prepareChange, prepareNamespace, prepareRange } from './checks.js'
import { fetchDescriptors } from './descriptors.js'
import type { IoCommand } from './io-command.js'
import type { Namespace } from './namespace.js'

/**
 * Dataset Management (NVM 1.2 §3.3.3). Deallocate is done, on every block that is asked for; the other attributes are
 * taken and change nothing, as they may. Every range is checked, whatever its attributes.
 */
export const datasetManagement: IoCommand = {
  work: 'deallocate',
  direction: 'from-host',
  effects: { LBCC: 1 },
  prepare(command, device) {
    const fault = prepareNamespace(command, device)
    if (fault) return fault
    const { NR } = DatasetManagement.view(command.data)
    const list = fetchDescriptors(command, device, countOf(NR) * DatasetManagementRange.bytes)
    if (!(list instanceof DataView)) return list
    const range = DatasetManagementRange.view(list)
    const ranges: number[] = []
    for (let i = 0; i < countOf(NR); i++) {
      const { SLBA, LLB } = range.at(i)
      if (SLBA + LLB > command.namespace!.blocks) return STATUS.LBA_OUT_OF_RANGE
      ranges.push(SLBA, LLB)
    }
    command.ranges = ranges
    return isDeallocate(command) ? prepareChange(command) : undefined
  },
  perform(command) {
    const { ranges, namespace } = command
    if (!isDeallocate(command)) return STATUS.SUCCESS
    for (let i = 0; i < ranges.length; i += 2) clear(namespace!, ranges[i]!, ranges[i + 1]!)
    return STATUS.SUCCESS
  },
}

/**
 * Write Zeroes (NVM 1.2 §3.3.8), with and without Deallocate, which are the same here: what is deallocated reads as
 * zero, metadata too. With Namespace Zeroes it clears all of the namespace.
 */
export const writeZeroes: IoCommand = {
  work: 'deallocate',
  direction: 'none',
  effects: { LBCC: 1 },
  prepare(command, device) {
    const { NSZ, DEAC } = WriteZeroes.view(command.data)
    if (NSZ === 0) return prepareRange(command, device) ?? prepareChange(command)
    const fault = prepareNamespace(command, device)
    if (fault) return fault
    // Only where a deallocated block reads as zero, which DLFEAT does not say of media that move no bytes.
    const { media, blocks } = command.namespace!
    if (DEAC === 0 || media.movesData === false) return STATUS.INVALID_FIELD_IN_COMMAND
    command.slba = 0
    command.blocks = blocks
    return prepareChange(command)
  },
  perform(command) {
    const { namespace, slba, blocks, data } = command
    const { NSZ, FUA } = WriteZeroes.view(data)
    clear(namespace!, slba, blocks)
    if (FUA === 1) namespace!.media.flush()
    command.dw0 = WriteZeroesDw0.encode({ LBACZ: NSZ })
    return STATUS.SUCCESS
  },
}

function isDeallocate({ data }: ServedCommand): boolean {
  return DatasetManagement.view(data).AD === 1
}

function clear(namespace: Namespace, slba: number, count: number): void {
  const { media, blockBytes, metadataBytes, unreadable } = namespace
  deallocate(media, slba * blockBytes, count * blockBytes)
  if (metadataBytes > 0) deallocate(media, metadataOffset(namespace, slba), count * metadataBytes)
  unreadable.remove(slba, count)
}

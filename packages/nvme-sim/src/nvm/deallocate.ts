import {
  countOf,
  DatasetManagement,
  DatasetManagementRange,
  STATUS,
  WriteZeroes,
  WriteZeroesDw0,
} from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import { deallocate, deallocatePart } from '../media/media.js'
import { metadataOffset } from './blocks.js'
import { prepareChange, prepareNamespace, prepareRange } from './checks.js'
import { fetchDescriptors } from './descriptors.js'
import type { IoCommand } from './io-command.js'
import { LbaRanges } from './lba-ranges.js'

/**
 * Dataset Management (NVM 1.2 §3.3.3). Every requested block is deallocated; other attributes are accepted and have no
 * effect, as permitted. All ranges are checked, whatever their attributes, and no block is deallocated twice: 256
 * ranges may each be the whole namespace.
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
    const ranges = new LbaRanges()
    for (let i = 0; i < countOf(NR); i++) {
      const { SLBA, LLB } = range.at(i)
      if (SLBA + LLB > command.namespace!.blocks) return STATUS.LBA_OUT_OF_RANGE
      if (LLB > 0) ranges.add(SLBA, LLB)
    }
    command.ranges = ranges.list()
    return isDeallocate(command) ? prepareChange(command) : undefined
  },
  perform(command) {
    if (isDeallocate(command) && !clearSome(command)) return undefined
    return STATUS.SUCCESS
  },
}

/**
 * Write Zeroes (NVM 1.2 §3.3.8). With and without Deallocate is the same here, since deallocated blocks and their
 * metadata read as zero. With Namespace Zeroes it clears the whole namespace.
 */
export const writeZeroes: IoCommand = {
  work: 'deallocate',
  direction: 'none',
  effects: { LBCC: 1 },
  prepare(command, device) {
    const { NSZ, DEAC } = WriteZeroes.view(command.data)
    const fault = NSZ === 0 ? prepareRange(command, device) : prepareNamespace(command, device)
    if (fault) return fault
    if (NSZ === 0) {
      command.ranges = [command.slba, command.blocks]
      return prepareChange(command)
    }
    // Only if deallocated blocks read as zero, which DLFEAT does not report for media that move no bytes.
    const { media, blocks } = command.namespace!
    if (DEAC === 0 || media.movesData === false) return STATUS.INVALID_FIELD_IN_COMMAND
    command.slba = 0
    command.blocks = blocks
    command.ranges = [0, blocks]
    return prepareChange(command)
  },
  perform(command) {
    const { namespace, data } = command
    const { NSZ, FUA } = WriteZeroes.view(data)
    if (!clearSome(command)) return undefined
    if (FUA === 1) namespace!.media.flush()
    command.dw0 = WriteZeroesDw0.encode({ LBACZ: NSZ })
    return STATUS.SUCCESS
  },
}

function isDeallocate({ data }: ServedCommand): boolean {
  return DatasetManagement.view(data).AD === 1
}

/**
 * Clears the command's ranges and removes them from it: all of them, or some if that may take long. Returns whether
 * none is left.
 */
function clearSome(command: ServedCommand): boolean {
  do clearFirst(command)
  while (command.ranges.length > 0 && command.namespace!.media.deallocatePart === undefined)
  return command.ranges.length === 0
}

function clearFirst(command: ServedCommand): void {
  const [slba, count, ...others] = command.ranges
  if (slba === undefined || count === undefined) return
  const namespace = command.namespace!
  const { media, blockBytes, metadataBytes, unreadable } = namespace
  const done = deallocatePart(media, slba * blockBytes, count * blockBytes) / blockBytes
  if (metadataBytes > 0) deallocate(media, metadataOffset(namespace, slba), done * metadataBytes)
  unreadable.remove(slba, done)
  command.ranges = done < count ? [slba + done, count - done, ...others] : others
}

import { STATUS } from '@gpunvme/nvme-spec'
import { load, newBlocks, receiveBlocks } from './blocks.js'
import { prepareBlocks, prepareRange } from './checks.js'
import type { IoCommand } from './io-command.js'
import { unknownStatus } from './unreadable.js'

/** Bounds the memory of a Verify of many blocks. */
const BLOCKS_AT_A_TIME = 2048

/** Compare, of data and metadata (NVM 1.2 §3.3.1). */
export const compare: IoCommand = {
  work: 'read',
  direction: 'from-host',
  prepare: prepareBlocks,
  perform(command, device) {
    const namespace = command.namespace!
    if (command.readWrite.FUA === 1) namespace.media.flush()
    const status = unknownStatus(command, device)
    if (status) return status
    const given = receiveBlocks(command, device)
    if ('sc' in given) return given
    const stored = newBlocks(namespace, command.blocks)
    load(namespace, command.slba, command.blocks, stored)
    const isEqual = areEqual(given.data, stored.data) && areEqual(given.metadata, stored.metadata)
    return isEqual ? STATUS.SUCCESS : STATUS.COMPARE_FAILURE
  },
}

/** Verify: like a Read, without a transfer (NVM 1.2 §3.3.5). */
export const verify: IoCommand = {
  work: 'read',
  direction: 'none',
  prepare(command, device) {
    const fault = prepareRange(command, device)
    if (fault) return fault
    const { blockBytes, metadataBytes } = command.namespace!
    command.inwardBytes = command.blocks * (blockBytes + metadataBytes)
    return undefined
  },
  perform(command, device) {
    const { slba, blocks } = command
    const namespace = command.namespace!
    if (command.readWrite.FUA === 1) namespace.media.flush()
    const status = unknownStatus(command, device)
    if (status) return status
    const scratch = newBlocks(namespace, Math.min(blocks, BLOCKS_AT_A_TIME))
    for (let done = 0; done < blocks; done += BLOCKS_AT_A_TIME) {
      load(namespace, slba + done, Math.min(BLOCKS_AT_A_TIME, blocks - done), scratch)
    }
    return STATUS.SUCCESS
  },
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

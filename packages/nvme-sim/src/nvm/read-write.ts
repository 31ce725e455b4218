import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { moveRuns } from '../memory/runs.js'
import { load, newBlocks, receiveBlocks, sendBlocks, store } from './blocks.js'
import { prepareBlocks, prepareWrite } from './checks.js'
import type { IoCommand } from './io-command.js'
import { unreadableStatus } from './unreadable.js'

/** Read (NVM 1.2 §3.3.4). */
export const read: IoCommand = {
  work: 'read',
  direction: 'to-host',
  prepare: prepareBlocks,
  perform(command, device) {
    const { media, unreadable, isPlain } = command.namespace!
    // Force Unit Access: cached data are flushed to the medium and read from there.
    if (command.readWrite.FUA === 1) media.flush()
    if (!unreadable.isEmpty) {
      const status = unreadableStatus(command)
      if (status) return status
    }
    return isPlain ? readRuns(command, device) : readBlocks(command, device)
  },
}

/** Write (NVM 1.2 §3.3.6). */
export const write: IoCommand = {
  work: 'write',
  direction: 'from-host',
  effects: { LBCC: 1 },
  prepare: prepareWrite,
  perform(command, device) {
    const { namespace, slba, blocks } = command
    const { media, unreadable, isPlain } = namespace!
    const status = isPlain ? writeRuns(command, device) : writeBlocks(command, device)
    if (status !== STATUS.SUCCESS) return status
    if (!unreadable.isEmpty) unreadable.remove(slba, blocks)
    if (command.readWrite.FUA === 1) media.flush()
    return STATUS.SUCCESS
  },
}

function readRuns(command: ServedCommand, { memory }: Device): StatusCode {
  return moveRuns(command.runs, memory, 'write', Infinity, command, readPiece) ?? STATUS.SUCCESS
}

function writeRuns(command: ServedCommand, { memory }: Device): StatusCode {
  return moveRuns(command.runs, memory, 'read', Infinity, command, writePiece) ?? STATUS.SUCCESS
}

function readPiece({ namespace, slba }: ServedCommand, piece: Uint8Array, at: number): void {
  namespace!.media.read(slba * namespace!.blockBytes + at, piece)
}

function writePiece({ namespace, slba }: ServedCommand, piece: Uint8Array, at: number): void {
  namespace!.media.write(slba * namespace!.blockBytes + at, piece)
}

function readBlocks(command: ServedCommand, device: Device): StatusCode {
  const { slba, blocks } = command
  const namespace = command.namespace!
  if (namespace.media.movesData === false) return STATUS.SUCCESS
  const found = newBlocks(namespace, blocks)
  load(namespace, slba, blocks, found)
  return sendBlocks(command, device, found)
}

function writeBlocks(command: ServedCommand, device: Device): StatusCode {
  const namespace = command.namespace!
  if (namespace.media.movesData === false) return STATUS.SUCCESS
  const blocks = receiveBlocks(command, device)
  if ('sc' in blocks) return blocks
  store(namespace, command.slba, blocks)
  return STATUS.SUCCESS
}

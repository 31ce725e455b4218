import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { gather, scatter } from '../memory/runs.js'
import type { Namespace } from './namespace.js'

// Logical blocks with their metadata in separate memory: for all commands except Read and Write without metadata, which
// need no second copy. On the media, all data precede the metadata of all blocks.

/** Logical blocks: their data, and their metadata if the format has any. */
export interface Blocks {
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/** Allocates memory for `count` blocks of a namespace. */
export function newBlocks({ blockBytes, metadataBytes }: Namespace, count: number): Blocks {
  return { data: new Uint8Array(count * blockBytes), metadata: new Uint8Array(count * metadataBytes) }
}

/** Reads blocks from the media into `into`, from its block `at`. */
export function load(namespace: Namespace, slba: number, count: number, into: Blocks, at = 0): void {
  const { media, blockBytes, metadataBytes } = namespace
  media.read(slba * blockBytes, into.data.subarray(at * blockBytes, (at + count) * blockBytes))
  if (metadataBytes === 0) return
  media.read(metadataOffset(namespace, slba), into.metadata.subarray(at * metadataBytes, (at + count) * metadataBytes))
}

/** Writes blocks to the media; blocks marked as unreadable become readable. */
export function store(namespace: Namespace, slba: number, { data, metadata }: Blocks): void {
  const { media, blockBytes, metadataBytes, unreadable } = namespace
  media.write(slba * blockBytes, data)
  if (metadataBytes > 0) media.write(metadataOffset(namespace, slba), metadata)
  if (!unreadable.isEmpty) unreadable.remove(slba, data.length / blockBytes)
}

/** Returns the offset of a block's metadata on the media. */
export function metadataOffset({ formattedBlocks, blockBytes, metadataBytes }: Namespace, slba: number): number {
  return formattedBlocks * blockBytes + slba * metadataBytes
}

/** Sends the blocks of a command to the host, in the metadata format of its namespace. */
export function sendBlocks(command: ServedCommand, device: Device, blocks: Blocks): StatusCode {
  const { namespace, runs, metadataRuns } = command
  const { isExtended } = namespace!
  const data = isExtended ? interleave(namespace!, blocks) : blocks.data
  const fault = scatter(runs, device.memory, data)
  if (fault || isExtended) return fault ?? STATUS.SUCCESS
  return scatter(metadataRuns, device.memory, blocks.metadata) ?? STATUS.SUCCESS
}

/** Receives the blocks of a command from the host, or returns the status of the failure. */
export function receiveBlocks(command: ServedCommand, device: Device): Blocks | StatusCode {
  const { namespace, runs, metadataRuns } = command
  const { isExtended, blockBytes, metadataBytes } = namespace!
  const blocks = newBlocks(namespace!, command.blocks)
  if (!isExtended) {
    return gather(runs, device.memory, blocks.data) ?? gather(metadataRuns, device.memory, blocks.metadata) ?? blocks
  }
  const extended = new Uint8Array(command.blocks * (blockBytes + metadataBytes))
  const fault = gather(runs, device.memory, extended)
  if (fault) return fault
  for (let i = 0; i < command.blocks; i++) {
    const at = i * (blockBytes + metadataBytes)
    blocks.data.set(extended.subarray(at, at + blockBytes), i * blockBytes)
    blocks.metadata.set(extended.subarray(at + blockBytes, at + blockBytes + metadataBytes), i * metadataBytes)
  }
  return blocks
}

/** Extended logical blocks: the metadata of each block follow its data (NVM 1.2 §5.2.3). */
function interleave({ blockBytes, metadataBytes }: Namespace, { data, metadata }: Blocks): Uint8Array {
  const extended = new Uint8Array(data.length + metadata.length)
  for (let i = 0; i * blockBytes < data.length; i++) {
    const at = i * (blockBytes + metadataBytes)
    extended.set(data.subarray(i * blockBytes, (i + 1) * blockBytes), at)
    extended.set(metadata.subarray(i * metadataBytes, (i + 1) * metadataBytes), at + blockBytes)
  }
  return extended
}

import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { gather, scatter } from '../memory/runs.js'
import type { Namespace } from './namespace.js'

// Logical blocks with their metadata, in memory of their own: for every command but a Read or Write without metadata,
// which has no need of a second copy. On the media all data come first, and then the metadata of all blocks.

/** Some logical blocks: their data, and their metadata where the format has any. */
export interface Blocks {
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/** Memory for `count` blocks of a namespace. */
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

/** Writes blocks to the media; what was marked as unreadable there is readable again. */
export function store(namespace: Namespace, slba: number, { data, metadata }: Blocks): void {
  const { media, blockBytes, metadataBytes, unreadable } = namespace
  media.write(slba * blockBytes, data)
  if (metadataBytes > 0) media.write(metadataOffset(namespace, slba), metadata)
  if (!unreadable.isEmpty) unreadable.remove(slba, data.length / blockBytes)
}

/** Where the metadata of a block begins on the media. */
export function metadataOffset({ formattedBlocks, blockBytes, metadataBytes }: Namespace, slba: number): number {
  return formattedBlocks * blockBytes + slba * metadataBytes
}

/** Gives the host the blocks of a command, in the way that its namespace transfers metadata. */
export function sendBlocks(command: ServedCommand, device: Device, blocks: Blocks): StatusCode {
  const { namespace, runs, metadataRuns } = command
  const { isExtended } = namespace!
  const data = isExtended ? interleave(namespace!, blocks) : blocks.data
  const fault = scatter(runs, device.memory, data)
  if (fault || isExtended) return fault ?? STATUS.SUCCESS
  return scatter(metadataRuns, device.memory, blocks.metadata) ?? STATUS.SUCCESS
}

/** Takes the blocks of a command from the host, or says why that cannot be. */
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

/** Extended logical blocks: behind the data of each its metadata (NVM 1.2 §5.2.3). */
function interleave({ blockBytes, metadataBytes }: Namespace, { data, metadata }: Blocks): Uint8Array {
  const extended = new Uint8Array(data.length + metadata.length)
  for (let i = 0; i * blockBytes < data.length; i++) {
    const at = i * (blockBytes + metadataBytes)
    extended.set(data.subarray(i * blockBytes, (i + 1) * blockBytes), at)
    extended.set(metadata.subarray(i * metadataBytes, (i + 1) * metadataBytes), at + blockBytes)
  }
  return extended
}

import type { FetchTable } from '@gpunvme/cuda-native/cuda'
import { BLOCK_BYTES, KIB } from './context.js'
import { crc32 } from './crc32.js'

const EXTENTS = 3

/** A range of bytes on a drive, and its place in the memory of its expert: `gnv_extent`. */
export interface ExpertExtent {
  readonly firstBlock: number
  readonly blocks: number
  /** Offset of the extent's first block in the expert's memory. */
  readonly offset: number
  readonly skip: number
  readonly bytes: number
  readonly crc32: number
  /** Sum of the bytes, each multiplied by its position from 1. */
  readonly sum: number
}

/** Queues of a drive from which experts are read. */
export interface QueueShape {
  readonly queues: number
  readonly queueEntries: number
  readonly queueDepth: number
}

export interface ExpertModel {
  readonly table: FetchTable
  /** Extents of each expert of each layer. */
  readonly layers: readonly (readonly (readonly ExpertExtent[])[])[]
}

/**
 * Divides a drive's content into experts with three extents of 4 to 12 KiB, which start and end anywhere in a block. Extents
 * are contiguous, and wrap around at the end of the drive: experts of different layers can share bytes.
 */
export function expertModel(media: Uint8Array, layerCount: number, expertCount: number): ExpertModel {
  let start = 7
  let number = 0
  const extent = (offset: number): ExpertExtent => {
    const bytes = 4 * KIB + ((number++ * 2_654_435) % (8 * KIB))
    if (start + bytes > media.length) start = 7
    const skip = start % BLOCK_BYTES
    const [firstBlock, blocks] = [(start - skip) / BLOCK_BYTES, Math.ceil((skip + bytes) / BLOCK_BYTES)]
    const data = media.subarray(start, start + bytes)
    start += bytes
    return { firstBlock, blocks, offset, skip, bytes, crc32: crc32(data), sum: weightedSum(data) }
  }
  const expert = () => {
    const extents: ExpertExtent[] = []
    for (let count = 0; count < EXTENTS; count++) extents.push(extent(endOf(extents)))
    return extents
  }
  const layers = Array.from({ length: layerCount }, () => Array.from({ length: expertCount }, expert))
  return { table: tableOf(layers), layers }
}

/** Returns the sum of an expert's data, as kernels compute it. */
export function sumOfExpert(extents: readonly ExpertExtent[]): number {
  return extents.reduce((sum, extent) => sum + extent.sum, 0)
}

function weightedSum(data: Uint8Array): number {
  let sum = 0
  for (let at = 0; at < data.length; at++) sum += data[at]! * (at + 1)
  return sum
}

/** Size of an expert's memory. */
function endOf(extents: readonly ExpertExtent[]): number {
  const last = extents.at(-1)
  return last === undefined ? 0 : last.offset + last.blocks * BLOCK_BYTES
}

/** Encodes a `gnv_table` of gpunvme_fetch.h. */
function tableOf(layers: ExpertModel['layers']): FetchTable {
  const experts = layers.flat()
  const extents = experts.flat()
  const maxBytes = experts.reduce((max, each) => Math.max(max, endOf(each)), 0)
  const layersAt = 64
  const expertsAt = layersAt + 8 * layers.length
  const extentsAt = expertsAt + 16 * experts.length
  const view = new DataView(new ArrayBuffer(extentsAt + 40 * extents.length))
  const put32 = (at: number, ...words: readonly number[]) =>
    words.forEach((word, index) => view.setUint32(at + 4 * index, word, true))
  const put64 = (at: number, ...words: readonly number[]) =>
    words.forEach((word, index) => view.setBigUint64(at + 8 * index, BigInt(word), true))
  const version = 1
  put32(0, version, layers.length, experts.length, extents.length, EXTENTS, Math.log2(BLOCK_BYTES))
  put64(24, maxBytes, layersAt, expertsAt, extentsAt, view.byteLength)
  layers.forEach((layer, index) => put32(layersAt + 8 * index, index * layer.length, layer.length))
  experts.forEach((each, index) => {
    put64(expertsAt + 16 * index, endOf(each))
    put32(expertsAt + 16 * index + 8, index * EXTENTS, EXTENTS)
  })
  extents.forEach((each, index) => {
    const [at, drive] = [extentsAt + 40 * index, 0]
    put64(at, each.firstBlock, each.offset, each.bytes)
    put32(at + 24, each.skip, drive, each.crc32)
  })
  const names = layers.map((_, index) => `layer ${index}`)
  return { bytes: new Uint8Array(view.buffer), layers: names, maxBytes, maxExtents: EXTENTS }
}

/** Returns the experts that the kernel route_experts selects in launch number `launch`, from 0. */
export function routed(launch: number, { experts, positions }: { experts: number; positions: number }): number[] {
  return Array.from({ length: positions }, (_, position) => (launch * 37 + position * (2 * launch + 1)) % experts)
}

import { crc32 } from 'node:zlib'
import { endingOf, fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { mutate, type Dice, type Range } from '../../../../test/fuzz/mutator.js'
import { findPartitions, openFileSystem } from '../../src/filesystems/index.js'
import { memorySource } from '../../src/formats/byte-source.js'

const BLOCK_BYTES = 512
const BLOCKS = 256
const ENTRIES = 4

/** Writes a record of an MBR: type, first LBA, number of blocks. */
function putRecord(bytes: Buffer, lba: number, index: number, type: number, first: number, blocks: number): void {
  const at = lba * BLOCK_BYTES + 446 + 16 * index
  bytes[at + 4] = type
  bytes.writeUInt32LE(first, at + 8)
  bytes.writeUInt32LE(blocks, at + 12)
  bytes.writeUInt16LE(0xaa55, lba * BLOCK_BYTES + 510)
}

/** Corrects the checksums of a GPT's header and entries. */
function sealGpt(bytes: Buffer, headerLba: number): void {
  const header = bytes.subarray(headerLba * BLOCK_BYTES, (headerLba + 1) * BLOCK_BYTES)
  const entriesAt = Number(header.readBigUInt64LE(72)) * BLOCK_BYTES
  const entries = bytes.subarray(entriesAt, entriesAt + header.readUInt32LE(80) * header.readUInt32LE(84))
  header.writeUInt32LE(crc32(entries), 88)
  header.writeUInt32LE(0, 16)
  header.writeUInt32LE(crc32(header.subarray(0, Math.min(header.readUInt32LE(12), BLOCK_BYTES))), 16)
}

/** A GPT with two partitions, and its backup in the last block. */
function makeGpt(): Buffer {
  const bytes = Buffer.alloc(BLOCKS * BLOCK_BYTES)
  putRecord(bytes, 0, 0, 0xee, 1, BLOCKS - 1)
  for (const [headerLba, entriesLba] of [
    [1, 2],
    [BLOCKS - 1, BLOCKS - 2],
  ] as const) {
    const header = bytes.subarray(headerLba * BLOCK_BYTES)
    header.write('EFI PART')
    for (const [at, value] of [
      [8, 0x1_0000],
      [12, 92],
      [80, ENTRIES],
      [84, 128],
    ] as const)
      header.writeUInt32LE(value, at)
    for (const [at, value] of [
      [24, headerLba],
      [40, 3],
      [48, BLOCKS - 3],
      [72, entriesLba],
    ] as const)
      header.writeBigUInt64LE(BigInt(value), at)
    for (const [index, first, last] of [
      [0, 8, 99],
      [2, 100, 199],
    ] as const) {
      const entry = bytes.subarray(entriesLba * BLOCK_BYTES + 128 * index)
      entry.fill(0x11, 0, 16)
      entry.writeBigUInt64LE(BigInt(first), 32)
      entry.writeBigUInt64LE(BigInt(last), 40)
      entry.write('models', 56, 'utf16le')
    }
    sealGpt(bytes, headerLba)
  }
  return bytes
}

/** An MBR with a primary partition, and an extended one with two logical ones. */
function makeMbr(): Buffer {
  const bytes = Buffer.alloc(BLOCKS * BLOCK_BYTES)
  putRecord(bytes, 0, 0, 0x83, 8, 32)
  putRecord(bytes, 0, 1, 0x05, 64, 128)
  putRecord(bytes, 64, 0, 0x83, 8, 16)
  putRecord(bytes, 64, 1, 0x05, 64, 64)
  putRecord(bytes, 128, 0, 0x07, 8, 16)
  return bytes
}

const gpt = makeGpt()
const mbr = makeMbr()
/** The nonzero parts of both tables. */
const GPT_RANGES: readonly Range[] = [
  [446, 66],
  [512, 92],
  [512, 92],
  [1024, 512],
  [(BLOCKS - 2) * 512, 512],
  [(BLOCKS - 1) * 512, 92],
]
const MBR_RANGES: readonly Range[] = [0, 64, 128].map((lba) => [lba * BLOCK_BYTES + 446, 66])

async function find(dice: Dice): Promise<string> {
  const isGpt = dice.chance(0.5)
  const bytes = isGpt ? mutate(gpt, dice, 'fields', GPT_RANGES) : mutate(mbr, dice, 'fields', MBR_RANGES)
  if (isGpt && dice.chance(0.8)) for (const lba of [1, BLOCKS - 1]) trySeal(bytes, lba)
  const source = memorySource(bytes, 'hostile')
  return endingOf(async () => {
    const { partitions } = await findPartitions(source)
    for (const { startBytes, lengthBytes } of partitions) {
      if (!(startBytes >= 0 && lengthBytes > 0 && startBytes + lengthBytes <= bytes.length))
        throw new Error(`a partition outside of the device: ${lengthBytes} bytes from ${startBytes}`)
      await endingOf(() => openFileSystem(source, { partition: { startBytes, lengthBytes } }))
    }
  })
}

/** Corrects the checksums of a GPT, unless its header points outside of the device. */
function trySeal(bytes: Buffer, headerLba: number): void {
  const entriesLba = bytes.readBigUInt64LE(headerLba * BLOCK_BYTES + 72)
  if (entriesLba < BigInt(BLOCKS)) sealGpt(bytes, headerLba)
}

testFuzzer(fuzzer('partitions', find), 3000, ['accepted', 'ERR_GPUNVME_PARTITION_TABLE'])

import { readFileSync } from 'node:fs'
import { endingOf, fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { mutate, type Dice, type Range } from '../../../../test/fuzz/mutator.js'
import { scratch } from '../../../../test/scratch.js'
import { fileOnDiskSource, openFileSystem } from '../../src/filesystems/index.js'
import { memorySource, type ByteSource } from '../../src/formats/byte-source.js'
import { BIG as EXT4_BIG, ext4Images } from '../filesystems/ext4-image.js'
import { ExFatWriter } from '../filesystems/exfat-writer.js'
import { BIG as FAT32_BIG, fat32Images, LONG_NAME } from '../filesystems/fat32-image.js'
import { emptyImage, MIB, missing, noise, run } from '../filesystems/images.js'

// Images created by standard tools, with mutations in the metadata that is read before the file content.

const MAX_ASKED_BYTES = 64 * MIB
const folder = scratch()

/** A source that records which bytes were read. */
function noting(bytes: Uint8Array): ByteSource & { readonly asked: Range[] } {
  const inner = memorySource(bytes, 'hostile')
  const asked: Range[] = []
  return {
    ...inner,
    asked,
    read(offsetBytes, into, options) {
      asked.push([offsetBytes, into.byteLength])
      return inner.read(offsetBytes, into, options)
    },
  }
}

/** Opens the file system, lists it and finds the file. Returns the first bytes of the file. */
async function read(source: ByteSource, path: string): Promise<Buffer> {
  const fileSystem = await openFileSystem(source)
  await fileSystem.list('/')
  const view = fileOnDiskSource(source, await fileSystem.file(path))
  const into = Buffer.alloc(Math.min(view.sizeBytes, 4 * MIB))
  await view.read(0, into)
  return into
}

interface Image {
  readonly bytes: Buffer
  readonly path: string
  readonly content: Buffer
  /** Whether checksums protect the structures, so that a change is detected. */
  readonly isChecksummed: boolean
  readonly metadata: readonly Range[]
}

async function imageOf(bytes: Buffer, path: string, content: Buffer, isChecksummed = false): Promise<Image> {
  const source = noting(bytes)
  if (!content.equals(await read(source, path))) throw new Error('the image itself is not read correctly')
  const { extents } = await (await openFileSystem(memorySource(bytes))).file(path)
  const isContent = (offsetBytes: number) =>
    extents.some((run) => offsetBytes >= run.deviceOffsetBytes && offsetBytes < run.deviceOffsetBytes + run.lengthBytes)
  const metadata = source.asked.filter(([offsetBytes]) => !isContent(offsetBytes))
  return { bytes, path, content, isChecksummed, metadata }
}

/** Creates a case that damages one of the images. The first case creates the images. */
function damaging(make: () => Promise<Image[]>): (dice: Dice) => Promise<string> {
  let made: Promise<Image[]> | undefined
  return async (dice) => {
    const { bytes, path, content, isChecksummed, metadata } = dice.pick(await (made ??= make()))
    const [offsetBytes, lengthBytes] = dice.pick(metadata)
    const before = Buffer.from(bytes.subarray(offsetBytes, offsetBytes + lengthBytes))
    bytes.set(mutate(before, dice, 'fields'), offsetBytes)
    const source = noting(bytes)
    let got: Buffer | undefined
    const ending = await endingOf(async () => (got = await read(source, path)))
    bytes.set(before, offsetBytes)
    const askedBytes = source.asked.reduce((sum, [, lengthBytes]) => sum + lengthBytes, 0)
    if (askedBytes > MAX_ASKED_BYTES) throw new Error(`read ${askedBytes} bytes`)
    if (got === undefined) return ending
    if (content.equals(got)) return 'accepted'
    if (isChecksummed) throw new Error('returned other bytes in spite of the checksums')
    return 'accepted, other bytes'
  }
}

const DAMAGED = 'ERR_GPUNVME_FILE_SYSTEM_DAMAGED'

testFuzzer(
  fuzzer(
    'ext4',
    damaging(() => {
      const image = ext4Images(folder)
      const plain = readFileSync(image('plain', ['-b', '1024', '-O', '^metadata_csum']))
      return Promise.all([
        imageOf(readFileSync(image('ext4', ['-b', '1024'])), 'models/deep/link', EXT4_BIG, true),
        imageOf(plain, 'models/deep/link', EXT4_BIG),
      ])
    }),
  ),
  600,
  ['accepted', DAMAGED],
  missing('mkfs.ext4', 'debugfs'),
)

testFuzzer(
  fuzzer(
    'fat32',
    damaging(async () => [
      await imageOf(readFileSync(fat32Images(folder)('fat32', ['-s', '1'])), `models/deep/${LONG_NAME}`, FAT32_BIG),
    ]),
  ),
  300,
  ['accepted', DAMAGED],
  missing('mkfs.vfat', 'mcopy', 'mmd', 'mdel'),
)

testFuzzer(
  fuzzer(
    'exfat',
    damaging(async () => {
      const path = emptyImage(`${folder}/exfat`, 16 * MIB)
      run('mkfs.exfat', ['-c', '512', path])
      const bytes = readFileSync(path)
      const writer = new ExFatWriter(bytes)
      const content = noise(400_000, 3)
      writer.file(writer.directory(writer.rootDirectory, 'models', 2), 'big.gguf', content, 'in pieces')
      return [await imageOf(bytes, 'models/big.gguf', content)]
    }),
  ),
  300,
  ['accepted', DAMAGED],
  missing('mkfs.exfat'),
)

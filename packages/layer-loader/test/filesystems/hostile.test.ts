import { describe, expect, test } from 'vitest'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { fileOnDiskSource, findPartitions, openFileSystem } from '../../src/filesystems/index.js'
import { memorySource, type ByteSource } from '../../src/formats/byte-source.js'
import { MIB, noise } from './images.js'

// test/fuzz/file-systems.test.ts mutates real images.

/** Lists the root and reads a file. @returns the bytes of the file, or the coded error of a file system. */
async function attempt(source: ByteSource, path: string): Promise<Buffer | GpuNvmeError> {
  try {
    const fileSystem = await openFileSystem(source)
    await fileSystem.list('/')
    const file = await fileSystem.file(path)
    const view = fileOnDiskSource(source, file)
    const into = Buffer.alloc(Math.min(view.sizeBytes, 4 * MIB))
    await view.read(0, into)
    return into
  } catch (error) {
    if (error instanceof GpuNvmeError && error.code.startsWith('ERR_GPUNVME_FILE_SYSTEM_')) return error
    throw error
  }
}

describe('a device with random content', () => {
  test('a device with random content of any length has no known file system and no partitions', async () => {
    for (const lengthBytes of [0, 1, 511, 512, 1024, 1536, 2048, 4095, 4096, 65_536]) {
      const source = memorySource(noise(lengthBytes, lengthBytes))
      await expect(openFileSystem(source)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_SYSTEM_UNKNOWN' })
      expect((await findPartitions(source)).kind).toBe('none')
    }
  })

  test('and the magic number of a file system is rejected with a coded error', async () => {
    for (let seed = 0; seed < 300; seed++) {
      const bytes = noise(65_536, seed)
      if (seed % 3 === 0) bytes.writeUInt16LE(0xef53, 1024 + 0x38)
      if (seed % 3 === 1) bytes.write('EXFAT   ', 3)
      if (seed % 3 === 2) Buffer.from([0xeb, 0x58, 0x90]).copy(bytes)
      if (seed % 3 === 2) Buffer.from([0, 2, 1, 32, 0, 2, 0, 0, 0, 0]).copy(bytes, 11)
      bytes.writeUInt16LE(0xaa55, 510)
      expect(await attempt(memorySource(bytes), 'model.gguf')).toBeInstanceOf(GpuNvmeError)
    }
  })
})

import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { hostMemory } from '../../test/host-memory.js'
import { createStripe } from '../sets/create-set.js'
import { openSet } from '../sets/open-set.js'
import type { OpenFile } from './file-store-blocks.js'
import { openWritableFileStore, WritableFileBlocks } from './file-store-writable.js'

const folder = scratch()
const MIB = 1024 * 1024

function existing(name: string, content: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

test('a new file has the requested size, is sparse, and contains flushed writes', async () => {
  const path = join(folder, 'new')
  const bytes = Uint8Array.from({ length: 3 * MIB }, (_, index) => (index * 7) ^ (index >>> 11))
  {
    await using store = await openWritableFileStore(path, { sizeBytes: 64 * MIB })
    expect(store).toMatchObject({ capacityBytes: 64 * MIB, blockBytes: 4096, name: path })
    expect(statSync(path).blocks * 512).toBeLessThan(MIB)
    const run = { offsetBytes: 5 * MIB, lengthBytes: 3 * MIB - 8192, memoryBytes: 4096 }
    const summary = await store.write([run], hostMemory(bytes))
    expect(summary).toMatchObject({ bytes: 3 * MIB - 8192, commands: 1 })
    await store.flush()
    const back = new Uint8Array(8192)
    await store.read([{ offsetBytes: 5 * MIB - 4096, lengthBytes: 8192, memoryBytes: 0 }], hostMemory(back))
    expect(Buffer.compare(back, Buffer.concat([Buffer.alloc(4096), bytes.subarray(4096, 8192)]))).toBe(0)
  }
  expect(statSync(path).size).toBe(64 * MIB)
  const written = readFileSync(path).subarray(5 * MIB, 8 * MIB - 8192)
  expect(Buffer.compare(written, bytes.subarray(4096, 3 * MIB - 4096))).toBe(0)
})

test('an existing file is neither created again nor opened if it has data other than an image', async () => {
  const model = existing('model.gguf', new Uint8Array(4 * MIB).fill(0, 4).fill(0x47, 0, 4))
  await expect(openWritableFileStore(model, { sizeBytes: 4 * MIB })).rejects.toThrow(
    `Refused to write to ${model}: it exists`,
  )
  await expect(openWritableFileStore(model)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_FILE_TARGET',
    message: expect.stringMatching(
      /it has data other than an image\n {2}Try: use another path, or { overwrite: true }/,
    ) as string,
  })
  // Data before the data area of an image.
  const late = existing('late', new Uint8Array(4 * MIB).fill(1, 2 * MIB - 1, 2 * MIB))
  await expect(openWritableFileStore(late)).rejects.toThrow('it has data other than an image')
  // A download whose last part arrived first.
  const download = existing('download', new Uint8Array(8 * MIB).fill(1, 6 * MIB, 6 * MIB + 1))
  await expect(openWritableFileStore(download)).rejects.toThrow('it has data other than an image')
  await (await openWritableFileStore(model, { overwrite: true })).close()
  expect(readFileSync(model)[0]).toBe(0x47)
})

test('a file of zeros and a file with a superblock are opened unchanged', async () => {
  const zeros = existing('zeros', new Uint8Array(4 * MIB))
  await using store = await openWritableFileStore(zeros)
  expect(store.sizeBytes).toBe(4 * MIB)
  // docs/image-format-1.md: the magic of a superblock, at either of its places.
  for (const [name, at] of [
    ['first', 0],
    ['second', MIB],
  ] as const) {
    const content = new Uint8Array(4 * MIB).fill(7, 3000, 4000)
    content.set(new TextEncoder().encode('GPUNVME\0'), at)
    await (await openWritableFileStore(existing(name, content))).close()
  }
})

test('files that are members of a set can be opened again', async () => {
  const paths = ['member-0', 'member-1'].map((name) => join(folder, name))
  {
    const made = paths.map((path) => openWritableFileStore(path, { sizeBytes: 8 * MIB }))
    await using one = await made[0]!
    await using other = await made[1]!
    await (await createStripe([one, other])).flush()
  }
  await using one = await openWritableFileStore(paths[0]!)
  await using other = await openWritableFileStore(paths[1]!)
  const set = await openSet([other, one])
  const run = { offsetBytes: MIB, lengthBytes: 4096, memoryBytes: 0 }
  await set.write([run], hostMemory(new Uint8Array(4096).fill(0x5a)))
  await set.flush()
  expect(
    readFileSync(paths[1]!)
      .subarray(2 * MIB, 2 * MIB + 4096)
      .every((byte) => byte === 0x5a),
  ).toBe(true)
}, 60_000)

test('openWritableFileStore rejects other kinds of files, partial blocks and missing paths', async () => {
  await expect(openWritableFileStore('/dev/null')).rejects.toThrow(
    'Refused to write to /dev/null: it is not a regular file',
  )
  await expect(openWritableFileStore(folder)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_FILE_TARGET',
    message: `Refused to write to ${folder}: it is a directory\n  Try: pass the path of a file in this directory, with { sizeBytes } to create it`,
  })
  await expect(openWritableFileStore(existing('odd', new Uint8Array(5000)))).rejects.toThrow(
    'its size of 5000 bytes is not a positive multiple of 4096',
  )
  await expect(openWritableFileStore(existing('empty', new Uint8Array(0)))).rejects.toThrow('its size of 0 bytes')
  await expect(openWritableFileStore(join(folder, 'nothing'))).rejects.toMatchObject({
    code: 'ERR_GPUNVME_MODEL_NOT_FOUND',
    message: `Cannot open ${join(folder, 'nothing')} to write to it: no such file\n  Try: pass { sizeBytes } to create it, or check the spelling`,
  })
  const dangling = join(folder, 'dangling')
  symlinkSync(join(folder, 'guess'), dangling)
  await expect(openWritableFileStore(dangling, { sizeBytes: MIB })).rejects.toThrow('it exists')
  await expect(openWritableFileStore(join(folder, 'no', 'folder'), { sizeBytes: MIB })).rejects.toThrow(
    'it cannot be created (ENOENT)',
  )
  for (const sizeBytes of [0, 5000, -4096, NaN]) {
    await expect(openWritableFileStore(join(folder, 'size'), { sizeBytes })).rejects.toThrow(RangeError)
  }
})

test('short writes are continued; a failed write names file and range, a failed flush the file', async () => {
  const written: number[] = []
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  const file: OpenFile = {
    read: () => Promise.resolve({ bytesRead: 0 }),
    write: (_from, _at, lengthBytes, offsetBytes) => {
      if (offsetBytes >= 6000) return Promise.reject(full)
      written.push(offsetBytes)
      return Promise.resolve({ bytesWritten: Math.min(lengthBytes, 1500) })
    },
    sync: () => Promise.reject(full),
    close: () => Promise.resolve(),
  }
  const shape = { sizeBytes: 16_384, blockBytes: 4096, memoryAlignBytes: 1 }
  const store = new WritableFileBlocks('image', file, shape, 'file 1:2')
  const memory = hostMemory(new Uint8Array(8192))
  await store.write([{ offsetBytes: 0, lengthBytes: 4096, memoryBytes: 0 }], memory)
  expect(written).toEqual([0, 1500, 3000])
  await expect(store.write([{ offsetBytes: 4096, lengthBytes: 8192, memoryBytes: 0 }], memory)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_FILE_WRITE',
    message: expect.stringMatching(
      /^Cannot write to image: 5192 bytes from byte 7096 cannot be written \(ENOSPC\)\n {2}Try: check with df/,
    ) as string,
  })
  await expect(store.flush()).rejects.toThrow('Cannot write to image: it cannot be flushed (ENOSPC)')
  await store.close()
  await expect(store.write([{ offsetBytes: 0, lengthBytes: 4096, memoryBytes: 0 }], memory)).rejects.toThrow(
    'the store is closed\n  Try: close it after the last read or write',
  )
})

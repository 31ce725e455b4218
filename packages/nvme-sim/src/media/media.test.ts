import { readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { transfer } from '../../conformance/raw-host/entry.js'
import { bytesOf, fillPattern, prps, ready } from '../../test/host.js'
import { fileMedia, type FileMediaOptions } from './file.js'
import type { Media } from './media.js'
import { RamMedia } from './ram.js'

const folder = scratch()

const MIB = 1 << 20
const kinds: readonly (readonly [string, () => Media])[] = [
  ['RamMedia', () => new RamMedia(2 ** 40)],
  ['fileMedia', () => fileMedia(join(folder, 'sparse.img'), { capacityBytes: 2 ** 40 })],
]

const from = new Uint8Array(2 * MIB + 512).map((_, i) => i * 7 + (i >> 9))

describe.each(kinds)('%s', (_, open) => {
  it.each([0, 512, MIB - 512, 3 * MIB - 1024, 2 ** 40 - 2 * MIB - 512, 2 ** 32 - 512])(
    'reads the data written at %i',
    (offsetBytes) => {
      const media = open()
      media.write(offsetBytes, from)
      media.flush()
      const to = new Uint8Array(from.length).fill(0xa5)
      media.read(offsetBytes, to)
      expect(Buffer.compare(to, from)).toBe(0)
      media.write(offsetBytes, new Uint8Array(from.length))
      media.close()
    },
  )

  it('reads zeroes where nothing was written', () => {
    const media = open()
    const to = new Uint8Array(4096).fill(0xa5)
    media.read(2 ** 39, to)
    expect(to.every((byte) => byte === 0)).toBe(true)
    media.close()
  })
})

it('RamMedia reads zeroes after deallocation, and data written later', () => {
  const media = new RamMedia(2 * MIB)
  const read = () => {
    const to = new Uint8Array(1).fill(0xa5)
    media.read(MIB, to)
    return to[0]
  }
  expect(read()).toBe(0)
  media.write(MIB, Uint8Array.of(1))
  expect(read()).toBe(1)
  media.deallocate(MIB, MIB)
  expect(read()).toBe(0)
  media.write(MIB, Uint8Array.of(2))
  expect(read()).toBe(2)
})

describe('fileMedia', () => {
  it('creates a sparse file of the capacity and keeps its data when closed', () => {
    const path = join(folder, 'image')
    const first = fileMedia(path, { capacityBytes: 2 ** 36 })
    first.write(2 ** 35, new Uint8Array(512).fill(9))
    first.close()
    expect(statSync(path).size).toBe(2 ** 36)
    expect(statSync(path).blocks * 512).toBeLessThan(MIB)
    const again = fileMedia(path)
    expect(again.capacityBytes).toBe(2 ** 36)
    const to = new Uint8Array(512)
    again.read(2 ** 35, to)
    expect(to.every((byte) => byte === 9)).toBe(true)
    again.close()
  })

  it('read-only: does not extend a file, and reads zeroes after its end', () => {
    const path = join(folder, 'short')
    writeFileSync(path, new Uint8Array(600).fill(1))
    const media = fileMedia(path, { readOnly: true, capacityBytes: 4096 })
    const to = new Uint8Array(1024).fill(0xa5)
    media.read(0, to)
    expect([to[599], to[600], to[1023]]).toEqual([1, 0, 0])
    expect(statSync(path).size).toBe(600)
    expect(() => media.write(0, to)).toThrow()
    media.close()
  })

  it('does not create a file without capacityBytes, or with less than one block', () => {
    expect(() => fileMedia(join(folder, 'missing'))).toThrow(/ENOENT/)
    expect(() => fileMedia(join(folder, 'missing'), { readOnly: true, capacityBytes: 4096 })).toThrow(/ENOENT/)
    expect(() => fileMedia(join(folder, 'tiny'), { capacityBytes: 100 })).toThrow(/hold no logical block/)
  })

  /** Content of a file of 8 MiB: nonzero bytes, except for the last 2 MiB. */
  const pattern = new Uint8Array(8 * MIB).map((_, i) => (i < 6 * MIB ? (i % 255) + 1 : 0))

  /** Creates a file with the pattern. Returns its media and a copy of the content. */
  function filled(
    name: string,
    options: FileMediaOptions = {},
  ): { readonly media: Media; readonly content: Uint8Array } {
    const media = fileMedia(join(folder, name), { capacityBytes: 8 * MIB, ...options })
    const content = pattern.slice()
    media.write(0, content)
    return { media, content }
  }

  function contentOf(media: Media): Uint8Array {
    const found = new Uint8Array(media.capacityBytes)
    media.read(0, found)
    return found
  }

  /** Simulates punching a hole by writing zeroes; cuda-native punches real holes. */
  function writeHole(file: number, offsetBytes: number, lengthBytes: number): boolean {
    return writeSync(file, new Uint8Array(lengthBytes), 0, lengthBytes, offsetBytes) === lengthBytes
  }

  const ways: readonly (readonly [string, FileMediaOptions])[] = [
    ['by reading and writing', {}],
    ['by punching holes', { punchHole: writeHole }],
    ['without support for holes', { punchHole: () => false }],
  ]

  describe.each(ways)('%s', (way, options) => {
    it.each([
      ['all', 0, 8 * MIB],
      ['a range at the end of the file', MIB + 512, 7 * MIB - 512],
      ['a block', 512, 512],
      ['whole MiB', MIB, 3 * MIB],
      ['parts of several MiB', 2 * MIB - 4096, MIB + 8192],
      ['a range aligned to blocks only', MIB + 512, 4 * MIB],
      ['a range that is partly zero already', 5 * MIB, 2 * MIB],
    ])('deallocates %s, and no other byte', (name, offsetBytes, lengthBytes) => {
      const { media, content } = filled(`${way} ${name}`, options)
      media.deallocate!(offsetBytes, lengthBytes)
      content.fill(0, offsetBytes, offsetBytes + lengthBytes)
      expect(Buffer.compare(contentOf(media), content)).toBe(0)
      expect(statSync(join(folder, `${way} ${name}`)).size).toBe(8 * MIB)
      media.close()
    })

    it('keeps the bytes of a file after the capacity', () => {
      const path = join(folder, `${way}, longer`)
      writeFileSync(path, new Uint8Array(8192).fill(1))
      const media = fileMedia(path, { capacityBytes: 4096, ...options })
      media.deallocate!(0, 4096)
      media.close()
      const left = readFileSync(path)
      expect([left.length, left[4095], left[4096]]).toEqual([8192, 0, 1])
    })

    it('fails for a read-only file, and changes nothing', () => {
      const path = join(folder, `${way}, read-only`)
      writeFileSync(path, new Uint8Array(8192).fill(1))
      const media = fileMedia(path, { readOnly: true, ...options })
      expect(() => media.deallocate!(0, 8192)).toThrow(expect.objectContaining({ code: 'EBADF' }))
      expect(() => media.deallocate!(4096, 512)).toThrow(expect.objectContaining({ code: 'EBADF' }))
      media.close()
      expect(Buffer.compare(readFileSync(path), new Uint8Array(8192).fill(1))).toBe(0)
    })
  })

  it('punches at most 128 MiB per call', () => {
    const punched: number[][] = []
    const punchHole = (_: number, offsetBytes: number, lengthBytes: number) =>
      punched.push([offsetBytes, lengthBytes]) > 0
    const media = fileMedia(join(folder, 'long holes'), { capacityBytes: 2 ** 40, punchHole })
    expect(media.deallocatePart!(512, 300 * MIB)).toBe(128 * MIB)
    media.deallocate!(2 ** 40 - 200 * MIB, 200 * MIB)
    expect(punched).toEqual([
      [512, 128 * MIB],
      [2 ** 40 - 200 * MIB, 128 * MIB],
      [2 ** 40 - 72 * MIB, 72 * MIB],
    ])
    media.close()
  })

  it('tries punchHole only once if it is not supported', () => {
    let asked = 0
    const { media, content } = filled('no holes', { punchHole: () => ++asked > 1 })
    media.deallocate!(0, 512)
    media.deallocate!(MIB, 512)
    content.fill(0, 0, 512).fill(0, MIB, MIB + 512)
    expect(Buffer.compare(contentOf(media), content)).toBe(0)
    expect(asked).toBe(1)
    media.close()
  })

  it('throws an error of punchHole instead of writing zeroes', () => {
    const failure = new Error('EIO: i/o error, fallocate')
    const { media, content } = filled('failing', {
      punchHole() {
        throw failure
      },
    })
    expect(() => media.deallocate!(0, 8 * MIB)).toThrow(failure)
    expect(Buffer.compare(contentOf(media), content)).toBe(0)
    media.close()
  })

  it('deallocates 5 GiB with a single page of data, and keeps the file sparse', () => {
    // Comparing every byte would take most of a minute and block a served drive.
    const path = join(folder, 'hole')
    const media = fileMedia(path, { capacityBytes: 5 * 2 ** 30 })
    media.write(2 ** 32 + 512, new Uint8Array(512).fill(1))
    media.deallocate!(0, 5 * 2 ** 30)
    const found = new Uint8Array(4096).fill(0xa5)
    media.read(2 ** 32, found)
    expect(found.every((byte) => byte === 0)).toBe(true)
    expect(statSync(path).blocks * 512).toBeLessThan(MIB)
    media.close()
  }, 100_000)

  it('deallocates at most 16 MiB per call, and returns the length', () => {
    const media = fileMedia(join(folder, 'turns'), { capacityBytes: 40 * MIB })
    media.write(20 * MIB, Uint8Array.of(1))
    expect(media.deallocatePart!(512, 30 * MIB)).toBe(16 * MIB)
    expect(contentOf(media)[20 * MIB]).toBe(1)
    expect(media.deallocatePart!(512 + 16 * MIB, 14 * MIB)).toBe(14 * MIB)
    expect(contentOf(media)[20 * MIB]).toBe(0)
    media.close()
  })

  it('keeps the data of a namespace for the next simulation', async () => {
    const path = join(folder, 'namespace')
    const first = await ready({
      namespaces: [{ media: fileMedia(path, { capacityBytes: 64 * MIB }) }],
      fragmented: true,
    })
    const from = first.alloc(MIB)
    fillPattern(from)
    await first.command(1, transfer(0x01, 1000, 2048, prps(first, from)))
    await first.simulation.transport.close()
    const second = await ready({ namespaces: [{ media: fileMedia(path) }] })
    const to = second.alloc(MIB)
    await second.command(1, transfer(0x02, 1000, 2048, prps(second, to)))
    expect(Buffer.compare(bytesOf(to), bytesOf(from))).toBe(0)
    await second.simulation.transport.close()
  })
})

it.each([-1, 0, 511, 512.5, NaN, Infinity, '512' as never])(
  'RamMedia rejects a capacity of %s bytes',
  (capacityBytes) => {
    expect(() => new RamMedia(capacityBytes)).toThrow(
      'RamMedia.capacityBytes: expected a whole number of bytes, 512 or more',
    )
  },
)

it('fileMedia rejects invalid options before it opens the file', () => {
  expect(() => fileMedia('/nowhere/at/all', { capacityBytes: NaN })).toThrow(
    'fileMedia.capacityBytes: expected a whole',
  )
  expect(() => fileMedia('/nowhere/at/all', { readonly: true } as never)).toThrow("fileMedia: unknown 'readonly'")
})

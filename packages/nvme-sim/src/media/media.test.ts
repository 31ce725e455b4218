import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bytesOf, fillPattern, prps, ready, transfer } from '../../test/host.js'
import { fileMedia } from './file.js'
import type { Media } from './media.js'
import { RamMedia } from './ram.js'

const folder = mkdtempSync(join(tmpdir(), 'nvme-sim-'))
afterAll(() => rmSync(folder, { recursive: true }))

const MIB = 1 << 20
const kinds: readonly (readonly [string, () => Media])[] = [
  ['RamMedia', () => new RamMedia(2 ** 40)],
  ['fileMedia', () => fileMedia(join(folder, 'sparse.img'), { capacityBytes: 2 ** 40 })],
]

describe.each(kinds)('%s', (_, open) => {
  it.each([0, 512, MIB - 512, 3 * MIB - 1024, 2 ** 40 - 2 * MIB - 512, 2 ** 32 - 512])(
    'gives back what was written at %i, and zero around it',
    (offsetBytes) => {
      const media = open()
      const from = Uint8Array.from({ length: 2 * MIB + 512 }, (_, i) => (i * 7 + (i >> 9)) & 0xff)
      media.write(offsetBytes, from)
      media.flush()
      const to = new Uint8Array(from.length).fill(0xa5)
      media.read(offsetBytes, to)
      expect(Buffer.compare(to, from)).toBe(0)
      media.write(offsetBytes, new Uint8Array(from.length))
      media.close()
    },
  )

  it('reads as zero where nothing was written', () => {
    const media = open()
    const to = new Uint8Array(4096).fill(0xa5)
    media.read(2 ** 39, to)
    expect(to.every((byte) => byte === 0)).toBe(true)
    media.close()
  })
})

it('RamMedia reads as zero what was deallocated after it was read, and what is written then', () => {
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
  it('makes a sparse file of the capacity, whose bytes outlive it', () => {
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

  it('read-only: takes a file as it is and reads zero past its end', () => {
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

  it('does not make a file when it was not asked to, or one without a block', () => {
    expect(() => fileMedia(join(folder, 'missing'))).toThrow(/ENOENT/)
    expect(() => fileMedia(join(folder, 'missing'), { readOnly: true, capacityBytes: 4096 })).toThrow(/ENOENT/)
    expect(() => fileMedia(join(folder, 'tiny'), { capacityBytes: 100 })).toThrow(/hold no logical block/)
  })

  it('is a namespace whose contents the next simulation finds', async () => {
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

it.each([-1, 0, 511, 512.5, NaN, Infinity, '512' as never])('RamMedia of %s bytes is refused', (capacityBytes) => {
  expect(() => new RamMedia(capacityBytes)).toThrow(
    'RamMedia.capacityBytes: expected a whole number of bytes, 512 or more',
  )
})

it('fileMedia refuses options that cannot be before it opens the file', () => {
  expect(() => fileMedia('/nowhere/at/all', { capacityBytes: NaN })).toThrow(
    'fileMedia.capacityBytes: expected a whole',
  )
  expect(() => fileMedia('/nowhere/at/all', { readonly: true } as never)).toThrow("fileMedia: unknown 'readonly'")
})

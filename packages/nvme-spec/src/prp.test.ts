import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unwritten } from '../test/bytes.js'
import { segments } from '../test/segments.js'
import { buildPrps, prpEntries, prpListBytes, prpListMaxTransfer } from './prp.js'

const PAGE = 4096
const UNWRITTEN = 0xa5a5_a5a5_a5a5_a5a5n

const contiguous = (base: number, lengthBytes = 2 ** 30) => segments([base, lengthBytes])
/** Returns memory of device pages in any order; it starts at the first byte of pages[0]. */
const scattered = (pages: readonly number[], pageBytes = PAGE) =>
  segments(...pages.map((iova) => [iova, pageBytes] as const))
const listsAt = (iova: number, lengthBytes: number) => ({
  ...contiguous(iova, lengthBytes),
  view: unwritten(lengthBytes),
})

function slots(view: DataView, from: number, to: number): bigint[] {
  return Array.from({ length: to - from }, (_, i) => view.getBigUint64((from + i) * 8, true))
}

describe('PRP entries (Base 2.1 §4.3.1)', () => {
  it.each([
    // offset in the page, length, entries
    [0, 1, 1],
    [0, 4096, 1],
    [0, 4097, 2],
    [4092, 4, 1],
    [4092, 5, 2],
    [512, 4096, 2],
    [0, 1_048_576, 256],
    [4, 1_048_576, 257],
  ])('a transfer from offset %i of %i bytes touches %i pages', (offset, length, entries) => {
    expect(prpEntries(offset, length, PAGE)).toBe(entries)
  })

  const lists = () => listsAt(0x1000_0000, 2 * PAGE)

  it('PRP2 is reserved (0h) when the transfer does not cross a memory page boundary', () => {
    expect(buildPrps(contiguous(0x5000), 0, 4096, PAGE, lists(), 0)).toBe(0)
    expect(buildPrps(contiguous(0x5000), 512, 3584, PAGE, lists(), 0)).toBe(0)
  })

  it('PRP2 is the base of the second page when the transfer crosses exactly one boundary', () => {
    const target = lists()
    expect(buildPrps(contiguous(0x5000), 0, 8192, PAGE, target, 0)).toBe(0x6000)
    expect(buildPrps(contiguous(0x5000), 4, 4096, PAGE, target, 0)).toBe(0x6000)
    expect(buildPrps(scattered([0x5000, 0xf_0000_2000]), 2048, 4096, PAGE, target, 0)).toBe(0xf_0000_2000)
    expect(slots(target.view, 0, 2)).toEqual([UNWRITTEN, UNWRITTEN])
  })

  it('PRP2 points to a PRP List when the transfer crosses more than one boundary', () => {
    const target = lists()
    expect(buildPrps(contiguous(0x5000), 0, 3 * PAGE, PAGE, target, 0)).toBe(0x1000_0000)
    expect(slots(target.view, 0, 3)).toEqual([0x6000n, 0x7000n, UNWRITTEN])
  })

  it('a transfer that starts inside a page continues at the next page boundary, offset 0h', () => {
    const target = lists()
    expect(buildPrps(contiguous(0x2_0000_5000), 0xe00, 2 * PAGE, PAGE, target, PAGE)).toBe(0x1000_1000)
    expect(slots(target.view, 512, 515)).toEqual([0x2_0000_6000n, 0x2_0000_7000n, UNWRITTEN])
  })

  it('pages may be anywhere, including above 4 GiB', () => {
    const target = lists()
    buildPrps(scattered([0x9000, 0x1_0000_0000, 0x7000, 0x1f_ffff_ffff_f000]), 0, 4 * PAGE, PAGE, target, 0)
    expect(slots(target.view, 0, 4)).toEqual([0x1_0000_0000n, 0x7000n, 0x1f_ffff_ffff_f000n, UNWRITTEN])
  })

  it('512 remaining entries fit a list page exactly: its last slot is an ordinary entry', () => {
    const target = lists()
    buildPrps(contiguous(0x4000_0000), 0, 513 * PAGE, PAGE, target, 0)
    expect(slots(target.view, 510, 513)).toEqual([0x4000_0000n + 511n * 4096n, 0x4000_0000n + 512n * 4096n, UNWRITTEN])
  })

  it('with one entry more, the last slot points to the next list page', () => {
    const target = lists()
    buildPrps(contiguous(0x4000_0000), 0, 514 * PAGE, PAGE, target, 0)
    expect(slots(target.view, 510, 515)).toEqual([
      0x4000_0000n + 511n * 4096n,
      0x1000_1000n,
      0x4000_0000n + 512n * 4096n,
      0x4000_0000n + 513n * 4096n,
      UNWRITTEN,
    ])
  })

  it('a list of three pages is chained twice, and ends with the last page of the transfer', () => {
    const target = listsAt(0x1000_0000, 3 * PAGE)
    buildPrps(contiguous(0), 0, 1025 * PAGE, PAGE, target, 0)
    expect(slots(target.view, 511, 512)).toEqual([0x1000_1000n])
    expect(slots(target.view, 1023, 1027)).toEqual([0x1000_2000n, 1023n * 4096n, 1024n * 4096n, UNWRITTEN])
  })

  it('list pages need not be adjacent in device addresses', () => {
    const pages = [0x30_0000, 0x10_0000]
    const target = { ...scattered(pages), view: unwritten(2 * PAGE) }
    expect(buildPrps(contiguous(0), 0, 600 * PAGE, PAGE, target, 0)).toBe(0x30_0000)
    expect(slots(target.view, 511, 512)).toEqual([0x10_0000n])
  })

  it('uses the memory page size of CC.MPS', () => {
    const target = listsAt(0x1000_0000, 16_384)
    buildPrps(contiguous(0x10_0000), 0, 3 * 16_384, 16_384, target, 0)
    expect(slots(target.view, 0, 3)).toEqual([0x10_4000n, 0x10_8000n, UNWRITTEN])
  })

  it('rejects a PRP1 that is not dword aligned', () => {
    expect(() => buildPrps(contiguous(0x5002), 0, 4096, PAGE, lists(), 0)).toThrow(
      new RangeError('PRP1: expected a dword-aligned address, got 0x5002 (Base 2.1 §4.3.1)'),
    )
  })

  it('rejects memory whose second segment starts inside a page', () => {
    const shifted = segments([0x5000, PAGE], [0xa200, 2 * PAGE])
    expect(() => buildPrps(shifted, 0, 2 * PAGE, PAGE, lists(), 0)).toThrow(
      'expected segments that meet at ends of 4096-byte pages, as PRPs require, got one at 0xa200',
    )
    expect(() => buildPrps(shifted, 0, 3 * PAGE, PAGE, lists(), 0)).toThrow(RangeError)
  })

  it('rejects memory with a gap inside a page that continues at the same offset in another page', () => {
    // The entries would be 100800h and a list of 101000h and 901000h: bytes 101800h to 101fffh are not in the memory.
    const broken = segments([0x10_0800, PAGE], [0x90_0800, PAGE])
    const target = lists()
    expect(() => buildPrps(broken, 0, 2 * PAGE, PAGE, target, 0)).toThrow(
      new RangeError(
        'PRP: expected segments that meet at ends of 4096-byte pages, as PRPs require, got one at 0x900800 (Base 2.1 §4.3.1)',
      ),
    )
    expect(slots(target.view, 0, 2)).toEqual([UNWRITTEN, UNWRITTEN])
    expect(buildPrps(broken, 0, PAGE, PAGE, target, 0)).toBe(0x10_1000)
  })

  it('rejects a transfer that ends after the memory but in its last page', () => {
    const short = contiguous(0x5000, PAGE + 512)
    expect(buildPrps(short, 0, PAGE + 512, PAGE, lists(), 0)).toBe(0x6000)
    expect(() => buildPrps(short, 0, PAGE + 516, PAGE, lists(), 0)).toThrow(
      new RangeError('PRP: expected memory that holds bytes 0 to 4612, got 4608 bytes'),
    )
    expect(() => buildPrps(short, -4, 8, PAGE, lists(), 0)).toThrow('holds bytes -4 to 4')
    expect(() => buildPrps(short, Number.NaN, 8, PAGE, lists(), 0)).toThrow(RangeError)
  })

  it('rejects lists that are not qword aligned, and list memory that is not page aligned', () => {
    const tooLong = 3 * PAGE
    expect(() => buildPrps(contiguous(0), 0, tooLong, PAGE, listsAt(0x1000_0200, 2 * PAGE), 0)).toThrow('PRP list')
    expect(() => buildPrps(contiguous(0), 0, tooLong, PAGE, lists(), 4)).toThrow('PRP list')
    const second = { ...segments([0x1000_0000, PAGE], [0x1000_1010, PAGE]), view: unwritten(2 * PAGE) }
    expect(() => buildPrps(contiguous(0), 0, 600 * PAGE, PAGE, second, 0)).toThrow('got one at 0x10001010')
  })

  it('rejects list memory that has a gap inside a page or is too short', () => {
    const broken = { ...segments([0x1000_0000, 512], [0x2000_0200, 2 * PAGE - 512]), view: unwritten(2 * PAGE) }
    expect(buildPrps(contiguous(0), 0, 65 * PAGE, PAGE, broken, 0)).toBe(0x1000_0000)
    expect(() => buildPrps(contiguous(0), 0, 66 * PAGE, PAGE, broken, 0)).toThrow(
      'PRP list: expected segments that meet at ends of 4096-byte pages, as PRPs require, got one at 0x20000200',
    )
    const short = listsAt(0x1000_0000, PAGE)
    expect(() => buildPrps(contiguous(0), 0, 514 * PAGE, PAGE, short, 0)).toThrow(
      'PRP list: expected memory that holds bytes 0 to 4112, got 4096 bytes',
    )
    expect(slots(short.view, 0, 1)).toEqual([UNWRITTEN])
  })

  it('a list may start inside a page', () => {
    const target = lists()
    expect(buildPrps(contiguous(0), 0, 4 * PAGE, PAGE, target, 510 * 8)).toBe(0x1000_0ff0)
    expect(slots(target.view, 509, 515)).toEqual([UNWRITTEN, 0x1000n, 0x1000_1000n, 0x2000n, 0x3000n, UNWRITTEN])
  })

  it.each([0, -1, Number.NaN])('rejects a transfer of %d bytes', (length) => {
    expect(() => buildPrps(contiguous(0), 4, length, PAGE, lists(), 0)).toThrow(
      `PRP: expected a transfer of at least 1 byte, got ${length}`,
    )
  })
})

describe('memory for PRP lists', () => {
  it.each([
    // bytes, list pages of 4 KiB; by hand: 512 entries per page, one of which links to the next page
    [1, 0],
    [4096, 0],
    [4097, 1],
    [1_048_576, 1],
    [512 * 4096, 1],
    [513 * 4096, 2],
    [1023 * 4096, 2],
    [1024 * 4096, 3],
  ])('a transfer of up to %i bytes takes %i pages', (lengthBytes, pages) => {
    expect(prpListBytes(lengthBytes, PAGE)).toBe(pages * PAGE)
  })

  it('prpListMaxTransfer is the longest transfer that needs no more list pages', () => {
    for (let pages = 0; pages < 9; pages++) {
      const reach = prpListMaxTransfer(pages * PAGE, PAGE)
      expect(prpListBytes(reach, PAGE)).toBe(pages * PAGE)
      expect(prpListBytes(reach + 1, PAGE)).toBe((pages + 1) * PAGE)
    }
  })

  it('is sufficient wherever a transfer starts, and leads a controller to every byte in order', () => {
    const transfer = fc.record({
      pageBytes: fc.constantFrom(4096, 8192, 16_384),
      dwords: fc.nat(4095),
      pages: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 500, max: 2100 })),
      cut: fc.nat(4095),
      seed: fc.nat(0xffff),
    })
    fc.assert(
      fc.property(transfer, ({ pageBytes, dwords, pages, cut, seed }) => {
        const offset = (dwords * 4) % pageBytes
        const lengthBytes = pages * pageBytes - (cut % pageBytes)
        // Scattered pages: multiplication by an odd number permutes residues of a power of two.
        const where = (page: number) => (((page * 0x9e3b + seed) & 0xffff) + 0x10_0000) * pageBytes
        const memory = scattered(
          Array.from({ length: pages + 1 }, (_, page) => where(page)),
          pageBytes,
        )
        const listBytes = prpListBytes(lengthBytes, pageBytes)
        const lists = listsAt(0x1000_0000, listBytes + pageBytes)

        const prp2 = buildPrps(memory, offset, lengthBytes, pageBytes, lists, 0)

        for (let at = listBytes; at < lists.view.byteLength; at += 8) {
          if (lists.view.getBigUint64(at, true) !== UNWRITTEN) throw new Error(`wrote past ${listBytes} bytes of lists`)
        }
        const entries = walk(memory.iovaAt(offset), prp2, offset + lengthBytes, pageBytes, lists.view)
        expect(entries.length).toBe(prpEntries(offset, lengthBytes, pageBytes))
        expect(entries.slice(1)).toEqual(entries.slice(1).map((_, i) => where(i + 1)))
      }),
    )
  })
})

describe('random segments, checked byte by byte', () => {
  /** Returns the device address of each byte. */
  function bytesOf(memory: ReturnType<typeof segments>) {
    const addresses = new Float64Array(memory.lengthBytes)
    for (const { offsetBytes, iova, lengthBytes } of memory.segments)
      for (let byte = 0; byte < lengthBytes; byte++) addresses[offsetBytes + byte] = iova + byte
    return addresses
  }
  /** Returns whether consecutive bytes are adjacent, or the last byte of a page and the first byte of another. */
  const goesOn = (addresses: Float64Array, from: number, to: number) => {
    for (let byte = from + 1; byte < to; byte++) {
      const before = addresses[byte - 1]! + 1
      const isPageEnd = before % PAGE === 0 && addresses[byte]! % PAGE === 0
      if (addresses[byte] !== before && !isPageEnd) return false
    }
    return true
  }
  /** Returns the addresses that a controller accesses, in order (Base 2.1 §4.3.1). */
  function moved(prp1: number, prp2: number, lengthBytes: number, entryAt: (address: number) => number) {
    const addresses = new Float64Array(lengthBytes)
    let page = prp1
    let entry = prp2
    for (let byte = 0; byte < lengthBytes; byte++, page++) {
      if (byte > 0 && page % PAGE === 0) {
        const left = lengthBytes - byte
        if (byte <= PAGE - (prp1 % PAGE) && left <= PAGE) page = prp2
        else {
          if (entry % PAGE === PAGE - 8 && left > PAGE) entry = entryAt(entry)
          page = entryAt(entry)
          entry += 8
        }
      }
      addresses[byte] = page
    }
    return addresses
  }

  // Few values for lengths and page offsets, so that segments often end at page boundaries.
  const inPage = fc.constantFrom(0, 0, 0, 512, 0x800, 4092)
  const runLength = fc.constantFrom(512, 0x800, PAGE - 512, PAGE, PAGE, PAGE, 2 * PAGE, 0x1800)
  const run = fc.tuple(fc.nat(15), inPage, runLength)
  const runsFrom = (base: number, runs: readonly (readonly [number, number, number])[]) =>
    segments(...runs.map(([page, offset, length]) => [base + page * PAGE + offset, length] as const))

  it('describes exactly the bytes of the transfer, or rejects it before writing anything', () => {
    let described = 0
    let refused = 0
    const transfer = fc.record({
      runs: fc.array(run, { minLength: 1, maxLength: 6 }),
      listRuns: fc.oneof(fc.array(run, { minLength: 1, maxLength: 2 }), fc.constant([[0, 0, 2 * PAGE] as const])),
      start: fc.constantFrom(0, 0, 4, 512, 0x800, PAGE),
      cut: fc.constantFrom(0, 0, 4, 512, PAGE),
      listOffset: fc.constantFrom(0, 0, 512, PAGE - 16),
    })
    fc.assert(
      fc.property(transfer, ({ runs, listRuns, start, cut, listOffset }) => {
        const memory = runsFrom(0x10_0000, runs)
        const listMemory = runsFrom(0x5000_0000, listRuns)
        const lists = { ...listMemory, view: unwritten(listMemory.lengthBytes) }
        const lengthBytes = memory.lengthBytes - start - cut
        if (lengthBytes <= 0) return
        const addresses = bytesOf(memory)
        const listAddresses = bytesOf(lists)
        const pages = prpEntries(addresses[start]! % PAGE, lengthBytes, PAGE)
        const inFirstPage = (PAGE - (listOffset % PAGE)) / 8
        const listEntries = pages <= 2 ? 0 : pages - 1 + (pages - 1 > inFirstPage ? 1 : 0)
        const listEnd = listOffset + 8 * listEntries
        const listFits =
          listEntries === 0 ||
          (listEnd <= listAddresses.length &&
            listAddresses[listOffset]! % PAGE === listOffset % PAGE &&
            goesOn(listAddresses, listOffset, listEnd))
        const fits = goesOn(addresses, start, start + lengthBytes) && listFits

        if (!fits) {
          refused++
          expect(() => buildPrps(memory, start, lengthBytes, PAGE, lists, listOffset)).toThrow(RangeError)
          expect(new Uint8Array(lists.view.buffer).every((byte) => byte === 0xa5)).toBe(true)
          return
        }
        described++
        const prp2 = buildPrps(memory, start, lengthBytes, PAGE, lists, listOffset)
        const entryAt = (address: number) =>
          Number(lists.view.getBigUint64(listAddresses.indexOf(address, listOffset), true))
        const found = moved(addresses[start]!, prp2, lengthBytes, entryAt)
        expect(found.findIndex((address, byte) => address !== addresses[start + byte])).toBe(-1)
      }),
      { seed: 22, numRuns: 200 },
    )
    // Transfers of both kinds must occur.
    expect(Math.min(described, refused)).toBeGreaterThan(40)
  })
})

/** Returns the page addresses to which PRP1 and PRP2 lead a controller. */
function walk(prp1: number, prp2: number, endBytes: number, pageBytes: number, lists: DataView): number[] {
  const pages = Math.ceil(endBytes / pageBytes)
  const found = [prp1]
  if (pages === 2) found.push(prp2)
  for (let at = prp2 - 0x1000_0000; pages > 2 && found.length < pages;) {
    const entry = Number(lists.getBigUint64(at, true))
    const isLast = (at + 8) % pageBytes === 0
    if (isLast && found.length + 1 < pages) at = entry - 0x1000_0000
    else {
      found.push(entry)
      at += 8
    }
  }
  return found
}

describe('arguments of PRP functions', () => {
  it.each([
    [() => prpEntries(4096, 1, PAGE), 'offset in the page: expected an integer from 0 to 4095, got 4096'],
    [() => prpEntries(-4, 1, PAGE), 'offset in the page: expected an integer from 0 to 4095, got -4'],
    [() => prpEntries(0, 0, PAGE), 'length of the transfer: expected an integer from 1 to 9007199254740991, got 0'],
    [() => prpEntries(0, 0.5, PAGE), 'length of the transfer: expected an integer from 1 to 9007199254740991, got 0.5'],
    [() => prpEntries(0, 1, 0), 'memory page size: expected a power of two from 4096 to 134217728, got 0'],
    [() => prpListBytes(-1, PAGE), 'length of the transfer: expected an integer from 0 to 9007199254740991, got -1'],
    [
      () => prpListBytes(Number.NaN, PAGE),
      'length of the transfer: expected an integer from 0 to 9007199254740991, got NaN',
    ],
    [() => prpListBytes(1, 6144), 'memory page size: expected a power of two from 4096 to 134217728, got 6144'],
    [() => prpListBytes(1, 2 ** 28), 'memory page size: expected a power of two from 4096 to 134217728, got 268435456'],
    [
      () => prpListMaxTransfer(1.5, PAGE),
      'length of the lists: expected an integer from 0 to 9007199254740991, got 1.5',
    ],
    [() => prpListMaxTransfer(0, 2048), 'memory page size: expected a power of two from 4096 to 134217728, got 2048'],
  ])('rejects %s', (call, message) => {
    expect(call).toThrow(new RangeError(message))
  })

  it('rejects values that are not numbers with a TypeError', () => {
    expect(() => prpEntries('0' as never, 1, PAGE)).toThrow(
      new TypeError('offset in the page: expected an integer from 0 to 4095, got "0"'),
    )
    expect(() => prpListBytes(1n as never, PAGE)).toThrow(TypeError)
    expect(() => prpListMaxTransfer(0, '4096' as never)).toThrow(TypeError)
    expect(() => prpListMaxTransfer(0, undefined as never)).toThrow(
      new TypeError('memory page size: expected a power of two from 4096 to 134217728, got undefined'),
    )
  })

  it('rejects a page size that CC.MPS cannot encode before writing anything', () => {
    expect(() => buildPrps(contiguous(0), 0, 6144, 6144, listsAt(0x1000_0000, PAGE), 0)).toThrow(
      new RangeError('memory page size: expected a power of two from 4096 to 134217728, got 6144'),
    )
  })

  it('accepts the largest page size of CC.MPS, and needs no list for 0 bytes', () => {
    expect(prpEntries(134_217_727, 2, 134_217_728)).toBe(2)
    expect(prpListBytes(0, PAGE)).toBe(0)
  })
})

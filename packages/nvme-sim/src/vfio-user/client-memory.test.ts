import { closeSync, ftruncateSync, openSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { FakeMemory, systemError, unnamedFile } from '../../test/vfio-user/fake-host.js'
import { ClientMemory, type Mapping } from './client-memory.js'

const PAGE = 4096
/** Linux errno values. */
const [ENOENT, ENOMEM, EACCES, EEXIST, EINVAL] = [2, 12, 13, 17, 22]

const NOT_MEMORY = 'unsupported descriptor: expected a memfd, or a file of tmpfs or hugetlbfs'

const opened: number[] = []
afterEach(() => opened.splice(0).forEach((descriptor) => closeSync(descriptor)))

function file(pages: number): number {
  const descriptor = unnamedFile(pages * PAGE)
  opened.push(descriptor)
  return descriptor
}

const region = (iova: number, pages: number, filePage = 0, flags: Partial<Mapping> = {}): Mapping => ({
  ...{ iova, lengthBytes: pages * PAGE, fileOffset: filePage * PAGE, isReadable: true, isWritable: true },
  ...flags,
})

describe('a region', () => {
  it('maps the bytes of its file from its offset', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const fd = file(4)
    host.bytesOf(fd).set([1, 2, 3], 2 * PAGE + 5)
    expect(memory.map(region(0x10_0000, 2, 2), fd)).toBeUndefined()
    expect(memory.bytes(0x10_0005, 3)).toEqual(Uint8Array.of(1, 2, 3))
    memory.bytes(0x10_0000, 1, 'write')![0] = 9
    expect(host.bytesOf(fd)[2 * PAGE]).toBe(9)
  })

  it('provides no byte before its start or after its end', () => {
    const memory = new ClientMemory(new FakeMemory())
    memory.map(region(PAGE, 2), file(2))
    expect(memory.has(PAGE, 2 * PAGE)).toBe(true)
    for (const [iova, length] of [
      [PAGE - 1, 2],
      [PAGE, 2 * PAGE + 1],
      [3 * PAGE, 1],
      [3 * PAGE - 1, 2],
      [NaN, 4],
    ] as const) {
      expect(memory.bytes(iova, length)).toBeUndefined()
      expect(memory.has(iova, length)).toBe(false)
    }
  })

  it('mapped read-only cannot be written, and mapped write-only cannot be read', () => {
    const memory = new ClientMemory(new FakeMemory())
    const fd = file(2)
    memory.map(region(0, 1, 0, { isWritable: false }), fd)
    memory.map(region(PAGE, 1, 1, { isReadable: false }), fd)
    expect([memory.has(0, 8, 'read'), memory.has(0, 8, 'write')]).toEqual([true, false])
    expect([memory.has(PAGE, 8, 'read'), memory.has(PAGE, 8, 'write')]).toEqual([false, true])
    expect(memory.bytes(0, 8, 'read')).toBeDefined()
    // The cached view for reads is not returned for writes.
    expect(memory.bytes(0, 8, 'write')).toBeUndefined()
    expect(memory.explainUnmapped(0, 8, 'write')).toBe('mapped by the client as read-only')
  })

  it('without a descriptor occupies its addresses but cannot be accessed', () => {
    const memory = new ClientMemory(new FakeMemory())
    expect(memory.map(region(0xc_0000, 8), undefined)).toBeUndefined()
    expect(memory.has(0xc_0000, 1)).toBe(false)
    expect(memory.explainUnmapped(0xc_0000, 1)).toBe('mapped by the client without a descriptor')
    expect(memory.map(region(0xc_0000, 1), undefined)).toMatchObject({ errno: EEXIST })
    expect(memory.unmap(0xc_0000, 8 * PAGE)).toBeUndefined()
    expect(memory.explainUnmapped(0xc_0000, 1)).toBe('not mapped by the client')
  })
})

describe('adjacent regions', () => {
  it('of contiguous bytes in one file are one piece of memory', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const fd = file(4)
    memory.map(region(2 * PAGE, 2, 2), fd)
    memory.map(region(0, 2, 0), fd)
    expect(host.maps).toBe(1)
    memory.bytes(0, 4 * PAGE, 'write')!.fill(7)
    expect(host.bytesOf(fd).every((byte) => byte === 7)).toBe(true)
  })

  it('of separate parts of a file, or of different files, are separate pieces', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const [one, other] = [file(8), file(8)]
    memory.map(region(0, 1, 0), one)
    memory.map(region(PAGE, 1, 4), one)
    memory.map(region(2 * PAGE, 2, 5), other)
    memory.map(region(4 * PAGE, 1, 7), other)
    expect(memory.has(0, 5 * PAGE, 'write')).toBe(true)
    expect(memory.bytes(0, 5 * PAGE)).toBeUndefined()
    expect(memory.bytes(PAGE, 2 * PAGE)).toBeUndefined()
    const pieces = memory.pieces(100, 5 * PAGE - 100, 'write')!
    expect(pieces.map(({ length }) => length)).toEqual([PAGE - 100, PAGE, 3 * PAGE])
    pieces.forEach((piece, i) => piece.fill(i + 1))
    const [first, second] = [host.bytesOf(one), host.bytesOf(other)]
    // The distinct byte values in a range of a file; unwritten bytes are 0.
    const written = (bytes: Uint8Array, from: number, to: number) => new Set(bytes.subarray(from, to))
    expect(written(first, 0, 100)).toEqual(new Set([0]))
    expect(written(first, 100, PAGE)).toEqual(new Set([1]))
    expect(written(first, PAGE, 4 * PAGE)).toEqual(new Set([0]))
    expect(written(first, 4 * PAGE, 5 * PAGE)).toEqual(new Set([2]))
    expect(written(first, 5 * PAGE, 8 * PAGE)).toEqual(new Set([0]))
    expect(written(second, 0, 5 * PAGE)).toEqual(new Set([0]))
    expect(written(second, 5 * PAGE, 8 * PAGE)).toEqual(new Set([3]))
  })

  it('give a list of one piece for a range inside one piece', () => {
    const memory = new ClientMemory(new FakeMemory())
    const fd = file(4)
    memory.map(region(0, 2, 0), fd)
    memory.map(region(2 * PAGE, 2, 2), fd)
    expect(memory.pieces(PAGE, 2 * PAGE)).toEqual([memory.bytes(PAGE, 2 * PAGE)])
    memory.map(region(4 * PAGE, 1), file(1))
    expect(memory.pieces(3 * PAGE, PAGE)).toHaveLength(1)
    expect(memory.pieces(4 * PAGE, PAGE)).toHaveLength(1)
  })

  it('cannot be accessed if one of them forbids the access or part of the range is not mapped', () => {
    const memory = new ClientMemory(new FakeMemory())
    const fd = file(8)
    memory.map(region(0, 1, 0), fd)
    memory.map(region(PAGE, 1, 1, { isWritable: false }), fd)
    memory.map(region(2 * PAGE, 1, 0, { isReadable: false }), file(1))
    memory.map(region(3 * PAGE, 1, 3), fd)
    memory.map(region(4 * PAGE, 1), undefined)
    const use = (page: number, pages: number, access: 'read' | 'write') => {
      const [iova, lengthBytes] = [page * PAGE + 8, pages * PAGE - 16]
      const has = memory.has(iova, lengthBytes, access)
      expect(memory.pieces(iova, lengthBytes, access) !== undefined).toBe(has)
      return has ? 'may be used' : memory.explainUnmapped(iova, lengthBytes, access)
    }
    expect(use(0, 2, 'read')).toBe('may be used')
    expect(use(0, 2, 'write')).toBe('mapped by the client as read-only after the first 4088 bytes')
    expect(use(1, 2, 'read')).toBe('mapped by the client as write-only after the first 4088 bytes')
    expect(use(2, 2, 'write')).toBe('may be used')
    expect(use(2, 2, 'read')).toBe('mapped by the client as write-only')
    expect(use(3, 2, 'read')).toBe('mapped by the client without a descriptor after the first 4088 bytes')
    memory.unmap(4 * PAGE, PAGE)
    expect(use(2, 3, 'write')).toBe('not mapped by the client after the first 8184 bytes')
    expect(use(5, 1, 'read')).toBe('not mapped by the client')
  })
})

describe('rejects a region', () => {
  it.each([
    ['of no bytes', region(0, 0), EINVAL, 'expected a size above 0, got 0'],
    ['not aligned to pages', region(512, 1), EINVAL, 'expected address, size and file offset to be multiples of 4096'],
    [
      'whose size is not a multiple of the page size',
      { ...region(0, 1), lengthBytes: 4097 },
      EINVAL,
      'expected address, size and file offset to be multiples of 4096',
    ],
    [
      'with an unaligned file offset',
      { ...region(0, 1), fileOffset: 8 },
      EINVAL,
      'expected address, size and file offset to be multiples of 4096',
    ],
    [
      'that ends beyond 2^64',
      { ...region(0, 1), iova: 2 ** 64 - PAGE, lengthBytes: 2 * PAGE },
      EINVAL,
      'the range ends beyond 2^53',
    ],
    ['longer than its file', region(0, 5), EINVAL, 'the file has 16384 bytes, expected at least 20480'],
    [
      'that starts after the end of its file',
      region(0, 1, 4),
      EINVAL,
      'the file has 16384 bytes, expected at least 20480',
    ],
    ['at a file offset beyond 2^53', { ...region(0, 1), fileOffset: 2 ** 63 }, EINVAL, 'the range ends beyond 2^53'],
  ])('%s', (_name, mapping, errno, why) => {
    const memory = new ClientMemory(new FakeMemory())
    expect(memory.map(mapping, file(4))).toEqual({ errno, why })
    expect(memory.count).toBe(0)
  })

  it.each([
    ['at its start', 3, 3],
    ['at its end', 7, 3],
    ['inside it', 6, 1],
    ['around it', 3, 9],
    ['exactly', 5, 4],
  ])('that overlaps another %s', (_name, page, pages) => {
    const memory = new ClientMemory(new FakeMemory())
    const fd = file(16)
    memory.map(region(5 * PAGE, 4), fd)
    expect(memory.map(region(page * PAGE, pages), fd)).toEqual({
      errno: EEXIST,
      why: '0x5000 to 0x8fff is already mapped',
    })
    expect(memory.count).toBe(1)
  })

  it('whose descriptor is a directory or a device', () => {
    const memory = new ClientMemory(new FakeMemory())
    for (const path of ['/', '/dev/zero']) {
      const fd = openSync(path, 'r')
      opened.push(fd)
      expect(memory.map(region(0, 1), fd)).toEqual({ errno: EINVAL, why: NOT_MEMORY })
    }
  })

  it('of more than 4 TiB, without mapping any of it', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const fd = file(1)
    ftruncateSync(fd, 2 ** 43)
    expect(memory.map({ ...region(0, 1), lengthBytes: 2 ** 43 }, fd)).toMatchObject({ errno: ENOMEM })
    expect(host.maps).toBe(0)
  })

  it('that mmap rejects, with its errno; a read-only region is accepted and stays inaccessible', () => {
    const host = new FakeMemory()
    host.mapForeign = () => {
      throw systemError('EACCES')
    }
    const memory = new ClientMemory(host)
    expect(memory.map(region(0, 1), file(1))).toEqual({ errno: EACCES, why: 'EACCES: it failed' })
    expect(memory.map(region(0, 1, 0, { isWritable: false }), file(1))).toBeUndefined()
    expect(memory.has(0, 1)).toBe(false)
  })

  it('whose file is truncated during mmap, and keeps the earlier regions of the file', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const fd = file(1)
    memory.map(region(0, 1), fd)
    const kept = memory.bytes(0, 64)
    ftruncateSync(fd, 4 * PAGE)
    host.mapForeign = () => {
      throw new RangeError('lengthBytes: expected no more than the 0 bytes of the file')
    }
    expect(memory.map(region(PAGE, 3, 1), fd)).toMatchObject({ errno: EINVAL })
    expect(memory.count).toBe(1)
    expect(memory.bytes(0, 64)).toBe(kept)
    expect(host.mapped.size).toBe(1)
  })
})

/** 2049 GiB: two such files exceed the limit of a client. */
const HALF: Mapping = { ...region(0, 1), lengthBytes: 2049 * 2 ** 30 }

it('unmaps idle files to map others', () => {
  const host = new FakeMemory()
  const windows = new Set<object>()
  // Without their memory.
  host.mapForeign = (_fd, _offset, lengthBytes) => {
    const window = { lengthBytes, unmap: () => void windows.delete(window) }
    windows.add(window)
    return window as never
  }
  const memory = new ClientMemory(host)
  const [first, second] = [file(1), file(1)]
  for (const fd of [first, second]) ftruncateSync(fd, HALF.lengthBytes)
  expect(memory.map(HALF, first)).toBeUndefined()
  const behind = { ...HALF, iova: 2 ** 45 }
  expect(memory.map(behind, second)).toMatchObject({ errno: ENOMEM })
  expect(memory.unmap(0, HALF.lengthBytes)).toBeUndefined()
  expect(memory.map(behind, second)).toBeUndefined()
  expect(windows.size).toBe(2049)
  memory.clear()
  expect(windows.size).toBe(0)
  expect(memory.map(HALF, first)).toBeUndefined()
})

it('a range longer than the overlap of file windows is accessible in pieces', () => {
  const host = new FakeMemory()
  // Without their memory.
  host.mapForeign = (_fd, _offset, lengthBytes) => ({ lengthBytes, unmap: () => undefined }) as never
  const memory = new ClientMemory(host)
  const fd = file(1)
  ftruncateSync(fd, 3 * 2 ** 30)
  memory.map({ ...region(0, 1), lengthBytes: 3 * 2 ** 30 }, fd)
  expect(memory.has(2 ** 30 - PAGE, 2 ** 30 + 2 ** 28)).toBe(true)
  expect(memory.has(2 ** 30 - PAGE, 2 ** 31 + PAGE)).toBe(true)
  expect(memory.has(2 ** 30 - PAGE, 2 ** 31 + PAGE + 1)).toBe(false)
})

describe('unmapping', () => {
  it('removes whole regions and all access to them', () => {
    const memory = new ClientMemory(new FakeMemory())
    const fd = file(8)
    memory.map(region(0, 2), fd)
    memory.map(region(2 * PAGE, 2, 2), fd)
    expect(memory.bytes(0, 16)).toBeDefined()
    expect(memory.unmap(0, 4 * PAGE)).toBeUndefined()
    expect(memory.bytes(0, 16)).toBeUndefined()
    expect(memory.count).toBe(0)
  })

  it('rejects a part of a region, an unmapped range, and a range beyond 2^53', () => {
    const memory = new ClientMemory(new FakeMemory())
    memory.map(region(PAGE, 4), file(4))
    expect(memory.unmap(PAGE, PAGE)).toMatchObject({ errno: EINVAL })
    expect(memory.unmap(0, 3 * PAGE)).toMatchObject({ errno: EINVAL })
    expect(memory.unmap(8 * PAGE, PAGE)).toMatchObject({ errno: ENOENT })
    expect(memory.unmap(PAGE, 0)).toMatchObject({ errno: ENOENT })
    expect(memory.unmap(2 ** 63, 2 ** 63)).toMatchObject({ errno: EINVAL })
    expect(memory.has(PAGE, 4 * PAGE)).toBe(true)
  })

  it('keeps up to four idle files mapped for reuse', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const files = Array.from({ length: 6 }, () => file(2))
    for (let i = 0; i < 100; i++) {
      memory.map(region(0, 2), files[i % 2])
      memory.unmap(0, 2 * PAGE)
    }
    expect(host.maps).toBe(2)
    for (const each of files) {
      memory.map(region(0, 2), each)
      memory.unmap(0, 2 * PAGE)
    }
    expect(host.mapped.size).toBe(4)
    memory.clear()
    expect(host.mapped.size).toBe(0)
  })

  it('allows the region to be mapped again at another offset of the file', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const fd = file(2)
    host.bytesOf(fd).set([5], PAGE)
    memory.map(region(0, 1, 0), fd)
    expect(memory.bytes(0, 1)).toEqual(Uint8Array.of(0))
    memory.unmap(0, PAGE)
    memory.map(region(0, 1, 1), fd)
    expect(memory.bytes(0, 1)).toEqual(Uint8Array.of(5))
  })

  it('maps the added part of a file that has grown', () => {
    const host = new FakeMemory()
    const memory = new ClientMemory(host)
    const fd = file(1)
    memory.map(region(0, 1), fd)
    ftruncateSync(fd, 4 * PAGE)
    expect(memory.map(region(PAGE, 3, 1), fd)).toBeUndefined()
    expect(memory.has(0, 4 * PAGE, 'write')).toBe(true)
  })
})

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { scratch } from '../../../../../test/scratch.js'
import { machineMemory, memoryArea } from './memory.js'
import { SharedFile } from './shared-file.js'

let folder: string
let file: SharedFile

beforeEach(() => {
  folder = scratch()
  file = new SharedFile(join(folder, 'ram'), 0x10000)
})

afterEach(() => file.close())

const ramOf = (shared: SharedFile) => machineMemory(memoryArea(shared, 0, 0x1000, true), undefined)

describe('memory of the machine', () => {
  test('is aligned, contiguous, and zeroed when it is reused', () => {
    const dma = ramOf(file)
    const first = dma.alloc(0x1801, { contiguous: true })
    expect(first.segments).toEqual([{ offsetBytes: 0, iova: 0x1000, lengthBytes: 0x1801 }])
    new Uint8Array(first.view!.buffer).fill(0xff)
    first.forDevice(0, 0x1801)
    expect(readFileSync(file.path)[0x2800]).toBe(0xff)
    first.free()
    const second = dma.alloc(0x2000)
    expect(second.iovaAt(0)).toBe(0x1000)
    expect(
      readFileSync(file.path)
        .subarray(0x1000, 0x3000)
        .every((byte) => byte === 0),
    ).toBe(true)
    second.forHost(0, 0x2000)
    expect(second.view!.getUint8(0x1800)).toBe(0)
    expect(dma.alloc(1, { alignBytes: 0x4000 }).iovaAt(0)).toBe(0x4000)
  })

  test('is copied by forDevice and forHost in the given range only', () => {
    const memory = ramOf(file).alloc(0x1000)
    new Uint8Array(memory.view!.buffer).fill(0x11)
    memory.forDevice(4, 2)
    expect([...readFileSync(file.path).subarray(0x1002, 0x1008)]).toEqual([0, 0, 0x11, 0x11, 0, 0])
    file.write(0x1000, Uint8Array.of(1, 2, 3, 4))
    memory.forHost(1, 2)
    expect([0, 1, 2, 3].map((at) => memory.view!.getUint8(at))).toEqual([0x11, 2, 3, 0x11])
  })

  test('throws a RangeError with the remaining size when it is exhausted', () => {
    const dma = ramOf(file)
    const parts = Array.from({ length: 7 }, () => dma.alloc(0x2000))
    parts[1]!.free()
    parts[4]!.free()
    expect(() => dma.alloc(0x4000)).toThrow(RangeError)
    expect(() => dma.alloc(0x4000)).toThrow("20480 bytes of the machine's memory are left, 8192 of them in one piece")
  })

  test.each([[0], [-1], [1.5], [Number.NaN]])('rejects a length of %d bytes with a RangeError', (lengthBytes) => {
    expect(() => ramOf(file).alloc(lengthBytes)).toThrow(RangeError)
  })

  test.each([[0], [3], [-4096]])('rejects an alignment of %d bytes with a RangeError', (alignBytes) => {
    expect(() => ramOf(file).alloc(1, { alignBytes })).toThrow(RangeError)
  })

  test('rejects GPU memory with a next step if the machine has none', () => {
    expect(() => ramOf(file).alloc(1, { where: 'gpu' })).toThrow(TypeError)
    expect(() => ramOf(file).alloc(1, { where: 'gpu' })).toThrow('vramBytes')
  })

  test('checks ranges, and can be freed once', () => {
    const memory = ramOf(file).alloc(16)
    expect(() => memory.iovaAt(16)).toThrow(RangeError)
    expect(() => memory.forDevice(8, 9)).toThrow(RangeError)
    expect(() => memory.forHost(-1, 1)).toThrow(RangeError)
    memory.free()
    expect(() => memory.free()).toThrow(TypeError)
  })

  test('rejects addresses and copies after it was freed', () => {
    const memory = ramOf(file).alloc(16)
    memory.free()
    expect(() => memory.iovaAt(0)).toThrow('this memory was freed')
    expect(() => memory.forDevice(0, 16)).toThrow('this memory was freed')
    expect(() => memory.forHost(0, 16)).toThrow('this memory was freed')
  })

  test('behind a BAR starts at the address of the BAR, and has a view only if requested', () => {
    const area = (hasView: boolean) => memoryArea(file, 2 ** 39, 0, hasView)
    const hidden = machineMemory(area(false), area(false)).alloc(16, { where: 'gpu' })
    expect([hidden.iovaAt(0), hidden.view]).toEqual([0x80_0000_0000, undefined])
    const seen = machineMemory(area(true), area(true)).alloc(16, { where: 'gpu' })
    seen.view!.setUint8(0, 9)
    seen.forDevice(0, 16)
    expect(readFileSync(file.path)[0]).toBe(9)
  })
})

/** Returns the paths of the open files of this process. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return [] // the descriptor of the directory itself, already closed
    }
  })
}

/** Returns a host that maps each file as a separate ArrayBuffer. */
function fakeHost(regions: { isMapped: boolean; buffer: ArrayBuffer }[]): HardwareHost {
  return {
    map(_fd: number, _offset: number, lengthBytes: number) {
      const state = { isMapped: true, buffer: new ArrayBuffer(lengthBytes) }
      regions.push(state)
      const region: Partial<NativeRegion> = {
        buffer: state.buffer,
        unmap() {
          state.isMapped = false
        },
      }
      return region
    },
  } as unknown as HardwareHost
}

describe('memory of the machine, mapped into this process', () => {
  test('has views of the mapping itself, and copies nothing', () => {
    const regions: { isMapped: boolean; buffer: ArrayBuffer }[] = []
    const mapped = new SharedFile(join(folder, 'mapped'), 0x4000, fakeHost(regions))
    const memory = ramOf(mapped).alloc(0x1000)
    expect(memory.view!.buffer).toBe(regions[0]!.buffer)
    expect(memory.view!.byteOffset).toBe(0x1000)
    memory.view!.setUint8(0, 7)
    memory.forDevice(0, 0x1000)
    expect(readFileSync(mapped.path)[0x1000]).toBe(0)
    mapped.close()
    expect(regions[0]!.isMapped).toBe(false)
  })

  test('closes a file that cannot be mapped', () => {
    const host = {
      map: () => {
        throw new Error('ENOMEM')
      },
    } as unknown as HardwareHost
    const path = join(folder, 'refused')
    expect(() => new SharedFile(path, 0x1000, host)).toThrow('ENOMEM')
    expect(openFiles()).not.toContain(path)
    const plain = new SharedFile(join(folder, 'plain'), 0x1000)
    expect(openFiles()).toContain(plain.path)
    plain.close()
    expect(openFiles()).not.toContain(plain.path)
  })
})

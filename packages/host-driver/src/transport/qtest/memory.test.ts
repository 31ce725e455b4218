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
  test('memory is aligned, in one piece, and zeroed when it is used again', () => {
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

  test('forDevice and forHost carry just the bytes that they name', () => {
    const memory = ramOf(file).alloc(0x1000)
    new Uint8Array(memory.view!.buffer).fill(0x11)
    memory.forDevice(4, 2)
    expect([...readFileSync(file.path).subarray(0x1002, 0x1008)]).toEqual([0, 0, 0x11, 0x11, 0, 0])
    file.write(0x1000, Uint8Array.of(1, 2, 3, 4))
    memory.forHost(1, 2)
    expect([0, 1, 2, 3].map((at) => memory.view!.getUint8(at))).toEqual([0x11, 2, 3, 0x11])
  })

  test('memory that is exhausted is a RangeError that says how much is left', () => {
    const dma = ramOf(file)
    const parts = Array.from({ length: 7 }, () => dma.alloc(0x2000))
    parts[1]!.free()
    parts[4]!.free()
    expect(() => dma.alloc(0x4000)).toThrow(RangeError)
    expect(() => dma.alloc(0x4000)).toThrow("20480 bytes of the machine's memory are left, 8192 of them in one piece")
  })

  test.each([[0], [-1], [1.5], [Number.NaN]])('a length of %d bytes is a RangeError', (lengthBytes) => {
    expect(() => ramOf(file).alloc(lengthBytes)).toThrow(RangeError)
  })

  test.each([[0], [3], [-4096]])('an alignment of %d bytes is a RangeError', (alignBytes) => {
    expect(() => ramOf(file).alloc(1, { alignBytes })).toThrow(RangeError)
  })

  test('GPU memory where there is none is a TypeError that says what to do', () => {
    expect(() => ramOf(file).alloc(1, { where: 'gpu' })).toThrow(TypeError)
    expect(() => ramOf(file).alloc(1, { where: 'gpu' })).toThrow('vramBytes')
  })

  test('memory is given back once, and its ranges are checked', () => {
    const memory = ramOf(file).alloc(16)
    expect(() => memory.iovaAt(16)).toThrow(RangeError)
    expect(() => memory.forDevice(8, 9)).toThrow(RangeError)
    expect(() => memory.forHost(-1, 1)).toThrow(RangeError)
    memory.free()
    expect(() => memory.free()).toThrow(TypeError)
  })

  test('memory that was freed has no addresses any more, and carries nothing', () => {
    const memory = ramOf(file).alloc(16)
    memory.free()
    expect(() => memory.iovaAt(0)).toThrow('this memory was freed')
    expect(() => memory.forDevice(0, 16)).toThrow('this memory was freed')
    expect(() => memory.forHost(0, 16)).toThrow('this memory was freed')
  })

  test('what lies behind a BAR is addressed from there on, and has a view only where it is asked for', () => {
    const area = (hasView: boolean) => memoryArea(file, 2 ** 39, 0, hasView)
    const hidden = machineMemory(area(false), area(false)).alloc(16, { where: 'gpu' })
    expect([hidden.iovaAt(0), hidden.view]).toEqual([0x80_0000_0000, undefined])
    const seen = machineMemory(area(true), area(true)).alloc(16, { where: 'gpu' })
    seen.view!.setUint8(0, 9)
    seen.forDevice(0, 16)
    expect(readFileSync(file.path)[0]).toBe(9)
  })
})

/** What this process has open. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return [] // the folder itself, which is closed by now
    }
  })
}

/** As far as memory goes: what is mapped is an ArrayBuffer, which nobody shares. */
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
  test('views are the mapped memory itself, and nothing is carried', () => {
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

  test('a file that cannot be mapped is closed again', () => {
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

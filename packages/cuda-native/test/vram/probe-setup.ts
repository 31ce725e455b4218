import { Controller } from '@gpunvme/host-driver'
import { simulate, type Media, type Simulation } from '@gpunvme/nvme-sim'
import type { DmaSegment, FaultPlan } from '@gpunvme/nvme-spec/transport'
import { onTestFinished } from 'vitest'
import {
  openStaticBar1,
  withVram,
  type GpuAccess,
  type ProbeOptions,
  type VramMapping,
  type VramProvider,
} from '../../src/vram/index.js'
import { backingOf, FakeGpu, peerAt, type BackingMemory } from './fake-gpu.js'
import { fakeSysfs, GPU, resourceLine } from './fake-sysfs.js'

const MIB = 1024 * 1024
/** Offset of the window in BAR1. Not 0, so that code that ignores the offset fails. */
const WINDOW_OFFSET = 4 * MIB
/** Initial content of the BAR. */
export const UNTOUCHED = 0x5a

/** Returns the byte of the drive at a position. All pages differ. */
export function noise(position: number): number {
  const word = Math.imul((position >>> 2) + 1, 0x9e37_79b1)
  return ((word ^ (word >>> 15)) >>> ((position & 3) * 8)) & 0xff
}

/** Creates media with the bytes `byteAt`. Writes throw, since a probe must not write to the drive. */
export function mediaOf(byteAt: (position: number) => number, capacityBytes = 64 * MIB): Media {
  return {
    capacityBytes,
    read(offsetBytes, into) {
      for (let index = 0; index < into.length; index++) into[index] = byteAt(offsetBytes + index)
    },
    write() {
      throw new TypeError('a probe wrote to the drive')
    },
    flush: () => undefined,
    close: () => undefined,
  }
}

/** Creates a provider for a static BAR1 window of the GPU's backing memory. */
export function staticBar1(gpu: FakeGpu): VramProvider {
  const { backing, windowOffset } = gpu
  const lengthBytes = backing.lengthBytes - windowOffset
  return openStaticBar1({
    sysRoot: fakeSysfs({
      resource: `${resourceLine(0xfb00_0000, 16 * MIB, 0x40200)}\n${resourceLine(backing.iova, backing.lengthBytes)}\n`,
    }),
    gpuBdf: GPU,
    totalMemoryBytes: lengthBytes,
    queryWindow: () => ({ isEnabled: true, offsetBytes: windowOffset, lengthBytes }),
    gpu,
    view: () => gpu.window,
    mapPeer: peerAt(backing.iova),
  })
}

/** Wraps a provider so that it returns wrong addresses. */
export function lying(provider: VramProvider, lie: (segments: readonly DmaSegment[]) => DmaSegment[]): VramProvider {
  return {
    name: `${provider.name}, lying`,
    map(gpuPointer, lengthBytes): VramMapping {
      const mapping = provider.map(gpuPointer, lengthBytes)
      return { segments: lie(mapping.segments), release: () => mapping.release() }
    },
  }
}

/** Wraps a provider so that its addresses are off by `byBytes`. */
export const shifted = (provider: VramProvider, byBytes: number): VramProvider =>
  lying(provider, (segments) => segments.map((segment) => ({ ...segment, iova: segment.iova + byBytes })))

/** A simulated controller, and a GPU whose BAR is host memory of the simulator. */
export interface Setup {
  readonly simulation: Simulation
  readonly gpu: FakeGpu
  readonly backing: BackingMemory
  readonly provider: VramProvider
  /** Returns options of a probe. Default: with the correct provider. */
  readonly options: (provider?: VramProvider, more?: Partial<ProbeOptions>) => ProbeOptions
  /** Returns the number of changed bytes of the BAR outside of allocated GPU memory. */
  readonly damaged: () => number
}

export async function setUp({
  media = mediaOf(noise),
  faults,
  blockBytes = 512,
}: { media?: Media; faults?: FaultPlan; blockBytes?: 512 | 4096 } = {}): Promise<Setup> {
  const simulation = simulate({ namespaces: [{ media, blockBytes }], ...(faults && { faults }) })
  const { transport } = simulation
  const controller = await Controller.open(transport)
  onTestFinished(() => controller.close())
  const namespace = controller.namespace(1)
  const bar = transport.dma.alloc(32 * MIB, { alignBytes: 2 * MIB, contiguous: true })
  const backing = backingOf(bar)
  backing.write(0, new Uint8Array(32 * MIB).fill(UNTOUCHED))
  const gpu = new FakeGpu(backing, WINDOW_OFFSET)
  const provider = staticBar1(gpu)
  const owned = new Set<number>()
  const watched: Pick<FakeGpu, 'alloc' | 'fill'> = {
    alloc(lengthBytes) {
      const memory = gpu.alloc(lengthBytes)
      for (const physical of gpu.pages.values()) owned.add(WINDOW_OFFSET + physical)
      return memory
    },
    fill: (gpuPointer, lengthBytes, byte) => gpu.fill(gpuPointer, lengthBytes, byte),
  }
  return {
    simulation,
    gpu,
    backing,
    provider,
    options: (from = provider, more = {}) => ({
      namespace,
      host: namespace.dma,
      vram: withVram(namespace.dma, from, watched),
      gpu,
      ...more,
    }),
    damaged() {
      let bytes = 0
      for (let page = 0; page < backing.lengthBytes; page += 2 * MIB) {
        if (owned.has(page)) continue
        for (const byte of backing.read(page, 2 * MIB)) if (byte !== UNTOUCHED) bytes++
      }
      return bytes
    },
  }
}

/**
 * A GPU that sees data of the controller only after `flush`, as if they were in transit, or a cache were stale.
 */
export function lateGpu(gpu: FakeGpu): GpuAccess & { flush(): void } {
  let seen: Uint8Array | undefined
  return {
    write(gpuPointer, bytes) {
      gpu.write(gpuPointer, bytes)
      seen = bytes.slice()
    },
    read: (gpuPointer, lengthBytes) => seen?.slice() ?? gpu.read(gpuPointer, lengthBytes),
    flush() {
      seen = undefined
    },
  }
}

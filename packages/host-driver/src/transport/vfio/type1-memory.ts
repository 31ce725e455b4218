import { closeSync, openSync } from 'node:fs'
import type { DmaMemory, HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { VfioUserDmaUnmap } from '@gpunvme/nvme-spec/vfio-user'
import { DriverError, hasCode } from '../../error.js'
import { AddressSpace, type AddressRange } from '../address-space.js'
import type { Cleanup } from '../cleanup.js'
import type { DmaSource } from '../dma-arena.js'
import { accessing } from '../hardware-access.js'
import { capabilityChain, pairs } from '../vfio-answers.js'
import { allocateLocked, HUGE_PAGE_BYTES, memlockExceeded } from '../locked-memory.js'
import { peerMemory, type BarRun, type FoundPeer } from '../peer-bar.js'
import { DmaMap, IommuInfo, IOMMU_CAPABILITY, VFIO } from './abi.js'
import { ask, call } from './argument.js'

/** Lowest address that is handed out: an address that a program forgot to set accesses nothing. */
const LOWEST_IOVA = 0x10_0000

/** Highest address, beyond what IOMMUs translate and exact as a number. */
const HIGHEST_IOVA = 2 ** 48

/** Range if an IOMMU does not state one: below the interrupts of x86. */
const UNSAID: AddressRange = { start: LOWEST_IOVA, lengthBytes: 0xfee0_0000 - LOWEST_IOVA }

/** What an IOMMU can map. */
export interface IommuFacts {
  readonly ranges: readonly AddressRange[]
  /** Size of the smallest page that it maps. */
  readonly pageBytes: number
}

/** Queries what the IOMMU of a container translates. @throws DriverError (VFIO) */
export function iommuFacts(host: HardwareHost, container: number): IommuFacts {
  const data = ask(host, container, ['IOMMU_GET_INFO', VFIO.IOMMU_GET_INFO], IommuInfo)
  const { FLAGS, IOVA_PGSIZES, CAP_OFFSET } = IommuInfo.view(data)
  const sizes = IommuInfo.FLAGS.PGSIZES.of(FLAGS) === 1 ? IOVA_PGSIZES : 0n
  const pageBytes = Math.max(4096, Number(sizes & -sizes))
  const chain = IommuInfo.FLAGS.CAPS.of(FLAGS) === 1 ? capabilityChain(data, CAP_OFFSET) : new Map<number, number>()
  const capability = chain.get(IOMMU_CAPABILITY.IOVA_RANGE)
  if (capability === undefined) return { ranges: [UNSAID], pageBytes }
  const ranges = pairs(data, capability).flatMap(([first, last]) => {
    const start = Math.max(LOWEST_IOVA, Number(first))
    const end = Math.min(HIGHEST_IOVA, Number(last) + 1)
    return end > start ? [{ start, lengthBytes: end - start }] : []
  })
  return { ranges, pageBytes }
}

/** Memory that VFIO maps in an IOMMU, at addresses that are chosen here. */
export class Type1Memory implements DmaSource {
  readonly granuleBytes = HUGE_PAGE_BYTES
  private readonly host: HardwareHost
  private readonly sysRoot: string
  private readonly container: number
  private readonly pageBytes: 4096 | typeof HUGE_PAGE_BYTES
  private readonly facts: IommuFacts
  private readonly space: AddressSpace
  private lockedBytes = 0

  constructor(host: HardwareHost, sysRoot: string, container: number, pageBytes: 4096 | typeof HUGE_PAGE_BYTES) {
    this.host = host
    this.sysRoot = sysRoot
    this.container = container
    this.pageBytes = pageBytes
    this.facts = iommuFacts(host, container)
    this.space = new AddressSpace(this.facts.ranges)
  }

  chunk(lengthBytes: number, alignBytes: number): ReturnType<DmaSource['chunk']> {
    const neededBytes = this.memlockBytes(lengthBytes)
    const region = allocateLocked(this.host, this.sysRoot, lengthBytes, this.pageBytes, neededBytes)
    try {
      const { iova, unmap } = this.map([region], Math.max(alignBytes, HUGE_PAGE_BYTES))
      this.lockedBytes += lengthBytes
      const release = () => {
        // Only after the device has lost it: memory that is still mapped stays.
        unmap()
        this.lockedBytes -= lengthBytes
        region.unmap()
      }
      return { buffer: region.buffer, lengthBytes, segments: [{ offsetBytes: 0, iova, lengthBytes }], release }
    } catch (error) {
      region.unmap()
      if (hasCode(error, 'ERR_GPUNVME_VFIO', 'ENOMEM'))
        throw memlockExceeded(neededBytes, this.host.memlockLimitBytes(), error)
      throw error
    }
  }

  /**
   * Maps parts of another device's BAR at consecutive addresses, until the memory is freed or `peers` runs.
   * @throws DriverError (HARDWARE_ACCESS, IOVA_EXHAUSTED, VFIO)
   */
  mapPeer(bdf: string, { file, runs }: FoundPeer, peers: Cleanup): DmaMemory {
    const regions = accessing(bdf, file, () => mapRuns(this.host, file, runs))
    const unmapRegions = () => {
      for (const region of regions) region.unmap()
    }
    try {
      const { iova, unmap } = this.map(regions, HUGE_PAGE_BYTES)
      const release = peers.push(() => {
        unmap()
        unmapRegions()
      })
      return peerMemory([{ iova, lengthBytes: totalBytes(regions) }], release)
    } catch (error) {
      unmapRegions()
      throw error
    }
  }

  /**
   * Maps parts of this process's address space for the device, at consecutive addresses: memory, or another device's BAR.
   * @throws DriverError (IOVA_EXHAUSTED, VFIO)
   */
  private map(regions: readonly NativeRegion[], alignBytes: number): { iova: number; unmap: () => void } {
    const lengthBytes = totalBytes(regions)
    const iova = this.space.takeAligned(lengthBytes, Math.max(alignBytes, this.facts.pageBytes))
    if (iova === undefined) throw iovaExhausted(lengthBytes, this.space.freeRanges)
    let mappedBytes = 0
    try {
      for (const region of regions) {
        const argument = DmaMap.create({
          ARGSZ: DmaMap.bytes,
          FLAGS: { READ: 1, WRITE: 1 },
          VADDR: region.address,
          IOVA: BigInt(iova + mappedBytes),
          SIZE: BigInt(region.lengthBytes),
        })
        call(this.host, this.container, ['IOMMU_MAP_DMA', VFIO.IOMMU_MAP_DMA], argument.data)
        mappedBytes += region.lengthBytes
      }
    } catch (error) {
      if (mappedBytes > 0) this.unmap(iova, mappedBytes)
      this.space.give(iova)
      throw error
    }
    return {
      iova,
      unmap: () => {
        this.unmap(iova, lengthBytes)
        this.space.give(iova)
      },
    }
  }

  /**
   * Returns what counts against RLIMIT_MEMLOCK with `lengthBytes` more: ordinary pages count twice, as locked and as
   * pinned by vfio.
   */
  private memlockBytes(lengthBytes: number): number {
    return (this.lockedBytes + lengthBytes) * (this.pageBytes === HUGE_PAGE_BYTES ? 1 : 2)
  }

  private unmap(iova: number, lengthBytes: number): void {
    const argument = VfioUserDmaUnmap.create({
      ARGSZ: VfioUserDmaUnmap.bytes,
      ADDRESS: BigInt(iova),
      SIZE: BigInt(lengthBytes),
    })
    call(this.host, this.container, ['IOMMU_UNMAP_DMA', VFIO.IOMMU_UNMAP_DMA], argument.data)
  }
}

function totalBytes(regions: readonly NativeRegion[]): number {
  return regions.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
}

function mapRuns(host: HardwareHost, file: string, runs: readonly BarRun[]): NativeRegion[] {
  const fd = openSync(file, 'r+')
  const regions: NativeRegion[] = []
  try {
    for (const { offsetBytes, lengthBytes } of runs) regions.push(host.map(fd, offsetBytes, lengthBytes, 'read-write'))
    return regions
  } catch (error) {
    for (const region of regions) region.unmap()
    throw error
  } finally {
    closeSync(fd)
  }
}

function iovaExhausted(lengthBytes: number, free: readonly AddressRange[]): DriverError {
  const longest = free.reduce((most, range) => Math.max(most, range.lengthBytes), 0)
  const headline = `No free device addresses for ${lengthBytes} bytes: the longest free range is ${longest} bytes`
  const next = 'free unused memory, or allocate less at once'
  return new DriverError('ERR_GPUNVME_IOVA_EXHAUSTED', 'infeasible', headline, { next })
}

import { firstBreakInPage } from '@gpunvme/nvme-spec/engine'
import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'
import { checkOptions, flag, integer, number, oneOf, type Checks } from '../check-options.js'
import { DriverError } from '../error.js'

/**
 * Allocates memory and checks that it matches the request. This is the only place where the driver allocates memory
 * from a transport; later code trusts the addresses, and registers and PRP entries drop the low bits of an unaligned
 * address.
 * @param pageBytes length of the pages of the memory, a power of two. Two segments must not share a page.
 * @throws DriverError (DMA_CONTRACT), after freeing the memory; errors of the allocator.
 */
export function allocate(
  dma: DmaAllocator,
  lengthBytes: number,
  request: DmaRequest = {},
  pageBytes?: number,
): DmaMemory {
  const memory = dma.alloc(lengthBytes, request)
  const breach = breachOf(memory, lengthBytes, request, pageBytes)
  if (breach === undefined) return memory
  memory.free()
  throw contractBroken(lengthBytes, request, breach)
}

const checkLength = integer(1, Number.MAX_SAFE_INTEGER, 'a whole number of bytes, 1 or more')
const requestChecks: Checks<DmaRequest> = {
  alignBytes: number('a power of two', isPowerOfTwo),
  contiguous: flag,
  where: oneOf('host', 'gpu'),
}

/**
 * Returns an allocator of memory for transfers, which checks callers' requests, aligns memory to the controller's
 * memory pages and checks it.
 * @param pageBytes memory page size of CC.MPS: the segments of scattered memory must meet at ends of these pages.
 */
export function transferAllocator(dma: DmaAllocator, pageBytes: number): DmaAllocator {
  return {
    alloc(lengthBytes, request) {
      checkLength('lengthBytes', lengthBytes)
      checkOptions('alloc', request, requestChecks)
      return allocate(dma, lengthBytes, { ...request, alignBytes: Math.max(request?.alignBytes ?? 0, pageBytes) })
    },
    get addressSpace() {
      return dma.addressSpace
    },
  }
}

function isPowerOfTwo(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && 2 ** Math.round(Math.log2(value)) === value
}

/** Describes the expected and the actual memory; undefined if the memory matches the request. */
function breachOf(
  memory: DmaMemory,
  lengthBytes: number,
  { alignBytes = 4096, contiguous = false }: DmaRequest,
  pageBytes: number | undefined,
): string | undefined {
  const { segments } = memory
  if (!(memory.lengthBytes >= lengthBytes)) return `${lengthBytes} bytes, got ${memory.lengthBytes}`
  let endBytes = 0
  for (const segment of segments) {
    if (segment.offsetBytes !== endBytes || !(segment.lengthBytes > 0)) {
      return `a segment from byte ${endBytes} on, got ${segment.lengthBytes} bytes from byte ${segment.offsetBytes} on`
    }
    endBytes += segment.lengthBytes
  }
  if (!(endBytes >= lengthBytes)) return `segments of ${lengthBytes} bytes, got ${endBytes}`
  const { iova } = segments[0]!
  if (iova % alignBytes !== 0) return `an address that is a multiple of ${alignBytes}, got ${hex(iova)}`
  if (memory.iovaAt(0) !== iova) return `its first segment at ${hex(memory.iovaAt(0))}, got ${hex(iova)}`
  if (contiguous && segments.length > 1) return `one segment, got ${segments.length}`
  const shared = pageBytes && firstBreakInPage(segments, 0, lengthBytes, pageBytes)
  if (shared) return `segments that meet at ends of ${pageBytes}-byte pages, got one at ${hex(shared.iova)}`
  return undefined
}

function hex(iova: number): string {
  return `0x${iova.toString(16)}`
}

/**
 * A transport allocated memory that does not match the request. The memory was freed, and its addresses were not used.
 */
function contractBroken(lengthBytes: number, { alignBytes = 4096, contiguous = false }: DmaRequest, breach: string) {
  return new DriverError('ERR_GPUNVME_DMA_CONTRACT', 'failure', `Unusable DMA memory: expected ${breach}`, {
    facts: [`requested: ${lengthBytes} bytes aligned to ${alignBytes}${contiguous ? ', in one segment' : ''}`],
    next: "correct the transport's dma.alloc(): nothing was sent to the drive with this memory",
  })
}

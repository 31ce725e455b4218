import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'

/** The part of WebAssembly that is used: Node's typings leave it to those of browsers. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number; maximum: number; shared: boolean }) => {
    readonly buffer: ArrayBufferLike
  }
}

/** WebAssembly's unit of memory, and V8's alignment of its start. */
const WASM_PAGE_BYTES = 65_536
const MAX_WASM_BYTES = 65_536 * WASM_PAGE_BYTES

/** False in a page that is not cross-origin isolated. */
const canShare = typeof SharedArrayBuffer === 'function'

/** Buffers without a known alignment. */
const unaligned = new WeakSet<ArrayBufferLike>()

/**
 * Allocates host memory for reading files, aligned to 64 KiB for O_DIRECT and for registration with a GPU. It uses
 * WebAssembly.Memory, since other buffers are not aligned. Above 4 GiB, the limit of WebAssembly, it is another buffer:
 * O_DIRECT then reads through aligned buffers. No controller can reach it: it has no segments and no device addresses.
 *
 * It is shared memory if possible: its checksums are computed on other threads, while this one computes. V8 collects
 * garbage sooner if much memory is in use, but does not count shared memory (`PerIsolateAccountingLength` in its
 * `backing-store.h`). So shared memory has a counted buffer of equal length beside it, whose pages are never touched.
 */
export const fileMemory: DmaAllocator = {
  alloc(lengthBytes, request = {}) {
    checkRequest(lengthBytes, request)
    if (lengthBytes > MAX_WASM_BYTES) {
      const counted = new ArrayBuffer(lengthBytes)
      const buffer = canShare ? new SharedArrayBuffer(lengthBytes) : counted
      unaligned.add(buffer)
      return new FileMemory(new DataView(buffer), counted)
    }
    const counted = wasmMemory(lengthBytes, false)
    const buffer = canShare ? wasmMemory(lengthBytes, true) : counted
    return new FileMemory(new DataView(buffer, 0, lengthBytes), counted)
  },
}

function wasmMemory(lengthBytes: number, shared: boolean): ArrayBufferLike {
  const pages = Math.ceil(lengthBytes / WASM_PAGE_BYTES)
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared }).buffer
}

/** Returns whether memory of `fileMemory` is too long to be aligned. */
export function isUnaligned(buffer: ArrayBufferLike): boolean {
  return unaligned.has(buffer)
}

function checkRequest(
  lengthBytes: number,
  { alignBytes = 4096, where = 'host', contiguous = false }: DmaRequest,
): void {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1) {
    throw new RangeError(`lengthBytes: expected at least 1 byte, got ${lengthBytes}`)
  }
  if (alignBytes < 1 || alignBytes > WASM_PAGE_BYTES || !Number.isInteger(Math.log2(alignBytes))) {
    throw new RangeError(`alignBytes: expected a power of two up to ${WASM_PAGE_BYTES}, got ${alignBytes}`)
  }
  if (where !== 'host') throw new TypeError(`where: expected 'host', got '${where}': files are read into host memory`)
  if (contiguous)
    throw new TypeError('request: expected memory without device addresses, got a request for one segment')
}

class FileMemory implements DmaMemory {
  readonly view: DataView
  readonly segments = []
  /** What V8 counts for this memory. */
  readonly counted: ArrayBufferLike
  private isFree = false

  constructor(view: DataView, counted: ArrayBufferLike) {
    this.view = view
    this.counted = counted
  }

  get lengthBytes() {
    return this.view.byteLength
  }

  iovaAt(): never {
    throw new TypeError('this memory is for files: it has no device address')
  }

  forDevice(): void {
    this.checkHeld()
  }

  forHost(): void {
    this.checkHeld()
  }

  /** The garbage collector returns it to the system once it has no more views. */
  free(): void {
    this.checkHeld()
    this.isFree = true
  }

  private checkHeld(): void {
    if (this.isFree) throw new TypeError('this memory was freed')
  }
}

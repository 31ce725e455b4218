import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'

/** All that is used of WebAssembly: the typings of Node leave it to those of browsers. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
}

/** WebAssembly's unit of memory, and V8's alignment of where it begins. */
const WASM_PAGE_BYTES = 65_536
const MAX_BYTES = 65_536 * WASM_PAGE_BYTES

/**
 * Host memory to read files into. It lies at a multiple of 64 KiB, as O_DIRECT and the registration of whole pages with a
 * GPU want it, which no ArrayBuffer of JavaScript's own does: it is that of a WebAssembly.Memory. No controller reaches
 * it, so that it has neither segments nor device addresses.
 */
export const fileMemory: DmaAllocator = {
  alloc(lengthBytes, request = {}) {
    checkRequest(lengthBytes, request)
    const pages = Math.ceil(lengthBytes / WASM_PAGE_BYTES)
    const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages })
    return new FileMemory(new DataView(buffer, 0, lengthBytes))
  },
}

function checkRequest(
  lengthBytes: number,
  { alignBytes = 4096, where = 'host', contiguous = false }: DmaRequest,
): void {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1 || lengthBytes > MAX_BYTES) {
    throw new RangeError(
      `lengthBytes: expected 1 to ${MAX_BYTES} bytes, which is the longest memory for files, got ${lengthBytes}; ` +
        'a loader of smaller extents than layers takes less with { slotBytes }',
    )
  }
  if (alignBytes < 1 || alignBytes > WASM_PAGE_BYTES || !Number.isInteger(Math.log2(alignBytes))) {
    throw new RangeError(`alignBytes: expected a power of two up to ${WASM_PAGE_BYTES}, got ${alignBytes}`)
  }
  if (where !== 'host' || contiguous) {
    const got = where === 'host' ? 'a request for one segment' : `'${where}'`
    throw new TypeError(`request: expected host memory, which no controller reaches, got ${got}`)
  }
}

class FileMemory implements DmaMemory {
  readonly view: DataView
  readonly segments = []
  private isFree = false

  constructor(view: DataView) {
    this.view = view
  }

  get lengthBytes() {
    return this.view.byteLength
  }

  iovaAt(): never {
    throw new TypeError('this memory is for files: no controller reaches it, and it has no device address')
  }

  forDevice(): void {
    this.checkHeld()
  }

  forHost(): void {
    this.checkHeld()
  }

  /** The collector gives it to the system, when nobody has a view of it any more. */
  free(): void {
    this.checkHeld()
    this.isFree = true
  }

  private checkHeld(): void {
    if (this.isFree) throw new TypeError('this memory was freed')
  }
}

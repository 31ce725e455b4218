/**
 * A transport: one controller as a driver sees it. Registers, memory that the controller can access, and time are
 * required; configuration space, interrupts and resets are optional.
 */

/**
 * A controller's registers: BAR0. Accesses are synchronous and have exactly the requested width. Reads return all ones,
 * and do not throw, if the device has left the bus. Offsets are in bytes.
 */
export interface Bar {
  readonly lengthBytes: number
  /**
   * Reads the dword at `offset`: 0 to 2^32 - 1. @throws RangeError if `offset` is not a multiple of 4 inside the BAR.
   */
  read32(offset: number): number
  /** Writes the dword at `offset`. @throws RangeError if `offset` is not a multiple of 4 inside the BAR. */
  write32(offset: number, value: number): void
  /** Reads the 64 bits at `offset`. @throws RangeError if `offset` is not a multiple of 8 inside the BAR. */
  read64(offset: number): bigint
  /**
   * Writes the 64 bits at `offset`. Uses two 32-bit writes, low half first, on devices that require it: a 64-bit write
   * corrupts ASQ of an SN740 (measured on the reference rig).
   * @throws RangeError if `offset` is not a multiple of 8 inside the BAR.
   */
  write64(offset: number, value: bigint): void
  /**
   * Address of the registers, for native code that rings doorbells. Absent if an access is more than a load or a store
   * (a simulator, or a wrapper that observes or changes accesses), and after the device has left the bus.
   */
  readonly window?: BarWindow | undefined
}

/**
 * The first registers of a BAR in this process's address space. Valid until `close` of the transport: a later store
 * ends the process, so stop all doorbell writers first (`Engine.detach`). If the device has left the bus, stores have
 * no effect and loads return all ones. A 32-bit aligned store writes one register; a 64-bit value takes two stores, low
 * half first, as with `Bar.write64`.
 */
export interface BarWindow {
  /** Address of the byte at offset 0. */
  readonly address: bigint
  /** Number of bytes: the BAR's length, or less if the rest cannot be mapped. */
  readonly lengthBytes: number
  /** True if this is ordinary memory, polled by a simulator: a GPU maps it as memory, not as I/O. */
  readonly isMemory?: boolean
}

/** A range of memory that is contiguous for the device. */
export interface DmaSegment {
  /** Offset of the range from the start of the memory. */
  readonly offsetBytes: number
  /** Device address of the first byte. */
  readonly iova: number
  readonly lengthBytes: number
}

/** Memory that the controller can access. It stays pinned, at the same addresses, until `free`. */
export interface DmaMemory {
  readonly lengthBytes: number
  /** The host's view; absent for GPU memory that the CPU cannot reach. */
  readonly view?: DataView
  /** Address of the first byte, as kernels use it. Only for memory on a GPU. */
  readonly gpuPointer?: bigint
  /** Segments in offset order, without gaps; adjacent ones are merged. */
  readonly segments: readonly DmaSegment[]
  /** Returns the device address of byte `offsetBytes`. @throws RangeError outside the memory. */
  iovaAt(offsetBytes: number): number
  /** Makes the host's writes visible to the device; no effect on coherent systems. */
  forDevice(offsetBytes: number, lengthBytes: number): void
  /** Makes the device's writes visible to the host; no effect on coherent systems. */
  forHost(offsetBytes: number, lengthBytes: number): void
  /**
   * Sets bytes of memory without a view: rings must be cleared before a controller uses them. The bytes are set when it
   * returns, which takes microseconds. Absent if there is a view, and if the implementation cannot do it.
   * @throws RangeError outside the memory.
   */
  fill?(byte: number, offsetBytes: number, lengthBytes: number): void
  /**
   * Copies `into.length` bytes from `offsetBytes` out of memory without a view; call `forHost` first. The bytes are
   * there when it returns. Meant for rare uses, such as searching a ring after a timeout. Absent under the same
   * conditions as `fill`.
   * @throws RangeError outside the memory.
   */
  copyOut?(offsetBytes: number, into: Uint8Array): void
  /** Frees the memory. The controller must no longer access it. @throws TypeError if it was already freed. */
  free(): void
}

/** Requirements for allocated memory, other than its length. */
export interface DmaRequest {
  /**
   * Alignment of the first byte's iova, a power of two. Default: 4096. Queues, PRP lists and Admin data also need whole
   * pages of this length: the driver rejects memory in which two segments share a page. So does data that PRPs
   * describe; for it, the driver requests at least the memory page size of the controller (CC.MPS).
   */
  readonly alignBytes?: number
  /** Requires exactly one segment. Queues need it (CAP.CQR); data does not. */
  readonly contiguous?: boolean
  /** Location of the memory. Default: `host`. */
  readonly where?: 'host' | 'gpu'
}

/** Allocates memory that the controller can access. */
export interface DmaAllocator {
  /**
   * Allocates `lengthBytes` bytes of zeroed memory.
   * @throws RangeError for an invalid length or alignment, and if no memory is left; TypeError if this kind of memory
   *   is not available.
   */
  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory
  /**
   * Identity of the address space of the iovas. If two allocators return the same object, both of their controllers can
   * access the memory of both, at the same addresses. Absent if only this allocator's controller is known to access it.
   */
  readonly addressSpace?: object | undefined
}

/** The only source of time: nanoseconds from an arbitrary start. Never runs backwards. */
export interface Clock {
  /** Nanoseconds since that start. */
  now(): number
  /**
   * Resolves when something may have changed, or at `untilNs`, whichever is first. This is the only way to wait: a
   * simulator advances to its next event; on hardware it polls with back-off or sleeps until an interrupt.
   */
  idle(untilNs: number): Promise<void>
  /**
   * Time of the next scheduled event of a virtual clock, which only passes in `idle`; Infinity if none is scheduled.
   * Until then, a wait without a deadline has nothing to wait for. Undefined for a clock that runs by itself.
   */
  readonly nextNs?: number | undefined
}

/** PCI configuration space of a function; `@gpunvme/nvme-spec/pci` declares its contents. Offsets are in bytes. */
export interface ConfigSpace {
  /** Reads the 1, 2 or 4 bytes at `offset` as one unsigned number; all ones if the device has left the bus. */
  read(offset: number, widthBytes: 1 | 2 | 4): number
  /** Writes 1, 2 or 4 bytes at `offset`. */
  write(offset: number, widthBytes: 1 | 2 | 4, value: number): void
}

/** Interrupts that a transport can wait for. */
export interface Interrupts {
  /** Number of vectors, counted from 0. */
  readonly vectors: number
  /** Resolves when `vector` fires, or at `untilNs` of the transport's clock; the result says which. */
  wait(vector: number, untilNs: number): Promise<'fired' | 'deadline'>
}

/**
 * What the path between GPU and controller allows. These are facts about a machine; the tier is negotiated from them.
 */
export interface TransportCapabilities {
  /** The GPU may write doorbells in BAR0. */
  readonly gpuRing: boolean
  /** The GPU may read BAR0. If false, a read can make the drive drop off the bus. */
  readonly gpuRead: boolean
  /** The controller may write into GPU memory. */
  readonly dmaToVram: boolean
}

/** One controller: in this process, in QEMU, or on the bus. */
export interface Transport {
  readonly name: string
  /** PCI address, if there is one; the write guard uses it to find open handles. */
  readonly bdf?: string
  readonly bar: Bar
  readonly dma: DmaAllocator
  readonly clock: Clock
  readonly config?: ConfigSpace
  readonly interrupts?: Interrupts
  readonly can: TransportCapabilities
  /** If false, reads and writes complete without moving bytes: callers that return data must refuse this transport. */
  readonly movesData?: false
  /**
   * The wrapped transport, if this one observes or changes register accesses. It lets a driver accept an engine that
   * bypasses the wrapper, and reject an engine of another device or a second handle on the same controller.
   */
  readonly wraps?: Transport
  /** Resets the PCI function, or the bus behind the port above it. Absent if the transport can do neither. */
  reset?(kind: 'function' | 'bus'): Promise<void>
  /** Releases the controller and all resources of the transport, which cannot be used afterwards. */
  close(): Promise<void>
  /** Returns true once `close` was called: a driver uses it to distinguish a closed transport from a lost device. */
  isClosed?(): boolean
}

/**
 * Native modules: shared memory, and the system calls that a driver in user space needs. `gpunvme_host`, the addon of
 * cuda-native, implements all of them.
 */

/** What a native module must provide for a simulator worker to share memory with native threads. */
export interface NativeHost {
  /**
   * Returns the `lengthBytes` bytes at a native address: the same memory in every worker, not a copy.
   * @throws RangeError if they are known to be unmapped.
   */
  view(address: bigint, lengthBytes: number): ArrayBuffer
  /** Yields the processor (sched_yield), so that a polling pair on two busy cores does not starve. */
  yield(): void
  /**
   * Zeroes bytes of an open file and frees their storage (fallocate). Whole blocks of the file system become a hole,
   * parts of blocks are overwritten, and the file keeps its size. Returns false, and changes nothing, if the file
   * system does not support holes (EOPNOTSUPP, ENOSYS).
   * @throws an Error with Node's `code`, `errno` and `syscall` for any other failure of the kernel: EBADF if the file
   *   is not open for writing; RangeError for a length of 0 or an invalid offset.
   */
  punchHole?(fd: number, offsetBytes: number, lengthBytes: number): boolean
}

/**
 * A part of this process's address space that keeps its address until `unmap`. It is not garbage-collected, since a
 * device may write to it. When the thread that made it ends, a mapped file is unmapped; allocated memory stays until
 * the process ends, because the device may still be running. Call `unmap` before.
 */
export interface NativeRegion {
  /** Address of the first byte, as the kernel's interfaces use it. */
  readonly address: bigint
  readonly lengthBytes: number
  /**
   * The same bytes, for memory. Access registers only by `load…` and `store…`: the device sees the width.
   * @throws TypeError if the region is mapped for reading: a store to it would end the process.
   */
  readonly buffer: ArrayBuffer
  /** Loads 32 bits. @throws RangeError if the offset is not a multiple of 4 inside the region. */
  load32(offsetBytes: number): number
  /** Stores 32 bits, after all earlier stores. @throws RangeError as `load32`; TypeError as `buffer`. */
  store32(offsetBytes: number, value: number): void
  /** Loads 64 bits. @throws RangeError if the offset is not a multiple of 8 inside the region. */
  load64(offsetBytes: number): bigint
  /** Stores 64 bits, after all earlier stores. @throws RangeError as `load64`; TypeError as `buffer`. */
  store64(offsetBytes: number, value: bigint): void
  /**
   * Unmaps the region. Every later access throws, and `buffer` and all views in this thread are detached. If JavaScript can
   * still access the memory, through views in other threads or through an ArrayBuffer that `transfer()` or a byte stream
   * moved it to, the memory is unmapped when the last of these is garbage-collected. Until then its pages stay locked and
   * count as used, and the kernel keeps a mapped device file open. Calling it twice is harmless.
   */
  unmap(): void
}

/**
 * System calls that a driver in user space needs and `node:fs` lacks: map registers and memory, lock pages, call
 * `ioctl`. It has no policy and no knowledge of NVMe, VFIO or PCI, which is host-driver's. Failures of the kernel are
 * thrown as an Error with Node's `code` ('ENOMEM'), `errno` and `syscall`.
 */
export interface HardwareHost extends NativeHost {
  /**
   * Maps part of an open file, shared: a PCI resource, a region of a VFIO device, guest memory. The file may be closed
   * afterwards.
   * @throws RangeError if the offset is not a multiple of the page size, or the range exceeds a file that has a length.
   */
  map(fd: number, offsetBytes: number, lengthBytes: number, access: 'read' | 'read-write'): NativeRegion
  /**
   * Allocates zeroed, locked memory with all pages present. Pages of 2 MiB are physically contiguous each. The length
   * is rounded up to whole pages. @throws ENOMEM if no huge pages are left; for 4 KiB pages, EPERM or EAGAIN above
   * RLIMIT_MEMLOCK, which does not apply to huge pages.
   */
  allocate(lengthBytes: number, pageBytes: 4096 | 2_097_152): NativeRegion
  /**
   * Calls ioctl(2) with a structure that is read and written in place. Returns the result of the call.
   * @throws RangeError if it is shorter than the size in `request`; or if the kernel wrote more bytes: then the call
   *   has been made, and the excess bytes are discarded.
   */
  ioctl(fd: number, request: number, argument: Uint8Array): number
  /**
   * Calls ioctl(2) with a number as its argument, or without one.
   * @throws RangeError for a number above 65535, since the kernel could use it as an address.
   */
  ioctlNumber(fd: number, request: number, argument: number): number
  /**
   * Takes over a descriptor that an `ioctl` returned. Returns its new number, which is closed on exec, by `fs.close`,
   * and when this thread ends, like descriptors of `fs`. If it throws, the descriptor is closed.
   */
  adopt(fd: number): number
  /** Creates a non-blocking eventfd(2), by which a kernel driver signals an interrupt. It is already adopted. */
  eventfd(): number
  /**
   * Reads and clears the count of an eventfd; returns false if it was 0. Never blocks, even if another holder of the
   * eventfd has made it blocking.
   */
  drainEventfd(fd: number): boolean
  /**
   * Waits with poll(2) until a read would not block, on one thread shared by all waits; any number may wait at a time.
   * Resolves with true then, and with false after `timeoutNs`.
   */
  waitReadable(fd: number, timeoutNs: number): Promise<boolean>
  /** Returns RLIMIT_MEMLOCK in bytes; Infinity if there is no limit. */
  memlockLimitBytes(): number
}

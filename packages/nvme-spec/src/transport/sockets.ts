/** Native modules for vfio-user: sockets that pass descriptors, and the memory of another process. */
import type { NativeHost, NativeRegion } from './native.js'

/**
 * Unix domain sockets that pass descriptors, which Node's own cannot. Meant for a thread dedicated to serving one.
 * Failures of the kernel are thrown as by `HardwareHost`. Returned descriptors are already adopted: close them with
 * `fs.close`.
 */
export interface SocketHost {
  /**
   * Listens at `path` without blocking, with mode 600 (owner only). Nothing may exist at `path`: remove a stale socket
   * first.
   * @throws EADDRINUSE; RangeError for a path longer than the kernel accepts.
   */
  listen(path: string): number
  /** Accepts the next client; returns undefined if none is waiting. */
  accept(listener: number): number | undefined
  /** Connects to the listener at `path`. @throws ENOENT, ECONNREFUSED; EAGAIN if its queue is full. */
  connect(path: string): number
  /**
   * Receives what has arrived, up to the length of `into`, without blocking. Returns the number of bytes, 0 if the
   * other end has closed, or -1 if there is nothing. `descriptors[0]` is the number of descriptors received; they
   * follow it, so 17 elements are enough for the 16 of a message. They belong to the message of the last byte returned:
   * a call ends with the bytes that came with descriptors, and may begin with messages that had none.
   * @param kinds kinds of descriptors to accept. Default: all.
   * @throws EMSGSIZE if more descriptors came, EMFILE if this process cannot open more: all are closed then.
   */
  receive(socket: number, into: Uint8Array, descriptors: Int32Array, kinds?: DescriptorKinds): number
  /**
   * Sends all of `bytes`, with the descriptors beside the first byte; they stay open in this process.
   * @throws EPIPE if the other end has closed; ETIMEDOUT if it accepted nothing for `timeoutNs`.
   */
  send(socket: number, bytes: Uint8Array, descriptors: Int32Array | undefined, timeoutNs: number): void
  /**
   * Blocks the calling thread until one of at most 31 descriptors is readable, closed or in error, or until `timeoutNs`
   * have passed. Returns a bit mask: bit i stands for `descriptors[i]`, 0 for a timeout. Negative descriptors are
   * skipped.
   */
  poll(descriptors: Int32Array, timeoutNs: number): number
}

/**
 * Kinds of descriptors that another process may send. Use `memory-and-eventfds` for an untrusted process: memfds, files on
 * tmpfs and hugetlbfs, and eventfds, all of which the kernel serves itself. For any other file, fstat(2), close(2) and the
 * exit of this process can block for as long as its file system, such as FUSE, does not respond. A child process closes such
 * a descriptor, and /dev/null replaces it.
 */
export type DescriptorKinds = 'all' | 'memory-and-eventfds'

/** What a vfio-user server needs from native code: sockets, its client's memory, and eventfds that wake it. */
export interface VfioUserHost extends NativeHost, SocketHost {
  /**
   * Like `HardwareHost.map`, for a file that belongs to another process. If that process truncates the file, the pages
   * read as zeroes from then on and stores to them are lost; this process is not ended by SIGBUS. Replaced pages stay
   * replaced even if the file grows again. A system call that accesses such bytes first fails with EFAULT.
   *
   * `buffer` and `view` also exist for a region mapped for reading. A store through them is private to this process:
   * its copy of that page no longer follows the file. Pages of hugetlbfs that the file does not have yet stay zero
   * then. A region may be longer than the largest ArrayBuffer, which is 4 GiB in Node.js 20: `buffer` and `view` throw
   * a RangeError above it (`constants.MAX_LENGTH` of `node:buffer`); `view` returns such a region in parts.
   *
   * V8 counts the bytes of an ArrayBuffer as its own memory: each new one above 64 MiB causes a full garbage
   * collection, which takes milliseconds. Cache the mapping; do not unmap eagerly.
   */
  mapForeign(fd: number, offsetBytes: number, lengthBytes: number, access: 'read' | 'read-write'): NativeRegion
  /**
   * Returns how many bytes of such mappings were replaced by zeroes so far, in whole pages; it only grows. After many
   * single pages of one mapping, all following pages are replaced at once and become memory of this process.
   */
  lostForeignBytes(): number
  /** As `HardwareHost.eventfd`. */
  eventfd(): number
  /**
   * Adds 1 to the count of an eventfd. Never blocks: an eventfd at its maximum count is already signalled. The eventfd
   * becomes non-blocking for all its holders, since the flag is shared.
   */
  signalEventfd(fd: number): void
  /** As `HardwareHost.drainEventfd`. */
  drainEventfd(fd: number): boolean
}

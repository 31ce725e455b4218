/**
 * Interfaces between the packages, as types without code: transports, engines, clocks and native modules. Code written
 * against them runs on any implementation: nvme-sim (simulator), host-driver (engines, QEMU, hardware), cuda-native
 * (native memory, GPU engines). Units are in the names: …Bytes, …Ns, …Entries, …Blocks.
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
   * pages of this length: the driver rejects memory in which two segments share a page.
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
   * bypasses the wrapper, and reject an engine of another device.
   */
  readonly wraps?: Transport
  /** Resets the PCI function, or the bus behind the port above it. Absent if the transport can do neither. */
  reset?(kind: 'function' | 'bus'): Promise<void>
  /** Releases the controller and all resources of the transport, which cannot be used afterwards. */
  close(): Promise<void>
}

/**
 * Commands to execute, as plain data: one element per command in each array. A plan refers to no memory and no queue
 * objects. It can be made before anything is allocated, stored, posted to a worker, or executed again on other memory.
 */
export interface Plan {
  readonly operation: 'read' | 'write'
  readonly nsid: number
  readonly blockBytes: number
  /** Number of commands: the length of every array below. */
  readonly commands: number
  /** First LBA. */
  readonly slba: Float64Array
  /** Number of logical blocks, 1 to 65536 (not 0's based). */
  readonly blocks: Uint32Array
  /** Offset of the command's data in the memory that the plan is executed on. */
  readonly offsetBytes: Float64Array
  /** Index into the engine's attached queues. */
  readonly queue: Uint16Array
}

/** How a command ended. Every command of a plan has exactly one outcome. */
export type Outcome =
  | { readonly kind: 'success' }
  | {
      readonly kind: 'status'
      readonly sct: number
      readonly sc: number
      readonly dnr: boolean
      readonly more: boolean
      /** Command Retry Delay, 0 to 3. */
      readonly crd: number
    }
  | { readonly kind: 'timeout'; readonly afterNs: number }
  | {
      readonly kind: 'device-lost'
      readonly csts: number
      /** Why recovery failed. Set only by the owner of a recovery; engines do not know it. */
      readonly reason?: string
    }
  /**
   * A write whose completion was lost in a recovery: its blocks hold the old data, the new, or some of both. Reads
   * never have this outcome, since they are repeated. Set only by the owner of a recovery, not by engines.
   */
  | { readonly kind: 'unknown'; readonly afterNs: number }
  /** Never reached the controller: the plan was aborted, or the failure of an earlier command stopped the engine. */
  | { readonly kind: 'not-submitted' }

/** A command that did not succeed: its location and how it ended. */
export interface CommandOutcome {
  /** Index into the plan. */
  readonly command: number
  readonly qid: number
  readonly cid: number
  readonly outcome: Exclude<Outcome, { kind: 'success' }>
  /** Number of times it was resubmitted after a recovery; absent for none. */
  readonly replays?: number
}

/** How a plan ended: totals, and every command that failed. Times are those of the transport's clock. */
export interface OutcomeSummary {
  /** Number of commands in the plan. */
  readonly commands: number
  readonly succeeded: number
  /** Bytes moved by successful commands. */
  readonly bytes: number
  /** Commands that did not succeed, in plan order. Empty if the whole plan succeeded. */
  readonly failures: readonly CommandOutcome[]
  readonly startNs: number
  readonly endNs: number
}

/**
 * Position of a doorbell in the Shadow Doorbell and EventIdx buffers, which a controller polls in host memory instead
 * of its registers (Base 2.1 §5.2.5).
 */
export interface ShadowDoorbell {
  /** The host writes the doorbell's value here. */
  readonly shadow: DmaMemory
  /** The controller writes here up to which value it polls without a register write. */
  readonly eventIdx: DmaMemory
  /** Byte offset of this doorbell in both buffers. */
  readonly offsetBytes: number
}

/** The ring of a completion queue, and its position. One or more submission queues complete to it. */
export interface CompletionQueueMemory {
  readonly cqid: number
  readonly entries: number
  readonly memory: DmaMemory
  /** Byte offset of the doorbell in BAR0. */
  readonly headDoorbell: number
  readonly shadow?: ShadowDoorbell
  /** Position in the ring. It is kept across engines, for as long as the controller's queue exists. */
  head: number
  phase: 0 | 1
}

/** The rings of a queue pair, and their positions. host-driver passes them to an engine and takes them back. */
export interface QueuePairMemory {
  readonly qid: number
  readonly sqEntries: number
  readonly sq: DmaMemory
  /** The completion queue; pairs with the same `cq` object share it. */
  readonly cq: CompletionQueueMemory
  /**
   * Maximum number of commands in flight: neither the submission queue nor the completion queue, with all pairs that
   * share it, can overflow.
   */
  readonly maxInFlight: number
  /** PRP list pages: `prpListBytes` for each command in flight. */
  readonly prpLists: DmaMemory
  readonly prpListBytes: number
  /** Memory page size of CC.MPS, the unit of PRP entries. */
  readonly pageBytes: number
  /** Present if commands may use SGLs instead of PRPs: the required alignment of data addresses. */
  readonly sgl?: 'byte' | 'dword'
  /** Byte offset of the doorbell in BAR0. */
  readonly sqTailDoorbell: number
  readonly shadow?: ShadowDoorbell
  /** Position in the ring. It is kept across engines, for as long as the controller's queue exists. */
  sqTail: number
  /**
   * For each slot of a command in flight, how often it was used. Part of the command identifier, so that a late
   * completion is not credited to another command. Kept across engines, like the ring positions.
   */
  readonly generations: Uint16Array
}

/** The part of AbortSignal that is needed here, declared so that these types require neither DOM nor Node typings. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  /** Calls `listener` on abort; not if already aborted. */
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  /** Removes `listener`. */
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Options of executing a plan. */
export interface ExecuteOptions {
  /** Aborting stops submission. Commands in flight are still waited for, so that no DMA is left behind. */
  readonly signal?: AbortSignalLike
  /** Timeout of each command, from its submission. Default: the engine's own. */
  readonly timeoutNs?: number
}

/**
 * Executes plans with as many commands in flight as the queues hold. `execute` may be called again before an earlier
 * plan has ended: plans are executed in order, and queues do not drain between them.
 *
 * An engine only reports failures; it never resets, retries or repairs. After a timeout or the loss of the device it
 * stops, and its owner recovers.
 *
 * Between `attach` and `detach` only the engine uses the rings, their doorbells and the PRP lists. At all other times
 * no thread, kernel or callback of the engine accesses queues, registers or memory: the owner frees them, resets the
 * controller and reuses its registers. An `attach` that throws has taken nothing.
 */
export interface Engine {
  readonly name: string
  /**
   * The transport whose doorbells it rings; absent if the engine does not state it. A driver rejects the engine if the
   * driver was opened on other registers.
   */
  readonly transport?: Pick<Transport, 'bar'>
  /** Counts since the engine was created, over all queues it was attached to. Absent if it does not count. */
  readonly statistics?: EngineStatistics
  /**
   * Takes queues over; plans refer to them by their index here. While plans are in flight, calls `watch` at least every
   * 10 ms of the transport's clock, so that the owner can check for asynchronous events.
   * @throws TypeError if queues are already attached.
   */
  attach(queues: readonly QueuePairMemory[], watch?: () => void): void
  /**
   * Copies the plan and executes it; the caller may change the plan as soon as this returns. Resolves with one outcome
   * for each command. The engine itself no longer accesses the memory then; the controller may, for commands that did
   * not complete. Rejects for invalid arguments, and with an `EngineFailedError` of `@gpunvme/nvme-spec/engine` if
   * registers or memory cannot be accessed at all.
   */
  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary>
  /**
   * Returns the queues, with current ring positions and generations. Returns when all threads and kernels of the engine
   * have stopped. Work that must not be interrupted is waited for, no longer than necessary to see that it ends.
   * @throws TypeError while plans are in flight; EngineFailedError if something cannot be stopped, or the ring
   *   positions are lost. The memory of the queues must be kept then.
   */
  detach(): void
}

/** Counters of an engine. */
export interface EngineStatistics {
  /** Commands submitted. */
  readonly commands: number
  /** Doorbell writes, for submission and completion queues. */
  readonly doorbellWrites: number
  /** Completions that match no command in flight: late, duplicate or unexpected. */
  readonly staleCompletions: number
}

/**
 * When a busy drive overheats and slows down. Heat is counted in bytes: each transferred byte adds one, and
 * `coolingBytesPerSecond` are subtracted every second; heat stays between 0 and the limit.
 */
export interface ThermalThrottle {
  /** Factor by which everything takes longer while throttled. */
  readonly factor: number
  /** Heat at which throttling begins. */
  readonly limitBytes: number
  /** Heat at which throttling ends. */
  readonly recoveredBytes: number
  readonly coolingBytesPerSecond: number
}

/** Cost of a plan, for planners: pure arithmetic, the same on every machine. */
export interface CostModel {
  /**
   * Returns the mean nanoseconds from one completion to the next in a long run of reads of `lengthBytes`, with
   * `queueDepth` in flight. At a depth of 1 that is the whole latency of a read.
   * @throws RangeError for a length or depth that no command can have.
   */
  readNs(lengthBytes: number, queueDepth: number): number
  /** Returns the nanoseconds to copy `lengthBytes` from host to GPU memory. Absent if unknown or not needed. */
  copyNs?(lengthBytes: number): number
  /** When heat raises this cost. Absent if the drive does not throttle. */
  readonly throttle?: ThermalThrottle
}

/** GPU memory, for the copy engine and kernels. */
export interface DeviceMemory {
  readonly lengthBytes: number
  /** Address of the first byte, as kernels use it. */
  readonly gpuPointer: bigint
  /** Frees the memory; no copy from or to it may be in flight. */
  free(): void
}

/** Second hop of tier 1: copies pinned host memory to GPU memory, concurrently with the next read. */
export interface CopyEngine {
  /** Allocates `lengthBytes` bytes of GPU memory. @throws if none is left. */
  alloc(lengthBytes: number): DeviceMemory
  /**
   * Copies `lengthBytes` bytes, from byte `fromBytes` of `from` to byte `toBytes` of `to`. Resolves when they have
   * arrived; free neither memory before that.
   */
  copy(from: DmaMemory, fromBytes: number, to: DeviceMemory, toBytes: number, lengthBytes: number): Promise<void>
}

/** Memory that a checksummer reads: through `view` on the host, at `gpuPointer` on a GPU. */
export type ChecksummedMemory = Pick<DmaMemory, 'lengthBytes' | 'view' | 'gpuPointer' | 'copyOut'>

/** Computes checksums of memory: on the calling thread, in native code, or on a GPU. All implementations agree. */
export interface Checksummer {
  /** Name for reports, such as 'zlib'. */
  readonly name: string
  /** True if it computes on the caller's thread: overlapping calls gain nothing and delay each other. */
  readonly blocks?: boolean
  /**
   * Computes the CRC-32/ISO-HDLC (zlib's `crc32`) of each chunk of `chunkBytes` in `lengthBytes` bytes from
   * `offsetBytes`, into the elements of `into` from the first. The last chunk may be shorter. Data written by a device
   * must have arrived (`DmaMemory.forHost`). Keep the memory until the promise settles; afterwards neither memory nor
   * `into` is accessed. Calls may overlap in time.
   * @throws RangeError if the range is outside the memory, and if `into` has fewer elements than there are chunks;
   *   TypeError for memory that it cannot access; the signal's reason, at the next point where it can stop.
   */
  checksum(
    memory: ChecksummedMemory,
    offsetBytes: number,
    lengthBytes: number,
    chunkBytes: number,
    into: Uint32Array,
    options?: { readonly signal?: AbortSignalLike },
  ): Promise<void>
}

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

/**
 * What a fault applies to. All given conditions must hold. Without `register` and `atNs` it applies to commands; with
 * `register`, to the host's accesses to that register; with `atNs`, at a time. Then `nth`, `every`, `probability` and
 * `times`, in that order, choose among the matches.
 */
export interface FaultMatch {
  /** Submission queue of the command, or queue of the doorbell. 0 is Admin. */
  readonly qid?: number
  readonly opcode?: number
  readonly nsid?: number
  /**
   * Matches if any LBA of the command is in [first, last]. Commands that list their blocks in data, such as Copy, have
   * no LBA here.
   */
  readonly lba?: readonly [first: number, last: number]
  /**
   * Register name, such as CSTS. SQyTDBL and CQyHDBL are the doorbells, of queue `qid` or of any queue. Accesses are
   * counted in units of 32 bits: reading all of ASQ is two accesses.
   */
  readonly register?: string
  /** Default: both, if the action applies to both. */
  readonly access?: 'read' | 'write'
  /** Applies once, at this time of the transport's clock. */
  readonly atNs?: number
  /** Applies from this time on, inclusive. Default: from the beginning. */
  readonly fromNs?: number
  /** Applies before this time. Default: to the end. */
  readonly untilNs?: number
  /** Applies only to the n-th match, from 1; with `every`, the first one it applies to. */
  readonly nth?: number
  /** Applies to each n-th match. */
  readonly every?: number
  /** Applies to each match with this probability, above 0 and at most 1. Each rule has its own random stream. */
  readonly probability?: number
  /** Maximum number of times it applies. */
  readonly times?: number
}

/** What a fault does. Offsets in data count from the first byte that the command moves. */
export type FaultAction =
  // Actions on commands. Unless stated otherwise, the command itself is performed.
  /** No completion is posted; Abort does not find the command. */
  | { readonly kind: 'drop-completion' }
  /** The command stops before it has any effect and never completes; Abort finds it. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay-completion'; readonly delayNs: number }
  /** The completion is posted twice in succession. */
  | { readonly kind: 'duplicate-completion' }
  /**
   * The completion is delayed until `behind` others were posted to the same completion queue, or `atMostNs` have
   * passed.
   */
  | { readonly kind: 'reorder-completion'; readonly behind: number; readonly atMostNs: number }
  /**
   * The command ends with this status and does nothing. With status success (0h, 0h), it claims success without doing
   * anything.
   */
  | {
      readonly kind: 'status'
      readonly sct: number
      readonly sc: number
      readonly dnr?: boolean
      readonly more?: boolean
      /** Command Retry Delay, 0 to 3. */
      readonly crd?: number
    }
  | { readonly kind: 'corrupt-cid'; readonly xor: number }
  | { readonly kind: 'corrupt-sqhd'; readonly xor: number }
  | { readonly kind: 'corrupt-sqid'; readonly xor: number }
  /** Posted with the Phase Tag of the previous lap: the host does not see it, nor later completions. */
  | { readonly kind: 'corrupt-phase' }
  /**
   * Flips bits in the data that a Read delivers or a Write stores: `xor` is applied to byte `byte`, or, as an array, to
   * successive bytes from there.
   */
  | { readonly kind: 'corrupt-data'; readonly byte: number; readonly xor: number | readonly number[] }
  /**
   * Bytes from `fromByte` up to but not including `toByte`, or to the end, do not arrive; the previous contents stay.
   */
  | { readonly kind: 'torn-dma'; readonly fromByte: number; readonly toByte?: number }
  /**
   * Page `page` of the data, from 0, is written to (or read from) the location of page `to` of the same command; its
   * own location stays unchanged. Limited to pages of the same command, so that no other memory of the host is damaged.
   */
  | { readonly kind: 'wrong-page'; readonly page: number; readonly to: number }
  // Actions on register accesses.
  /** The write never arrives. */
  | { readonly kind: 'lose-write' }
  /**
   * The write and all later ones are delayed by this time, since posted writes do not pass each other. Reads are not
   * delayed.
   */
  | { readonly kind: 'delay-write'; readonly delayNs: number }
  /** The host reads this value. */
  | { readonly kind: 'read-value'; readonly value: number }
  // Actions on CC.EN: only a reset of the function or the subsystem helps.
  /** CSTS.RDY stays 0 after CC.EN was set. */
  | { readonly kind: 'ready-never-rises' }
  /** CSTS.RDY stays 1 after CC.EN was cleared. */
  | { readonly kind: 'ready-never-falls' }
  // Actions on the controller: when a command is fetched, when a register is accessed, or at a time.
  /** CSTS.CFS is set. */
  | { readonly kind: 'fatal-status' }
  /** The device leaves the bus: all later reads return all ones. */
  | { readonly kind: 'remove-device' }
  /** The controller loses all state, as after a function reset that the host did not request. */
  | { readonly kind: 'surprise-reset' }
  /** Another host detaches a namespace: its commands end, and the controller reports the change. */
  | { readonly kind: 'detach-namespace'; readonly nsid: number }
  /** Another host attaches an existing namespace. */
  | { readonly kind: 'attach-namespace'; readonly nsid: number }
  /** The namespace size becomes `blocks`, at most its capacity; the controller reports the change. */
  | { readonly kind: 'resize-namespace'; readonly nsid: number; readonly blocks: number }
  /** Everything takes `factor` times longer for `forNs`. */
  | { readonly kind: 'throttle'; readonly factor: number; readonly forNs: number }

/** One fault: what it applies to, and what it does. */
export interface FaultRule {
  readonly match: FaultMatch
  readonly action: FaultAction
}

/**
 * Faults as data, so that a failing run can be stored and replayed. If several rules apply to the same thing, each kind
 * of action happens once, for the first of its rules.
 */
export interface FaultPlan {
  readonly rules: readonly FaultRule[]
}

/** One event, for a trace writer of `@gpunvme/nvme-spec/trace`. */
export interface TraceEvent {
  /** Time of the event or of its start: nanoseconds of the transport's clock, below 2^53. */
  readonly timeNs: number
  /** Where it happened: 'bar', 'sq 1', 'slot 0'. */
  readonly track: string
  /** Event name, one or two words: 'fetch', 'write CC'. */
  readonly name: string
  /** Duration; absent for an instant. */
  readonly durationNs?: number
  /** Further facts. Text that names its own fields, such as that of `formatSqe`, is printed without its key. */
  readonly details?: Readonly<Record<string, string | number>>
}

/** Receives events as they happen. Every trace writer is one. */
export type TraceSink = (event: TraceEvent) => void

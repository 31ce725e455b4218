/**
 * The seams of the whole family, as types without code: what a transport, an engine, a clock must be for everything
 * above to work on it unchanged. Implementers: nvme-sim (the simulator), host-driver (engines, QEMU, hardware),
 * cuda-native (native memory, GPU engines). Units are in the names: …Bytes, …Ns, …Entries, …Blocks.
 */

/**
 * A controller's registers: BAR0. Access is synchronous and of exactly the width asked for.
 * A read of a device that has left the bus gives all ones, as PCIe does; it never throws for that. Offsets are in bytes.
 */
export interface Bar {
  readonly lengthBytes: number
  /** The dword at `offset`, 0 to 2^32 - 1. @throws RangeError for an offset that is no multiple of 4 inside the BAR. */
  read32(offset: number): number
  /** Writes the dword at `offset`. @throws RangeError for an offset that is no multiple of 4 inside the BAR. */
  write32(offset: number, value: number): void
  /** The 64 bits at `offset`. @throws RangeError for an offset that is no multiple of 8 inside the BAR. */
  read64(offset: number): bigint
  /**
   * Writes the 64 bits at `offset`: as two 32-bit writes, low half first, where the device wants that (SN740 corrupts
   * ASQ otherwise; measured on the reference rig).
   * @throws RangeError for an offset that is no multiple of 8 inside the BAR.
   */
  write64(offset: number, value: bigint): void
  /**
   * Where these registers lie in memory, for native code that rings doorbells by itself; absent where an access is more
   * than a load or a store, as in a simulator, behind a wrapper that observes or changes accesses, and once the device
   * has left the bus.
   */
  readonly window?: BarWindow | undefined
}

/**
 * The first registers of a BAR in this process's address space. It is valid until the transport's `close`: after that a
 * store there ends the process, so that whoever rings must have stopped before (`Engine.detach`). Where the device has
 * left the bus meanwhile, stores go nowhere and loads give all ones. A 32-bit aligned store is a register's write; 64
 * bits are two of them, low half first, as by `Bar.write64`.
 */
export interface BarWindow {
  /** Of the byte at offset 0. */
  readonly address: bigint
  /** How far it goes: up to the BAR's length, and less where the rest cannot be mapped. */
  readonly lengthBytes: number
  /** Where it is ordinary memory that somebody polls, as a simulator does: a GPU is told so when it maps it. */
  readonly isMemory?: boolean
}

/** A run of memory that is contiguous for the device. */
export interface DmaSegment {
  /** Where the run begins, from the start of the memory. */
  readonly offsetBytes: number
  /** The device's address of its first byte. */
  readonly iova: number
  readonly lengthBytes: number
}

/** Memory that the controller can reach. It stays pinned, at the same addresses, until `free`. */
export interface DmaMemory {
  readonly lengthBytes: number
  /** The host's view; absent for GPU memory that the CPU cannot reach. */
  readonly view?: DataView
  /** The address of its first byte, as kernels take it: of memory on a GPU alone. */
  readonly gpuPointer?: bigint
  /** In offset order, without gaps, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /** The device's address of byte `offsetBytes`. @throws RangeError outside the memory. */
  iovaAt(offsetBytes: number): number
  /** Makes what the host wrote visible to the device; a no-op on coherent systems. */
  forDevice(offsetBytes: number, lengthBytes: number): void
  /** Makes what the device wrote visible to the host; a no-op on coherent systems. */
  forHost(offsetBytes: number, lengthBytes: number): void
  /**
   * Sets bytes of memory without a view, as rings must be set before a controller uses them: they are when it returns,
   * which takes microseconds. Absent where there is a view, and where nobody can. @throws RangeError outside the memory.
   */
  fill?(byte: number, offsetBytes: number, lengthBytes: number): void
  /**
   * Copies bytes of memory without a view from `offsetBytes` on, as many as `into` has, after `forHost`: they are there
   * when it returns. For what is rare, as looking through a ring after a time-out. Absent as `fill`.
   * @throws RangeError outside the memory.
   */
  copyOut?(offsetBytes: number, into: Uint8Array): void
  /** Gives the memory back; the controller must not reach for it any more. @throws TypeError when it was freed before. */
  free(): void
}

/** What memory must be like, beside its length. */
export interface DmaRequest {
  /**
   * Alignment of the first byte's iova, a power of two. Default: 4096. Queues, PRP lists and Admin data also need whole
   * pages of this length: the driver rejects memory in which two segments share a page.
   */
  readonly alignBytes?: number
  /** Exactly one segment. Queues need it (CAP.CQR); data does not. */
  readonly contiguous?: boolean
  /** On whose memory it lies; `host` when not given. */
  readonly where?: 'host' | 'gpu'
}

/** Where memory comes from that the controller can reach. */
export interface DmaAllocator {
  /**
   * Zeroed memory of `lengthBytes` bytes.
   * @throws RangeError for a length or an alignment that cannot be, and when there is none left; TypeError where there
   *   is none of that kind.
   */
  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory
  /**
   * What the iovas of its memory are addresses in. Where two allocators have the same object here, the controller of
   * each reaches the memory of both, at the same addresses. Absent where its controller alone is known to reach it.
   */
  readonly addressSpace?: object | undefined
}

/** The only source of time. Nanoseconds from an arbitrary start; never runs backwards. */
export interface Clock {
  /** Nanoseconds since that start. */
  now(): number
  /**
   * Resolves when something may have changed or `untilNs` is reached, whichever is first. The one way to wait:
   * a simulator jumps to its next event, hardware polls with back-off or sleeps on an interrupt.
   */
  idle(untilNs: number): Promise<void>
}

/** A function's PCI configuration space; `@gpunvme/nvme-spec/pci` declares what is in it. Offsets are in bytes. */
export interface ConfigSpace {
  /** The 1, 2 or 4 bytes at `offset` as one unsigned number; all ones of a device that has left the bus. */
  read(offset: number, widthBytes: 1 | 2 | 4): number
  /** Writes 1, 2 or 4 bytes at `offset`. */
  write(offset: number, widthBytes: 1 | 2 | 4, value: number): void
}

/** The interrupts that a transport can wait for. */
export interface Interrupts {
  /** How many vectors there are; they count from 0. */
  readonly vectors: number
  /** Resolves when `vector` fires or at `untilNs` of the transport's clock; says which. */
  wait(vector: number, untilNs: number): Promise<'fired' | 'deadline'>
}

/** What the path between GPU and controller allows: facts about a machine, from which a tier is negotiated. */
export interface TransportCapabilities {
  /** The GPU may write doorbells in BAR0. */
  readonly gpuRing: boolean
  /** The GPU may read BAR0. Where this is false a read can take the drive off the bus. */
  readonly gpuRead: boolean
  /** The controller may write into GPU memory. */
  readonly dmaToVram: boolean
}

/** One controller, wherever it is: in this process, in QEMU, on the bus. */
export interface Transport {
  readonly name: string
  /** PCI address where there is one: what the write guard looks up holders by. */
  readonly bdf?: string
  readonly bar: Bar
  readonly dma: DmaAllocator
  readonly clock: Clock
  readonly config?: ConfigSpace
  readonly interrupts?: Interrupts
  readonly can: TransportCapabilities
  /** Present and false: reads and writes complete without their bytes being moved; whoever hands out data must refuse. */
  readonly movesData?: false
  /**
   * Of a wrapper that observes or changes accesses to registers, the transport that it passes them on to: so that an
   * engine that goes past the wrapper is told from one of another device.
   */
  readonly wraps?: Transport
  /** Resets the PCI function, or the bus behind the port above it; absent where the transport can do neither. */
  reset?(kind: 'function' | 'bus'): Promise<void>
  /** Lets go of the controller and of what the transport holds for it; nothing of the transport works after that. */
  close(): Promise<void>
}

/**
 * What to read or write, as pure data: one entry a command in each array. It names no memory and no queue object,
 * so it can be made before anything is allocated, kept, posted to a worker, or executed again on other memory.
 */
export interface Plan {
  readonly operation: 'read' | 'write'
  readonly nsid: number
  readonly blockBytes: number
  /** How many commands; the length of every array below. */
  readonly commands: number
  /** First LBA. */
  readonly slba: Float64Array
  /** Number of logical blocks, 1 to 65536 (not 0's based). */
  readonly blocks: Uint32Array
  /** Where the command's data lies in the memory that the plan is executed on. */
  readonly offsetBytes: Float64Array
  /** Index into the engine's attached queues. */
  readonly queue: Uint16Array
}

/** How a command ended. There is exactly one for each command of a plan. */
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
      /** Why nothing could bring it back. Engines do not say it: only the owner of a recovery knows. */
      readonly reason?: string
    }
  /**
   * A write whose completion was lost to a recovery: its blocks hold the old data, the new, or some of both. Never of
   * a read, which is read again. Engines do not report it: only the owner of a recovery can.
   */
  | { readonly kind: 'unknown'; readonly afterNs: number }
  /** Never reached the controller: the plan was aborted, or an earlier command's fate stopped the engine. */
  | { readonly kind: 'not-submitted' }

/** A command that did not succeed: where to find it, and how it ended. */
export interface CommandOutcome {
  /** Index into the plan. */
  readonly command: number
  readonly qid: number
  readonly cid: number
  readonly outcome: Exclude<Outcome, { kind: 'success' }>
  /** How often it was sent again after a recovery; never where it is not given. */
  readonly replays?: number
}

/** How a plan ended: in full, and every command that failed. Times are of the transport's clock. */
export interface OutcomeSummary {
  /** How many commands the plan has. */
  readonly commands: number
  readonly succeeded: number
  /** Bytes moved by the commands that succeeded. */
  readonly bytes: number
  /** Every command that did not succeed, in plan order. Empty is the only good answer. */
  readonly failures: readonly CommandOutcome[]
  readonly startNs: number
  readonly endNs: number
}

/**
 * A doorbell's place in the Shadow Doorbell and EventIdx buffers of a controller that looks at host memory instead of
 * its registers (Base 2.1 §5.2.5).
 */
export interface ShadowDoorbell {
  /** Where the host writes the doorbell's value. */
  readonly shadow: DmaMemory
  /** Where the controller writes how far it looks by itself. */
  readonly eventIdx: DmaMemory
  /** Byte offset of this doorbell in both. */
  readonly offsetBytes: number
}

/** The ring of one completion queue and where it stands. One or several submission queues complete to it. */
export interface CompletionQueueMemory {
  readonly cqid: number
  readonly entries: number
  readonly memory: DmaMemory
  /** Byte offset in BAR0. */
  readonly headDoorbell: number
  readonly shadow?: ShadowDoorbell
  /** Where the ring stands. It rolls on for as long as the controller's queue lives, whoever rings it. */
  head: number
  phase: 0 | 1
}

/** The rings of one queue pair and where they stand: what host-driver hands an engine, and gets back. */
export interface QueuePairMemory {
  readonly qid: number
  readonly sqEntries: number
  readonly sq: DmaMemory
  /** Where its completions are posted; pairs whose `cq` is the same object share it. */
  readonly cq: CompletionQueueMemory
  /** Commands in flight at most: neither the submission queue nor, with all who share it, the completion queue overflows. */
  readonly maxInFlight: number
  /** PRP list pages: `prpListBytes` for each command that may be in flight. */
  readonly prpLists: DmaMemory
  readonly prpListBytes: number
  /** The memory page of CC.MPS, which PRP entries speak of. */
  readonly pageBytes: number
  /** Present where commands may describe their data by SGLs instead of PRPs, and how its address must be aligned. */
  readonly sgl?: 'byte' | 'dword'
  /** Byte offset in BAR0. */
  readonly sqTailDoorbell: number
  readonly shadow?: ShadowDoorbell
  /** Where the ring stands. It rolls on for as long as the controller's queue lives, whoever rings it. */
  sqTail: number
  /**
   * For each command in flight, how often its place was used: a part of command identifiers, so that a late completion
   * is not credited to another command. Rolls on like the rings.
   */
  readonly generations: Uint16Array
}

/** The part of AbortSignal that is needed here, so that these types want neither DOM nor Node typings. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  /** Calls `listener` when it is aborted; not for what was aborted already. */
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  /** Calls `listener` no more. */
  removeEventListener(type: 'abort', listener: () => void): void
}

/** How a plan is executed. */
export interface ExecuteOptions {
  /** Aborting stops submission; commands in flight are still waited for, so that no DMA is left behind. */
  readonly signal?: AbortSignalLike
  /** For each command, from its submission; the engine has one of its own when not given. */
  readonly timeoutNs?: number
}

/**
 * Executes plans with as many commands in flight as the queues hold. `execute` may be called again before an
 * earlier plan has ended: plans are served in order and queues do not drain between them.
 * An engine reports; it never resets, retries or repairs. After a timeout or a loss it stops, and its owner recovers.
 *
 * Between `attach` and `detach` the rings, their doorbells and the PRP lists are the engine's alone; at all other times
 * nothing of it - no thread, no kernel, no callback - reads or writes queues, registers or memory. Its owner frees them,
 * resets the controller and gives its registers to others in the belief that this is so. An `attach` that throws has
 * taken nothing.
 */
export interface Engine {
  readonly name: string
  /**
   * The transport that it was made on, whose doorbells it rings; absent where the engine does not say. A driver that was
   * opened on other registers refuses the engine.
   */
  readonly transport?: Pick<Transport, 'bar'>
  /** What it has done since it was made, over all queues it has had; absent where nobody counts. */
  readonly statistics?: EngineStatistics
  /**
   * Takes queues over, which plans name by their index here. While plans are in flight it calls `watch` at least every
   * 10 ms of the transport's clock: its owner then looks at what is not the engine's, as asynchronous events are.
   * @throws TypeError while it has queues.
   */
  attach(queues: readonly QueuePairMemory[], watch?: () => void): void
  /**
   * Copies the plan, which the caller may change as soon as this returns, and executes it. Resolves with one outcome for
   * each command. From then on the engine itself touches the memory no more; of commands
   * that got no answer the controller still may. Rejects for wrong arguments, and with an `EngineFailedError` of
   * `@gpunvme/nvme-spec/engine` when registers or memory cannot be accessed at all.
   */
  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary>
  /**
   * Gives the queues back, with the rings' positions and generations up to date. Returns when all that works for the
   * engine has come to rest: what may not be interrupted is waited for, not longer than it takes to see that it ends.
   * @throws TypeError while plans are in flight; EngineFailedError where something cannot be brought to rest, or
   *   the rings' positions are lost. The memory of the queues must be kept then.
   */
  detach(): void
}

/** What an engine counts. */
export interface EngineStatistics {
  /** Submitted. */
  readonly commands: number
  /** Of submission and completion queues. */
  readonly doorbellWrites: number
  /** Completions that belonged to no command in flight: late, twice, or from nowhere. */
  readonly staleCompletions: number
}

/**
 * When a drive that is busy gets too hot and slows down. Heat is counted in bytes: each byte transferred adds one, and
 * `coolingBytesPerSecond` go in every second, never below none and never above the limit.
 */
export interface ThermalThrottle {
  /** How many times longer everything takes while it is too hot. */
  readonly factor: number
  /** The heat at which it slows down. */
  readonly limitBytes: number
  /** The heat at which it is its old self again. */
  readonly recoveredBytes: number
  readonly coolingBytesPerSecond: number
}

/** What a plan will cost, for planners: pure arithmetic, the same on every machine. */
export interface CostModel {
  /**
   * Mean nanoseconds from one completion to the next, in a long run of reads of `lengthBytes` with `queueDepth` in
   * flight; at a depth of 1 that is the whole latency of a read.
   * @throws RangeError for a length or a depth that no command could have.
   */
  readNs(lengthBytes: number, queueDepth: number): number
  /** Nanoseconds to copy `lengthBytes` from host to GPU memory; absent where it is not known or not needed. */
  copyNs?(lengthBytes: number): number
  /** How long a run may go on at that cost; absent where nothing gets too hot. */
  readonly throttle?: ThermalThrottle
}

/** Memory on a GPU, for the copy engine and for kernels. */
export interface DeviceMemory {
  readonly lengthBytes: number
  /** The address of its first byte, as kernels take it. */
  readonly gpuPointer: bigint
  /** Gives the memory back; nothing may be under way from or to it. */
  free(): void
}

/** Tier 1's second hop: pinned host memory to GPU memory, beside the next read. */
export interface CopyEngine {
  /** GPU memory of `lengthBytes` bytes. @throws when there is none left. */
  alloc(lengthBytes: number): DeviceMemory
  /**
   * Copies `lengthBytes` bytes, from byte `fromBytes` of `from` to byte `toBytes` of `to`. Resolves when they have
   * arrived; until then neither memory may be freed.
   */
  copy(from: DmaMemory, fromBytes: number, to: DeviceMemory, toBytes: number, lengthBytes: number): Promise<void>
}

/** Memory whose bytes a checksummer reads: through its `view` on the host, at its `gpuPointer` on a GPU. */
export type ChecksummedMemory = Pick<DmaMemory, 'lengthBytes' | 'view' | 'gpuPointer' | 'copyOut'>

/** Computes checksums of memory: on the calling thread, in native code, or on a GPU. All implementations agree. */
export interface Checksummer {
  /** For reports: 'zlib'. */
  readonly name: string
  /** True where it computes on the thread of its caller: calls that overlap gain nothing there, and hold each other up. */
  readonly blocks?: boolean
  /**
   * Computes the CRC-32/ISO-HDLC (zlib's `crc32`) of each `chunkBytes` of `lengthBytes` bytes from `offsetBytes` on, the
   * last chunk being as long as what is left: to the elements of `into`, from the first on. What a device wrote there has
   * arrived before (`DmaMemory.forHost`). Until it settles the memory must stay; then nothing reads it or writes `into`
   * any more. Calls may overlap in time.
   * @throws RangeError for what is not inside the memory, and where `into` has fewer elements than there are chunks;
   *   TypeError for memory that it cannot reach; the signal's reason, at the next place where it can stop.
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

/** What a native module must offer so that a simulator worker can share memory with native threads. */
export interface NativeHost {
  /**
   * The `lengthBytes` bytes at a native address: the same memory in every worker that asks, not a copy.
   * @throws RangeError where it can know that they are not mapped.
   */
  view(address: bigint, lengthBytes: number): ArrayBuffer
  /** Gives the processor away, so that a polling pair on two busy cores does not starve (sched_yield). */
  yield(): void
  /**
   * Makes bytes of an open file read as zeroes, and gives back what held them (fallocate): whole blocks of the file
   * system become a hole, parts of blocks are written over, and the file keeps its size. False where the file system has
   * no holes (EOPNOTSUPP, ENOSYS): nothing has changed then.
   * @throws whatever else the kernel refuses, as an Error with Node's `code`, `errno` and `syscall`: EBADF where the file
   *   is not open for writing; RangeError for a length of 0, and for what is no offset.
   */
  punchHole?(fd: number, offsetBytes: number, lengthBytes: number): boolean
}

/**
 * A part of this process's address space that stays where it is until `unmap`: a device may write to it, so that being
 * forgotten is no reason to go. When the thread that made it ends, a part of a file goes; allocated memory stays for the
 * rest of the process, as nobody is left who knows that the device is stopped: unmap it before.
 */
export interface NativeRegion {
  /** The address of its first byte, as the kernel's interfaces take it. */
  readonly address: bigint
  readonly lengthBytes: number
  /**
   * The same bytes, for memory. Registers are accessed by `load…` and `store…` alone, whose width the device sees.
   * @throws TypeError where the region is mapped for reading: a store to it would end the process.
   */
  readonly buffer: ArrayBuffer
  /** One 32-bit load. @throws RangeError for an offset that is no multiple of 4 inside the region. */
  load32(offsetBytes: number): number
  /** One 32-bit store, after everything stored before it. @throws RangeError as `load32`; TypeError as `buffer`. */
  store32(offsetBytes: number, value: number): void
  /** One 64-bit load. @throws RangeError for an offset that is no multiple of 8 inside the region. */
  load64(offsetBytes: number): bigint
  /** One 64-bit store, after everything stored before it. @throws RangeError as `load64`; TypeError as `buffer`. */
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
 * What the kernel must do for a driver in user space, and plain `fs` cannot: map registers and memory, lock pages,
 * call `ioctl`. No policy and no knowledge of NVMe, VFIO or PCI: that is host-driver's. Whatever the kernel refuses is
 * thrown as an Error with Node's `code` ('ENOMEM'), `errno` and `syscall`.
 */
export interface HardwareHost extends NativeHost {
  /**
   * Maps part of an open file, shared: a PCI resource, a region of a VFIO device, guest memory. The file may be closed.
   * @throws RangeError for an offset that is no multiple of the page, and beyond the end of a file that has one.
   */
  map(fd: number, offsetBytes: number, lengthBytes: number, access: 'read' | 'read-write'): NativeRegion
  /**
   * Zeroed memory, locked, with all its pages in place. Pages of 2 MiB are physically contiguous each; the length is
   * rounded up to whole pages. @throws ENOMEM where no huge pages are left; for small ones EPERM or EAGAIN beyond
   * RLIMIT_MEMLOCK, which huge pages do not count against.
   */
  allocate(lengthBytes: number, pageBytes: 4096 | 2_097_152): NativeRegion
  /**
   * ioctl(2) with a structure that is read and written in place; gives what the call returned.
   * @throws RangeError if it is shorter than the size in `request`; or if the kernel wrote more bytes: then the call has
   *   been made, and the excess bytes are discarded.
   */
  ioctl(fd: number, request: number, argument: Uint8Array): number
  /**
   * Calls ioctl(2) with a number as its argument, or without one.
   * @throws RangeError for a number above 65535, since the kernel could use it as an address.
   */
  ioctlNumber(fd: number, request: number, argument: number): number
  /**
   * Takes over a descriptor that an `ioctl` returned: gives the number that it has from now on, closed on exec, with
   * `fs.close`, and when this thread ends, as what `fs` opens is. Where it throws, the descriptor is closed.
   */
  adopt(fd: number): number
  /** eventfd(2), not blocking: what a kernel driver signals an interrupt by. It is adopted already. */
  eventfd(): number
  /**
   * Takes the whole count of an eventfd: false where it was 0. It never blocks, also where whoever shares the eventfd has
   * made it a blocking one.
   */
  drainEventfd(fd: number): boolean
  /**
   * poll(2) for reading, on a thread that all waits share: any number may wait at a time. True when a read would not
   * block, false after `timeoutNs`.
   */
  waitReadable(fd: number, timeoutNs: number): Promise<boolean>
  /** What RLIMIT_MEMLOCK allows, in bytes; Infinity where there is no limit. */
  memlockLimitBytes(): number
}

/**
 * Unix domain sockets that carry descriptors, which Node's own cannot, for a thread that does nothing but serve one.
 * Whatever the kernel refuses is thrown as by `HardwareHost`. Descriptors that are given out here are adopted already:
 * they are closed with `fs.close`.
 */
export interface SocketHost {
  /**
   * Listens at `path`, for its owner alone (mode 600), without blocking. Nothing may be there: whoever finds a socket
   * that nobody listens at removes it first. @throws EADDRINUSE; RangeError for a path longer than the kernel takes.
   */
  listen(path: string): number
  /** The next client; undefined where nobody waits. */
  accept(listener: number): number | undefined
  /** Connects to who listens at `path`. @throws ENOENT, ECONNREFUSED, EAGAIN where its queue is full. */
  connect(path: string): number
  /**
   * What has arrived, as much as fits into `into`, without blocking: how many bytes; 0 when the other end has closed, -1
   * when nothing is there. `descriptors[0]` is how many came with it, and they follow: room for 17 numbers is enough for
   * the 16 of a message. They are of the message that the last of these bytes is of: what one call gives ends with the
   * bytes that they came with, and may begin with messages without any.
   * @param kinds kinds of descriptors to accept. Default: all.
   * @throws EMSGSIZE where more came, EMFILE where this process may have no more open: all are closed then.
   */
  receive(socket: number, into: Uint8Array, descriptors: Int32Array, kinds?: DescriptorKinds): number
  /**
   * Sends all of `bytes`, with the descriptors beside the first of them, which stay open here.
   * @throws EPIPE where the other end has closed; ETIMEDOUT where it took nothing for `timeoutNs`.
   */
  send(socket: number, bytes: Uint8Array, descriptors: Int32Array | undefined, timeoutNs: number): void
  /**
   * Blocks the calling thread until one of at most 31 descriptors can be read, is closed or has an error, or until
   * `timeoutNs` have passed: bit i stands for `descriptors[i]`, 0 for the time. A negative descriptor is left out.
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

/** What a vfio-user server needs of native code: sockets, its client's memory, and eventfds to be woken by. */
export interface VfioUserHost extends NativeHost, SocketHost {
  /**
   * As `HardwareHost.map`, of a file that belongs to somebody else: where that cuts it short, its pages read as zeroes
   * from then on and what is stored is lost, instead of the end of this process (SIGBUS). A page that was replaced so
   * stays, also where the file grows again. A system call that is given such bytes before anybody has accessed them
   * fails with EFAULT.
   *
   * Of a region that is mapped for reading, `buffer` and `view` are there, too: a store through them is seen in this
   * process alone, whose copy of that page follows the file no more; all others do. Pages of hugetlbfs that the file has
   * not yet stay zeroes then. A region may be longer than an ArrayBuffer can be, which is 4 GiB in Node.js 20: `buffer`
   * and `view` throw a RangeError for more (`constants.MAX_LENGTH` of `node:buffer`), and `view` gives it in parts.
   *
   * V8 takes the bytes of an ArrayBuffer for memory of its own: each new one of more than 64 MiB has it collect all its
   * garbage, which takes milliseconds. Whoever unmaps what comes back should keep it for a while.
   */
  mapForeign(fd: number, offsetBytes: number, lengthBytes: number, access: 'read' | 'read-write'): NativeRegion
  /**
   * How many bytes of such mappings of this process were replaced by zeroes so far, in whole pages: it only grows. After
   * many single pages of one mapping all that follow them are replaced at once, and then they are memory of this process.
   */
  lostForeignBytes(): number
  /** As `HardwareHost.eventfd`. */
  eventfd(): number
  /**
   * Adds 1 to the count of an eventfd, and never blocks: one whose count is as large as it can be is signalled already.
   * The eventfd does not block anybody from then on: the flag is that of all who share it.
   */
  signalEventfd(fd: number): void
  /** As `HardwareHost.drainEventfd`. */
  drainEventfd(fd: number): boolean
}

/**
 * What a fault strikes. All conditions that are given must hold. Without `register` and `atNs` it strikes commands; with
 * `register` accesses of the host to that register; with `atNs` the clock. `nth`, `every`, `probability` and `times`
 * then choose among what the other conditions let through, in that order.
 */
export interface FaultMatch {
  /** The submission queue of the command; of a doorbell, its queue. 0 is Admin. */
  readonly qid?: number
  readonly opcode?: number
  readonly nsid?: number
  /** Any LBA of the command in [first, last]. Commands that name their blocks in data, as Copy does, have none here. */
  readonly lba?: readonly [first: number, last: number]
  /**
   * The register's name, as CSTS; SQyTDBL and CQyHDBL are the doorbells, of queue `qid` or of any. An access is one of 32
   * bits: reading ASQ whole is two.
   */
  readonly register?: string
  /** Either when not given and the action fits both. */
  readonly access?: 'read' | 'write'
  /** Happens once, at this time of the transport's clock. */
  readonly atNs?: number
  /** From this time on, itself included; from the beginning when not given. */
  readonly fromNs?: number
  /** Before this time; to the end when not given. */
  readonly untilNs?: number
  /** The n-th only, from 1; with `every`, the first that is struck. */
  readonly nth?: number
  /** Each n-th. */
  readonly every?: number
  /** Each with this probability, above 0 and at most 1; drawn from a stream of the rule's own. */
  readonly probability?: number
  /** At most so often. */
  readonly times?: number
}

/** What happens to what is struck. Offsets in data count from the first byte that the command moves. */
export type FaultAction =
  // To commands. What the command does is done, unless it says otherwise.
  /** Nothing is posted; Abort does not find the command. */
  | { readonly kind: 'drop-completion' }
  /** The command stops before it does anything, and never completes by itself; Abort finds it. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay-completion'; readonly delayNs: number }
  /** Posted twice, one directly after the other. */
  | { readonly kind: 'duplicate-completion' }
  /** Held until `behind` others were posted to the same completion queue, or `atMostNs` have passed. */
  | { readonly kind: 'reorder-completion'; readonly behind: number; readonly atMostNs: number }
  /** Ends with this status and does nothing; with that of success (0h, 0h) it claims what it has not done. */
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
  /** Posted with the Phase Tag of the lap before: the host does not see it, nor what comes after it. */
  | { readonly kind: 'corrupt-phase' }
  /** Bits flip in what a Read delivers or a Write stores: in byte `byte`, or in as many from there as `xor` has. */
  | { readonly kind: 'corrupt-data'; readonly byte: number; readonly xor: number | readonly number[] }
  /** Bytes from `fromByte` to before `toByte`, or to the end, do not arrive; what was there before stays. */
  | { readonly kind: 'torn-dma'; readonly fromByte: number; readonly toByte?: number }
  /**
   * Page `page` of the data, from 0, goes to where page `to` of the same command lies, or comes from there, and its own
   * place is left alone. Only pages of the same command: a fault shall not damage what a host lent to nobody.
   */
  | { readonly kind: 'wrong-page'; readonly page: number; readonly to: number }
  // To register accesses.
  /** The write never arrives. */
  | { readonly kind: 'lose-write' }
  /** The write and all that follow it arrive so much later: posted writes do not pass each other. Reads do not wait. */
  | { readonly kind: 'delay-write'; readonly delayNs: number }
  /** The host reads this. */
  | { readonly kind: 'read-value'; readonly value: number }
  // To CC.EN: nothing but a reset of the function or the subsystem helps.
  /** CSTS.RDY stays 0 after CC.EN became 1. */
  | { readonly kind: 'ready-never-rises' }
  /** CSTS.RDY stays 1 after CC.EN became 0. */
  | { readonly kind: 'ready-never-falls' }
  // To the controller, when a command is fetched, when a register is accessed, or at a time.
  /** CSTS.CFS becomes 1. */
  | { readonly kind: 'fatal-status' }
  /** The device leaves the bus: all reads give all ones from now on. */
  | { readonly kind: 'remove-device' }
  /** The controller forgets everything, as after a reset of the function that nobody asked for. */
  | { readonly kind: 'surprise-reset' }
  /** Another host detaches a namespace: its commands end, and the controller announces the change. */
  | { readonly kind: 'detach-namespace'; readonly nsid: number }
  /** Another host attaches a namespace that exists. */
  | { readonly kind: 'attach-namespace'; readonly nsid: number }
  /** A namespace has so many blocks from now on, no more than its capacity holds; the controller announces the change. */
  | { readonly kind: 'resize-namespace'; readonly nsid: number; readonly blocks: number }
  /** Everything takes `factor` times longer for `forNs`. */
  | { readonly kind: 'throttle'; readonly factor: number; readonly forNs: number }

/** One fault: what it strikes, and what happens then. */
export interface FaultRule {
  readonly match: FaultMatch
  readonly action: FaultAction
}

/**
 * Faults as data, so that a failing run can be written down and replayed. Where several rules strike the same, each
 * kind of action happens once, by the first of its rules.
 */
export interface FaultPlan {
  readonly rules: readonly FaultRule[]
}

/** One thing that happened, for a trace writer of `@gpunvme/nvme-spec/trace`. */
export interface TraceEvent {
  /** When it happened, or began: nanoseconds of the transport's clock, below 2^53. */
  readonly timeNs: number
  /** What it happened to: 'bar', 'sq 1', 'slot 0'. */
  readonly track: string
  /** What happened, in a word or two: 'fetch', 'write CC'. */
  readonly name: string
  /** How long it took; absent for what takes no time. */
  readonly durationNs?: number
  /** Facts about it. Text that names its own fields, as `formatSqe` makes, is read without its key. */
  readonly details?: Readonly<Record<string, string | number>>
}

/** Takes events as they happen; every trace writer is one. */
export type TraceSink = (event: TraceEvent) => void

declare const engineHandle: unique symbol
declare const tableHandle: unique symbol

/** Handle of an engine in an addon. */
export interface EngineHandle {
  readonly [engineHandle]: never
}

/** Handle of a memory's address runs, which leaders read. The runs are freed once the handle is collected and no plan uses them. */
export interface TableHandle {
  readonly [tableHandle]: never
}

/** Memory by its address in this process, or by its address on the device if `onDevice`. */
export interface NativeMemory {
  readonly address: bigint
  readonly lengthBytes: number
  readonly onDevice: boolean
}

/** A queue pair, for `native/engine/engine_api.cc`. */
export interface QueueLayout {
  readonly sq: NativeMemory
  readonly cq: NativeMemory
  readonly prpLists: NativeMemory
  readonly prpListRuns: TableHandle
  readonly qid: number
  /** Entries of the submission queue, and of the completion queue. */
  readonly entries: number
  readonly sqTail: number
  readonly cqHead: number
  readonly phase: number
  readonly maxInFlight: number
  readonly prpListBytes: number
  readonly pageBytes: number
  readonly sqTailDoorbell: number
  readonly cqHeadDoorbell: number
  readonly generations: Uint16Array
}

/** Positions of a queue after `engineDetach`. */
export interface QueuePositions {
  readonly sqTail: number
  readonly cqHead: number
  readonly phase: 0 | 1
  readonly generations: Uint16Array
}

/** A `Plan` for the addon, with its operation as an opcode. */
export interface NativePlan {
  readonly opcode: number
  readonly nsid: number
  readonly blockBytes: number
  readonly commands: number
  readonly timeoutNs: number
  readonly slba: Float64Array
  readonly blocks: Uint32Array
  readonly offsetBytes: Float64Array
  readonly queue: Uint16Array
}

/** A completed plan. `failures` has three numbers per failure: the command, its ending, CID << 16 | status. */
export interface FinishedPlan {
  readonly id: number
  readonly succeeded: number
  readonly bytes: number
  readonly failures: Uint32Array
}

/** What leaders reported, over all launches since the queues were attached. */
export interface LeaderReport {
  /** A command timed out: no further commands are submitted. */
  readonly halted: boolean
  /** Changes while leaders with work are alive. */
  readonly heartbeat: number
  readonly commands: number
  readonly doorbellWrites: number
  readonly staleCompletions: number
}

/** Error of an executor: creating a thread, allocating memory or a call of the GPU's driver failed. */
export interface ExecutorError extends Error {
  /** The failed call, such as 'cuMemAlloc_v2'. */
  readonly call: string
  /** Name of its result, such as 'CUDA_ERROR_OUT_OF_MEMORY'; then its number and description. */
  readonly result: string
  readonly resultCode: number
  readonly description: string
  /** Whether all launches have ended, and no other can run in this process. */
  readonly dead: boolean
  /** Memory that could not be made accessible to leaders, such as 'a submission queue'; undefined for other failures. */
  readonly what?: string
  readonly address?: bigint
  readonly lengthBytes?: number
}

/**
 * Engine functions of both addons. They check every argument, and every index against the given lengths; only the addresses
 * in `NativeMemory` and of the clock cannot be checked. Failures of an executor are thrown as `ExecutorError`.
 */
export interface EngineAddon {
  /** Returns the address of a view's first byte. */
  readonly viewAddress: (view: Uint8Array) => bigint
  /** Returns null if there is no room until posted plans complete. */
  readonly engineDescribe: (
    engine: EngineHandle,
    iovas: BigUint64Array,
    shift: number,
    lengthBytes: number,
  ) => TableHandle | null
  /** Plans name queues by their index in `queues`. */
  readonly engineAttach: (
    engine: EngineHandle,
    attached: {
      readonly registers: NativeMemory
      readonly registersAreMemory: boolean
      readonly queues: readonly QueueLayout[]
    },
  ) => void
  /** Returns false if there is no room until other plans complete. */
  readonly enginePost: (engine: EngineHandle, id: number, plan: NativePlan, memory: TableHandle) => boolean
  readonly engineCancel: (engine: EngineHandle, id: number) => void
  readonly engineHalt: (engine: EngineHandle, lost: boolean) => void
  readonly enginePoll: (engine: EngineHandle) => FinishedPlan[]
  readonly engineLook: (engine: EngineHandle) => LeaderReport
  /** Returns the number of consecutive calls, including this one, in which a leader with work showed no progress. */
  readonly engineWatch: (engine: EngineHandle) => number
  readonly engineHold: (engine: EngineHandle, hold: boolean) => void
  readonly engineDetach: (engine: EngineHandle) => QueuePositions[]
  readonly engineClose: (engine: EngineHandle) => void
}

/** Options of an engine's native part. */
export interface EngineOptions {
  /** Time in nanoseconds that a leader without work waits for another plan before it ends. */
  readonly lingerNs: number
  /** Maximum run time of a launch, in nanoseconds; 0 for none. */
  readonly runLimitNs: number
  /** Address of a 64-bit word that counts nanoseconds, for time-outs; 0n for the executor's clock. */
  readonly clock: bigint
  /** Whether leaders write doorbell values to memory, from which a thread of this process forwards them to the controller. */
  readonly forwardsDoorbells: boolean
}

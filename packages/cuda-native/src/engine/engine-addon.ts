declare const engineHandle: unique symbol
declare const tableHandle: unique symbol

/** An engine as an addon knows it. */
export interface EngineHandle {
  readonly [engineHandle]: never
}

/** The runs of some memory, where leaders can read them; gone when it is forgotten and nothing uses it. */
export interface TableHandle {
  readonly [tableHandle]: never
}

/** Memory by its address in this process, or by that which leaders have for it already. */
export interface NativeMemory {
  readonly address: bigint
  readonly lengthBytes: number
  readonly onDevice: boolean
}

/** A submission queue, as `native/engine/engine_api.cc` takes it. */
export interface PairLayout {
  readonly sq: NativeMemory
  readonly prpLists: NativeMemory
  readonly prpListRuns: TableHandle
  readonly qid: number
  readonly sqEntries: number
  readonly sqTail: number
  readonly maxInFlight: number
  readonly slotBits: number
  readonly prpListBytes: number
  readonly pageBytes: number
  readonly sqTailDoorbell: number
  readonly generations: Uint16Array
}

/** A completion queue and the submission queues that complete to it. */
export interface LeaderLayout {
  readonly cq: NativeMemory
  readonly cqEntries: number
  readonly cqHead: number
  readonly phase: number
  readonly headDoorbell: number
  readonly pairs: readonly PairLayout[]
}

/** Where the rings stand after `engineDetach`, in the order of the layouts. */
export interface LeaderPositions {
  readonly cqHead: number
  readonly phase: 0 | 1
  readonly pairs: readonly { readonly sqTail: number; readonly generations: Uint16Array }[]
}

/** What a plan says, for the addon: `Plan` with its operation as an opcode. */
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

/** A plan that is done. `failures` has three numbers for each: the command, its ending, CID << 16 | status. */
export interface FinishedPlan {
  readonly id: number
  readonly succeeded: number
  readonly bytes: number
  readonly failures: Uint32Array
}

/** What leaders have told, of all launches since the queues were attached. */
export interface LeaderReport {
  /** A command got no answer in time: nothing more is submitted. */
  readonly halted: boolean
  /** Changes for as long as leaders with something to do live. */
  readonly heartbeat: number
  readonly commands: number
  readonly doorbellWrites: number
  readonly staleCompletions: number
}

/** What runs leaders refused something: a thread, memory, a call of the GPU's driver. */
export interface ExecutorError extends Error {
  /** What was called: 'cuMemAlloc_v2'. */
  readonly call: string
  /** What it answered: 'CUDA_ERROR_OUT_OF_MEMORY', its number, and what that means. */
  readonly result: string
  readonly resultCode: number
  readonly description: string
  /** Nothing that was launched runs any more, and nothing ever will in this process. */
  readonly dead: boolean
}

/**
 * Engine functions of both addons. They check every argument, and every index against the given lengths; only the addresses
 * in `NativeMemory` and of the clock cannot be checked. Failures of an executor are thrown as `ExecutorError`.
 */
export interface EngineAddon {
  /** Of the bytes that a view shows. */
  readonly viewAddress: (view: Uint8Array) => bigint
  /** null where there is no room for it before plans that were posted are done. */
  readonly engineDescribe: (
    engine: EngineHandle,
    iovas: BigUint64Array,
    shift: number,
    lengthBytes: number,
  ) => TableHandle | null
  readonly engineAttach: (
    engine: EngineHandle,
    queues: {
      readonly registers: NativeMemory
      readonly registersAreMemory: boolean
      readonly leaders: readonly LeaderLayout[]
    },
  ) => void
  /** False where there is no room for it before other plans are done. */
  readonly enginePost: (engine: EngineHandle, id: number, plan: NativePlan, memory: TableHandle) => boolean
  readonly engineCancel: (engine: EngineHandle, id: number) => void
  readonly engineHalt: (engine: EngineHandle, lost: boolean) => void
  readonly enginePoll: (engine: EngineHandle) => FinishedPlan[]
  readonly engineLook: (engine: EngineHandle) => LeaderReport
  /** How many calls in a row, up to this one, found no sign of life of a leader that has something to do. */
  readonly engineWatch: (engine: EngineHandle) => number
  readonly engineHold: (engine: EngineHandle, hold: boolean) => void
  readonly engineDetach: (engine: EngineHandle) => LeaderPositions[]
  readonly engineClose: (engine: EngineHandle) => void
}

/** What makes an engine's native part. */
export interface EngineOptions {
  /** How long a leader waits for another plan before it ends, in nanoseconds. */
  readonly lingerNs: number
  /** How long it runs at a time, in nanoseconds; 0 for as long as it has something to do, or lingers. */
  readonly runLimitNs: number
  /** The address of a word of 64 bits that counts nanoseconds for time-outs; 0n for the clock of whoever runs leaders. */
  readonly clock: bigint
}

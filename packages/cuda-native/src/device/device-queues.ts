import type { Transport } from '@gpunvme/nvme-spec/transport'
import { checkOptions, fit, flag, isObject, show, type Check } from '../arguments.js'
import { sessionOf, type Cuda } from '../cuda/cuda.js'
import { freeAfterFailure } from './after-failure.js'
import { maxBlocksOf, type NamespaceFacts } from './checks.js'
import { DeviceArray, type DeviceArrayOptions } from './device-array.js'
import { DeviceWords } from './device-words.js'
import { ExpertFetch, type ExpertFetchOptions } from './expert-fetch.js'
import { argumentOf, DEVICE, DRIVE, encode, LAYOUT_VERSION, QUEUE, WRITABLE } from './layout.js'
import {
  LendingEngine,
  QueuesLentError,
  WritableTooLateError,
  type LendingEngineOptions,
  type LendingResources,
} from './lending-engine.js'
import { QueueElements } from './queue-elements.js'
import { Registrations } from './registrations.js'

const MAX_QUEUES = 64
const TIMEOUT_NS = 10_000_000_000

/** Options of `deviceQueues`. */
export interface DeviceQueuesOptions {
  /** Maximum number of queues of all engines together; each takes 512 bytes of GPU memory. Default: 64. */
  readonly maxQueues?: number
}

/** A namespace of a drive, such as one of host-driver. */
export interface DeviceNamespace extends NamespaceFacts {
  /** Searches it for foreign data, as the host does before its first write. Only on a controller opened for writing. */
  passGuard?(): Promise<void>
}

/** A drive of a device. Kernels address it by its index in the list. */
export interface DeviceDrive {
  /** The engine with which its controller was opened. */
  readonly engine: LendingEngine
  readonly namespace: DeviceNamespace
  /** Allows kernels to write and to flush. Requires a controller that was opened for writing. Default: false. */
  readonly writable?: boolean
}

/** Options of `DeviceQueues.device`. */
export interface DeviceOptions {
  /** Time limit of each command, from its submission, in nanoseconds. Default: 10 s. */
  readonly timeoutNs?: number
}

/** Creates queues for kernels. @throws TypeError, RangeError for invalid arguments; CudaCallError */
export function deviceQueues(cuda: Cuda, options: DeviceQueuesOptions = {}): DeviceQueues {
  checkOptions('deviceQueues', options, { maxQueues: wholeNumber })
  return new DeviceQueues(cuda, options.maxQueues ?? MAX_QUEUES)
}

/** NVMe queues of any number of controllers, which kernels of one GPU use through `gnv::Device`. */
export class DeviceQueues {
  readonly #resources: LendingResources

  /** Use `deviceQueues`. */
  constructor(cuda: Cuda, maxQueues: number) {
    const session = sessionOf(cuda)
    const stream = session.addon.createStream(session.handle)
    const array = new DeviceWords(session, stream, maxQueues * QUEUE.bytes)
    this.#resources = {
      cuda,
      stream,
      registrations: new Registrations(cuda),
      array,
      elements: new QueueElements(maxQueues),
      engines: new Set(),
    }
  }

  /**
   * Creates the engine of a controller: pass it to `Controller.open`.
   * @throws same as `cudaEngine`.
   */
  engine(transport: Pick<Transport, 'bar' | 'clock' | 'name'>, options: LendingEngineOptions = {}): LendingEngine {
    return new LendingEngine(this.#resources, transport, options)
  }

  /**
   * Creates a `gnv::Device`, and lends the queues of all engines of its drives to kernels. It stays valid while the engines
   * have queues, including after a recovery. Create another one if a namespace changes.
   * @throws TypeError, RangeError for invalid arguments; ForeignDataError for a writable drive with foreign data;
   *   WritableTooLateError for one that was not searched for them before its queues were lent; CudaCallError
   */
  async device(drives: readonly DeviceDrive[], options: DeviceOptions = {}): Promise<GpuDevice> {
    checkOptions('device', options, { timeoutNs: wholeNumber })
    this.#check(drives)
    for (const drive of drives) if (drive.writable === true) await passGuard(drive)
    const words = new DeviceWords(sessionOf(this.#resources.cuda), this.#resources.stream, drives.length * DRIVE.bytes)
    try {
      drives.forEach((drive, index) => this.#writeDrive(words.view, index, drive))
      words.store()
    } catch (error) {
      freeAfterFailure(() => words.free())
      throw error
    }
    const values = {
      version: LAYOUT_VERSION,
      drive_count: drives.length,
      drives: words.gpuPointer,
      queues: this.#resources.array.gpuPointer,
      timeout_ns: options.timeoutNs ?? TIMEOUT_NS,
    }
    const facts = drives.map(({ engine, namespace }, index) => ({
      blocks: namespace.blocks,
      blockBytes: namespace.blockBytes,
      maxBlocks: maxBlocksOf(`drives[${index}].namespace`, namespace, engine.queues),
    }))
    return new GpuDevice(
      this.#resources,
      argumentOf(DEVICE, values),
      words,
      facts,
      new Set(drives.map(({ engine }) => engine)),
    )
  }

  /** Frees the structures of the queues. Close all controllers first. @throws TypeError while kernels have queues. */
  free(): void {
    if ([...this.#resources.engines].some(({ hasQueues }) => hasQueues)) {
      throw new TypeError('kernels have queues: close the controllers first')
    }
    const { addon } = sessionOf(this.#resources.cuda)
    this.#resources.array.free()
    addon.free(this.#resources.stream)
  }

  #check(drives: readonly DeviceDrive[]): void {
    if (!Array.isArray(drives) || drives.length === 0) {
      throw new TypeError(`drives: expected an array of one or more, got ${show(drives)}`)
    }
    for (const [index, drive] of drives.entries()) {
      const name = `drives[${index}]`
      const named =
        (check: Check): Check =>
        (member, value) =>
          check(`${name}.${member}`, value)
      const checks = {
        engine: named(fit('an engine of these queues, from engine()', (value) => this.#hasEngine(value))),
        namespace: named(fit('a namespace of host-driver', isObject)),
        writable: named(flag),
      }
      checkOptions(name, drive as DeviceDrive, checks, ['engine', 'namespace'])
      const { engine, namespace, writable } = drive as DeviceDrive
      maxBlocksOf(`${name}.namespace`, namespace, engine.queues)
      if (writable === true && typeof namespace.passGuard !== 'function') {
        throw new TypeError(
          `${name}.writable: expected false for a controller opened for reading, got true; ` +
            'pass { write: { serial } } to Controller.open',
        )
      }
    }
  }

  #hasEngine(value: unknown): boolean {
    return value instanceof LendingEngine && value.isOf(this.#resources)
  }

  #writeDrive(view: DataView, index: number, { engine, namespace, writable }: DeviceDrive): void {
    const { first, queues } = engine.lend()
    encode(DRIVE, view, index * DRIVE.bytes, {
      blocks: namespace.blocks,
      nsid: namespace.nsid,
      block_shift: Math.log2(namespace.blockBytes),
      max_blocks: maxBlocksOf(`drives[${index}].namespace`, namespace, queues),
      first_queue: first,
      queue_count: queues.length,
      flags: writable === true ? WRITABLE : 0,
    })
  }
}

/** A drive as kernels see it. */
export interface DriveFacts {
  readonly blocks: number
  /** A power of two. */
  readonly blockBytes: number
  /** Maximum number of blocks of a command. */
  readonly maxBlocks: number
}

/** A `gnv::Device` with its drives. */
export class GpuDevice {
  /** The `gnv::Device`, for `cuda.launch`. */
  readonly argument: Uint8Array
  readonly drives: readonly DriveFacts[]
  readonly #resources: LendingResources
  readonly #words: DeviceWords
  readonly #engines: ReadonlySet<LendingEngine>

  /** Use `DeviceQueues.device`. */
  constructor(
    resources: LendingResources,
    argument: Uint8Array,
    words: DeviceWords,
    drives: readonly DriveFacts[],
    engines: ReadonlySet<LendingEngine>,
  ) {
    this.#resources = resources
    this.argument = argument
    this.#words = words
    this.drives = drives
    this.#engines = engines
    for (const engine of engines) engine.countDevice(1)
  }

  /** Creates a `gnv::Array` on one of the drives. @throws TypeError, RangeError for invalid arguments; CudaCallError */
  array(options: DeviceArrayOptions): DeviceArray {
    return new DeviceArray(this, options, (lengthBytes) => this.#allocate(lengthBytes))
  }

  /** Creates a `gnv_fetch` for experts on the drives. @throws TypeError, RangeError for invalid arguments; CudaCallError */
  expertFetch(options: ExpertFetchOptions): ExpertFetch {
    return new ExpertFetch(options, (lengthBytes) => this.#allocate(lengthBytes))
  }

  /** Frees the structures of the drives. Call it after all kernels that use the device have ended. */
  free(): void {
    this.#words.free()
    for (const engine of this.#engines) engine.countDevice(-1)
  }

  #allocate(lengthBytes: number): DeviceWords {
    return new DeviceWords(sessionOf(this.#resources.cuda), this.#resources.stream, lengthBytes)
  }
}

async function passGuard({ engine, namespace }: DeviceDrive): Promise<void> {
  try {
    await namespace.passGuard!()
  } catch (error) {
    if (!(error instanceof QueuesLentError)) throw error
    throw new WritableTooLateError(engine.transport.name, namespace.nsid, error)
  }
}

function wholeNumber(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return
  throw new RangeError(`${name}: expected a whole number of 1 or more, got ${show(value)}`)
}

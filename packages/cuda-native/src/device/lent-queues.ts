import { EngineFailedError, runsOf, type MemoryRuns } from '@gpunvme/nvme-spec/engine'
import type { BarWindow, QueuePairMemory, Transport } from '@gpunvme/nvme-spec/transport'
import type { DoorbellsHandle } from '../cuda/addon.js'
import type { Cuda } from '../cuda/cuda.js'
import { PinnedMemory } from '../cuda/memory.js'
import type { CudaSession } from '../cuda/session.js'
import { freeAfterFailure } from './after-failure.js'
import { DeviceWords } from './device-words.js'
import { GpuAccess } from './gpu-access.js'
import { encode, HALTED, LOST, QUEUE, type Member } from './layout.js'
import type { Registrations } from './registrations.js'
import { placeArrays, queueWords, readGenerations, writeArrays, type ArrayPlaces } from './queue-words.js'

/** Time for kernels to end after their queues were declared lost. Their waits end at once. */
const END_MS = 5000
const DOORBELL_BYTES = 4
const { members } = QUEUE

/** State and counters of a queue since it was lent. */
export interface QueueState {
  readonly qid: number
  /** `halted` after a time-out, by `halt()`, or because commands were in flight when it was lent: reset the controller. */
  readonly state: 'running' | 'halted' | 'lost'
  readonly tailDoorbellWrites: number
  readonly headDoorbellWrites: number
  /** Completions that match no command in flight. */
  readonly staleCompletions: number
}

/** Resources that lent queues use. */
export interface LendingPlace {
  readonly cuda: Cuda
  readonly session: CudaSession
  readonly stream: number
  readonly registrations: Registrations
  readonly transport: Pick<Transport, 'bar' | 'name'>
  /** The array of `gnv_queue`, and the index of the first one. */
  readonly array: DeviceWords
  readonly first: number
  /** Whether a thread of the host forwards doorbells. */
  readonly forwardsDoorbells: boolean
}

/** A queue with the places of its arrays. */
interface Placed {
  readonly queue: QueuePairMemory
  readonly runs: MemoryRuns
  readonly places: ArrayPlaces
}

/** Queues that kernels use, from the construction to `end`: at the same addresses each time. */
export class LentQueues {
  readonly queues: readonly QueuePairMemory[]
  readonly #place: LendingPlace
  readonly #placed: readonly Placed[]
  readonly #arrays: DeviceWords
  readonly #access: GpuAccess
  #words: PinnedMemory | undefined
  #doorbells: DoorbellsHandle | undefined
  #haltError: Error | undefined
  /** Whether the queues were declared lost. */
  #isLost = false
  /** The context is dead, and everything is released. */
  #isAbandoned = false

  /** @throws CudaCallError, CudaRegistrationError, with nothing left registered; RangeError for unsuitable memory. */
  constructor(queues: readonly QueuePairMemory[], place: LendingPlace) {
    this.queues = queues
    this.#place = place
    this.#access = new GpuAccess(place.cuda, place.registrations)
    let end = 0
    this.#placed = queues.map((queue) => {
      const runs = runsOf(queue.prpLists, queue.pageBytes)
      const places = placeArrays(queue, runs, end)
      end = places.end
      return { queue, runs, places }
    })
    this.#arrays = new DeviceWords(place.session, place.stream, end)
    try {
      this.#layOut()
    } catch (error) {
      freeAfterFailure(() => this.#release())
      throw error
    }
  }

  /** Ends submissions: threads that hold no slot get GNV_HALTED. Commands in flight are still awaited. `end` reports a failure. */
  halt(): void {
    // HALTED would let waits of kernels on lost queues continue.
    if (this.#isLost) return
    try {
      this.#setState(HALTED)
    } catch (error) {
      // A recovery halts the engine before it starts, and must start in any case.
      this.#haltError = error as Error
    }
  }

  /** Reads the queues' words from the GPU. @throws CudaCallError */
  states(): QueueState[] {
    this.#loadQueues()
    return this.queues.map(({ qid }, index) => ({
      qid,
      state: (['running', 'halted', 'lost'] as const)[this.#word(index, members.state)]!,
      tailDoorbellWrites: this.#word(index, members.tail_doorbell_writes),
      headDoorbellWrites: this.#word(index, members.head_doorbell_writes),
      staleCompletions: this.#word(index, members.stale),
    }))
  }

  /**
   * Takes the queues from kernels, and stores the rings' positions. If work still runs on the GPU, declares the queues lost,
   * which ends all waits, and waits until the work ends. If the context is dead, nothing runs: releases all, without positions.
   * @throws EngineFailedError if it does not end, or the GPU does not answer: the queues' memory must be kept.
   */
  end(): void {
    if (this.#isAbandoned) return
    const { addon, handle } = this.#place.session
    try {
      if (addon.hasWork(handle)) this.#lose()
      if (!becomesIdle(() => !addon.hasWork(handle))) {
        throw new Error(`kernels still ran ${END_MS / 1000} s after their queues were declared lost`)
      }
      this.#reportHalt()
      this.#stopForwarding()
      this.#loadQueues()
      this.#arrays.load()
      this.#placed.forEach((placed, index) => this.#giveBack(placed, index))
      this.#close()
      this.#release()
    } catch (cause) {
      if (addon.isDead(handle)) {
        this.abandon()
        return
      }
      const next = 'end this process before the controller is used again: kernels that still run may ring its doorbells'
      throw new EngineFailedError('cuda-device', cause, next)
    }
  }

  /** Releases everything of a dead context, in which no call that frees can fail. */
  abandon(): void {
    if (this.#isAbandoned) return
    this.#isAbandoned = true
    this.#release()
  }

  /** Throws the error of `halt`, once. */
  #reportHalt(): void {
    const error = this.#haltError
    this.#haltError = undefined
    if (error !== undefined) throw error
  }

  #lose(): void {
    this.#isLost = true
    this.#setState(LOST)
  }

  #layOut(): void {
    const { array, first } = this.#place
    const doorbellAt = this.#reachDoorbells()
    this.#placed.forEach(({ queue, runs, places }, index) => {
      const { qid, cq } = queue
      writeArrays(this.#arrays.view, places, queue, runs)
      const addresses = {
        sq: this.#memory(queue.sq, `the entries of submission queue ${qid}`),
        cq: this.#memory(cq.memory, `the entries of completion queue ${cq.cqid}`),
        prpLists: this.#memory(queue.prpLists, `the PRP lists of queue ${qid}`),
        tailDoorbell: doorbellAt(queue.sqTailDoorbell),
        headDoorbell: doorbellAt(cq.headDoorbell),
        arrays: this.#arrays.gpuPointer,
      }
      encode(QUEUE, array.view, (first + index) * QUEUE.bytes, queueWords(queue, runs, places, addresses))
    })
    this.#arrays.store()
    array.store(first * QUEUE.bytes, this.queues.length * QUEUE.bytes)
  }

  #memory(memory: QueuePairMemory['sq'], what: string): bigint {
    const address = this.#access.memory(memory)
    if (address === undefined) throw new TypeError(`${what}: expected memory that the GPU can access; omit queueMemory`)
    return address
  }

  /** Returns the GPU's address of a doorbell by its offset. */
  #reachDoorbells(): (offset: number) => bigint {
    const { transport, forwardsDoorbells } = this.#place
    // The engine has checked it.
    const window = transport.bar.window!
    if (forwardsDoorbells) return this.#forward(window)
    const offsets = this.queues.flatMap(({ sqTailDoorbell, cq }) => [sqTailDoorbell, cq.headDoorbell])
    const first = offsets.reduce((min, offset) => Math.min(min, offset))
    const bytes = offsets.reduce((max, offset) => Math.max(max, offset)) + DOORBELL_BYTES - first
    const kind = window.isMemory === true ? 'memory' : 'registers'
    const start = this.#access.reach(window.address + BigInt(first), bytes, kind)
    return (offset) => start + BigInt(offset - first)
  }

  /** Starts the thread that copies words, two per queue, to doorbells. */
  #forward({ address }: BarWindow): (offset: number) => bigint {
    const words = (this.#words = new PinnedMemory(this.#place.session, this.queues.length * 2 * DOORBELL_BYTES))
    const view = new DataView(words.buffer)
    const places = new Map<number, number>()
    const forward = (offset: number, value: number) => {
      const at = places.size * DOORBELL_BYTES
      places.set(offset, at)
      view.setUint32(at, value, true)
      return [words.address + BigInt(at), address + BigInt(offset), BigInt(value)]
    }
    const tails = this.queues.flatMap(({ sqTailDoorbell, sqTail }) => forward(sqTailDoorbell, sqTail))
    const heads = this.queues.flatMap(({ cq }) => forward(cq.headDoorbell, cq.head))
    const { addon } = this.#place.session
    this.#doorbells = addon.startDoorbells(BigUint64Array.from(tails), BigUint64Array.from(heads))
    return (offset) => words.gpuPointer + BigInt(places.get(offset)!)
  }

  #giveBack({ queue, places }: Placed, index: number): void {
    const { cq, sqEntries } = queue
    const head = this.#word(index, members.cq_head)
    queue.sqTail = this.#word(index, members.sq_tail) % sqEntries
    cq.head = head % cq.entries
    cq.phase = (head & cq.entries) === 0 ? 1 : 0
    readGenerations(this.#arrays.view, places, queue)
  }

  /** Makes kernels that start before the next attach harmless: they get GNV_HALTED, and access no memory of the queues. */
  #close(): void {
    const { array, first } = this.#place
    this.queues.forEach((_, index) => {
      const at = (first + index) * QUEUE.bytes
      array.view.setUint32(at + members.state[0], HALTED, true)
      // The lock appears held, so that no warp loads completions.
      array.view.setUint32(at + members.cq_lock[0], 1, true)
      // Tickets of earlier kernels are invalid: the slots are freed.
      array.view.setUint32(at + members.slot_count[0], 0, true)
    })
    array.store(first * QUEUE.bytes, this.queues.length * QUEUE.bytes)
  }

  #loadQueues(): void {
    this.#place.array.load(this.#place.first * QUEUE.bytes, this.queues.length * QUEUE.bytes)
  }

  #word(index: number, [offset]: Member): number {
    return this.#place.array.view.getUint32((this.#place.first + index) * QUEUE.bytes + offset, true)
  }

  /** Stores the state, the only word that the host may change while kernels run. */
  #setState(state: number): void {
    const { array, first } = this.#place
    this.queues.forEach((_, index) => {
      const at = (first + index) * QUEUE.bytes + members.state[0]
      array.view.setUint32(at, state, true)
      array.store(at, DOORBELL_BYTES)
    })
  }

  #stopForwarding(): void {
    if (this.#doorbells !== undefined) this.#place.session.addon.stopDoorbells(this.#doorbells)
    this.#doorbells = undefined
  }

  #release(): void {
    this.#stopForwarding()
    this.#access.end()
    this.#words?.free()
    this.#arrays.free()
  }
}

/** Polls every millisecond, and blocks: an engine must have stopped when `detach` returns. */
function becomesIdle(isIdle: () => boolean): boolean {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (const deadline = performance.now() + END_MS; !isIdle(); Atomics.wait(pause, 0, 0, 1)) {
    if (performance.now() >= deadline) return false
  }
  return true
}

import type { MemoryRuns } from '@gpunvme/nvme-spec/engine'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { sessionOf } from '../cuda/cuda.js'
import { freeAfterFailure } from './after-failure.js'
import { DeviceWords } from './device-words.js'
import { GpuAccess } from './gpu-access.js'
import { argumentOf, BUFFER } from './layout.js'
import type { LendingResources } from './lending-engine.js'

/** Memory that drives and kernels access: `gnv::Buffer`. */
export class DeviceBuffer {
  readonly lengthBytes: number
  /** The `gnv::Buffer`, for `cuda.launch`. */
  readonly argument: Uint8Array
  /** The GPU's address of the memory, which is also in the buffer; undefined if the GPU cannot access it. */
  readonly gpuPointer: bigint | undefined
  readonly #access: GpuAccess
  readonly #iovas: DeviceWords

  /** Use `LendingEngine.buffer`. */
  constructor({ cuda, stream, registrations }: LendingResources, memory: DmaMemory, { iovas, shift }: MemoryRuns) {
    this.lengthBytes = memory.lengthBytes
    this.#access = new GpuAccess(cuda, registrations)
    this.gpuPointer = this.#access.memory(memory)
    let words: DeviceWords | undefined
    try {
      const { view } = (words = new DeviceWords(sessionOf(cuda), stream, iovas.byteLength))
      iovas.forEach((iova, index) => view.setBigUint64(8 * index, iova, true))
      words.store()
    } catch (error) {
      freeAfterFailure(
        () => words?.free(),
        () => this.#access.end(),
      )
      throw error
    }
    this.#iovas = words
    this.argument = argumentOf(BUFFER, {
      'runs.iovas': this.#iovas.gpuPointer,
      'runs.shift': shift,
      bytes: memory.lengthBytes,
      data: this.gpuPointer ?? 0n,
    })
  }

  /** Ends the GPU's access. Call it before the memory is freed, after all kernels that use the buffer have ended. */
  free(): void {
    this.#iovas.free()
    this.#access.end()
  }
}

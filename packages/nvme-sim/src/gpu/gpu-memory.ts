import type { DeviceMemory, DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'

/** Memory of a simulated GPU, not visible to the host: drives access it by its iova, copies by the memory object. */
export class SimulatedGpuMemory implements DmaMemory, DeviceMemory {
  readonly lengthBytes: number
  readonly segments: readonly DmaSegment[]
  readonly gpuPointer: bigint
  private readonly memory: DmaMemory

  /** @param memory location of its bytes. */
  constructor(memory: DmaMemory) {
    this.memory = memory
    this.lengthBytes = memory.lengthBytes
    this.segments = memory.segments
    this.gpuPointer = BigInt(memory.iovaAt(0)) + POINTER_OFFSET
  }

  iovaAt(offsetBytes: number): number {
    return this.memory.iovaAt(offsetBytes)
  }

  // The simulated system is coherent.
  forDevice(): void {}
  forHost(): void {}

  fill(byte: number, offsetBytes: number, lengthBytes: number): void {
    this.bytes(offsetBytes, lengthBytes).fill(byte)
  }

  copyOut(offsetBytes: number, into: Uint8Array): void {
    into.set(this.bytes(offsetBytes, into.length))
  }

  /** Copies bytes in, for the copy engine. */
  copyIn(offsetBytes: number, from: Uint8Array): void {
    this.bytes(offsetBytes, from.length).set(from)
  }

  free(): void {
    this.memory.free()
  }

  private bytes(offsetBytes: number, lengthBytes: number): Uint8Array {
    checkPart('GPU memory', offsetBytes, lengthBytes, this.lengthBytes)
    // Throws if the memory was freed.
    this.iovaAt(0)
    const { buffer, byteOffset } = this.memory.view!
    return new Uint8Array(buffer, byteOffset + offsetBytes, lengthBytes)
  }
}

/** GPU addresses differ from bus addresses, so that confusing them is detected. */
const POINTER_OFFSET = 0x7000_0000_0000n

/** @throws RangeError for bytes outside the memory. */
export function checkPart(what: string, offsetBytes: number, lengthBytes: number, wholeBytes: number): void {
  const isInside = [offsetBytes, lengthBytes].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)
  if (isInside && offsetBytes + lengthBytes <= wholeBytes) return
  throw new RangeError(
    `${what}: expected a range inside ${wholeBytes} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
  )
}

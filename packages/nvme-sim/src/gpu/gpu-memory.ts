import type { DeviceMemory, DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'

/** Memory of a simulated GPU, which the host does not see: drives reach it by its iova, copies by the memory itself. */
export class SimulatedGpuMemory implements DmaMemory, DeviceMemory {
  readonly lengthBytes: number
  readonly segments: readonly DmaSegment[]
  readonly gpuPointer: bigint
  private readonly memory: DmaMemory

  /** @param memory where its bytes are */
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

  /** Copies bytes in: what the copy engine does when its time has come. */
  copyIn(offsetBytes: number, from: Uint8Array): void {
    this.bytes(offsetBytes, from.length).set(from)
  }

  free(): void {
    this.memory.free()
  }

  private bytes(offsetBytes: number, lengthBytes: number): Uint8Array {
    checkPart('GPU memory', offsetBytes, lengthBytes, this.lengthBytes)
    // Of memory that was freed it throws.
    this.iovaAt(0)
    const { buffer, byteOffset } = this.memory.view!
    return new Uint8Array(buffer, byteOffset + offsetBytes, lengthBytes)
  }
}

/** The GPU's own addresses are not those of the bus: taking one for the other finds nothing. */
const POINTER_OFFSET = 0x7000_0000_0000n

/** @throws RangeError for bytes that are not all inside. */
export function checkPart(what: string, offsetBytes: number, lengthBytes: number, wholeBytes: number): void {
  const isInside = [offsetBytes, lengthBytes].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)
  if (isInside && offsetBytes + lengthBytes <= wholeBytes) return
  throw new RangeError(`${what}: expected bytes of ${wholeBytes}, got ${lengthBytes} from ${offsetBytes} on`)
}

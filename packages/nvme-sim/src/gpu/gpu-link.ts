/** Traffic of a GPU's link towards the GPU. */
export interface GpuLinkStatistics {
  /** Bytes copied from host memory. */
  readonly copiedBytes: number
  /** Bytes written into GPU memory by drives. */
  readonly peerBytes: number
  /** Time that the link was busy with both. */
  readonly busyNs: number
}

/**
 * A GPU's PCIe link towards the GPU, shared by copies from host memory and writes of drives. It serves pieces one after
 * the other and never idles while there is one.
 */
export class GpuLink {
  private readonly nsPerByte: number
  private freeNs = 0
  private copiedBytes = 0
  private peerBytes = 0
  private busyNs = 0

  constructor(bytesPerSecond: number) {
    this.nsPerByte = 1e9 / bytesPerSecond
  }

  get statistics(): GpuLinkStatistics {
    const { copiedBytes, peerBytes, busyNs } = this
    return { copiedBytes, peerBytes, busyNs }
  }

  /** Returns when a piece of a copy, requested at `nowNs`, has crossed. */
  copy(nowNs: number, lengthBytes: number): number {
    this.copiedBytes += lengthBytes
    return this.serve(nowNs, lengthBytes)
  }

  /** Returns when a write has arrived whose last byte leaves its drive at `nowNs`. */
  receive(nowNs: number, lengthBytes: number): number {
    this.peerBytes += lengthBytes
    // The data have been arriving for as long as the drive took: on an idle link the last byte does not wait.
    return Math.max(nowNs, this.serve(nowNs - lengthBytes * this.nsPerByte, lengthBytes))
  }

  private serve(fromNs: number, lengthBytes: number): number {
    const lengthNs = lengthBytes * this.nsPerByte
    this.busyNs += lengthNs
    return (this.freeNs = Math.max(fromNs, this.freeNs) + lengthNs)
  }
}

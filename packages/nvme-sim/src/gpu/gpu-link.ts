/** What a GPU's link has carried towards it. */
export interface GpuLinkStatistics {
  /** Bytes copied from host memory. */
  readonly copiedBytes: number
  /** Bytes that drives have written into GPU memory. */
  readonly peerBytes: number
  /** How long either has kept the link busy. */
  readonly busyNs: number
}

/**
 * A GPU's PCIe link, towards the GPU: copies from host memory and what drives write into its memory share it. It serves
 * one piece after the other, whoever sent it, and never waits while there is one.
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

  /** When a piece of a copy has crossed that is asked for at `nowNs`. */
  copy(nowNs: number, lengthBytes: number): number {
    this.copiedBytes += lengthBytes
    return this.serve(nowNs, lengthBytes)
  }

  /** When all of a write has arrived whose last byte leaves its drive at `nowNs`. */
  receive(nowNs: number, lengthBytes: number): number {
    this.peerBytes += lengthBytes
    // It has been coming for as long as the drive took: on an idle link the last byte has nothing left to wait for.
    return Math.max(nowNs, this.serve(nowNs - lengthBytes * this.nsPerByte, lengthBytes))
  }

  private serve(fromNs: number, lengthBytes: number): number {
    const lengthNs = lengthBytes * this.nsPerByte
    this.busyNs += lengthNs
    return (this.freeNs = Math.max(fromNs, this.freeNs) + lengthNs)
  }
}

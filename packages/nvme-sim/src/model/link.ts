import {
  checkLink,
  completionWireBytes,
  INTERRUPT_BYTES,
  lineRate,
  requestWireBytes,
  wireBytes,
  type Link,
} from '@gpunvme/nvme-spec/pcie'

/** A link, and the propagation delay of its packets. */
export interface LinkProfile extends Link {
  /** One way, from the end of a packet at the sender to its effect at the receiver. */
  readonly propagationNs: number
  /** Max_Read_Request_Size in bytes. */
  readonly maxReadRequestBytes: number
}

const SQE_BYTES = 64
const CQE_BYTES = 16
const DOORBELL_BYTES = 4

/**
 * PCIe as two wires, one per direction, that count the bytes of every packet (TLPs without flow control). Data move in
 * whole transfers, one after the other. Small packets slip in between those of a transfer: they take wire time but
 * never wait for a whole transfer. Without a profile the link is infinitely fast.
 */
export class LinkModel {
  /** To the host: data read, completions, interrupts, read requests for host memory. */
  readonly upstream: Wire
  /** To the controller: doorbells, submission queue entries, PRP lists, data written. */
  readonly downstream: Wire
  private readonly profile: LinkProfile | undefined
  private readonly propagationNs: number

  /** @throws RangeError for a link that PCIe does not have. */
  constructor(profile: LinkProfile | undefined) {
    if (profile) checkLink(profile)
    const nsPerByte = profile ? 1e9 / lineRate(profile) : 0
    this.upstream = new Wire(nsPerByte)
    this.downstream = new Wire(nsPerByte)
    this.profile = profile
    this.propagationNs = profile?.propagationNs ?? 0
  }

  /** Returns when a doorbell written at `nowNs` reaches the controller. */
  doorbell(nowNs: number): number {
    return this.downstream.slip(nowNs, this.writeBytes(DOORBELL_BYTES)) + this.propagationNs
  }

  /** Returns when a submission queue entry requested at `nowNs` has arrived. */
  fetchEntry(nowNs: number): number {
    return this.fetch(nowNs, SQE_BYTES)
  }

  /** Returns when a few bytes of host memory requested at `nowNs` have arrived. */
  fetch(nowNs: number, lengthBytes: number): number {
    const askedNs = this.upstream.slip(nowNs, this.requestBytes(lengthBytes)) + this.propagationNs
    return this.downstream.slip(askedNs, this.completionBytes(lengthBytes)) + this.propagationNs
  }

  /** Returns when a completion sent at `nowNs` is in host memory. */
  postEntry(nowNs: number): number {
    return this.upstream.slip(nowNs, this.writeBytes(CQE_BYTES)) + this.propagationNs
  }

  /** Returns when an MSI-X message sent at `nowNs` reaches the host. */
  interrupt(nowNs: number): number {
    return this.upstream.slip(nowNs, this.writeBytes(INTERRUPT_BYTES)) + this.propagationNs
  }

  /** Returns when data sent by the controller from `nowNs` on have left it. */
  sendData(nowNs: number, lengthBytes: number): number {
    return this.upstream.stream(nowNs, this.writeBytes(lengthBytes))
  }

  /** Returns when host data requested by the controller from `nowNs` on have arrived. */
  receiveData(nowNs: number, lengthBytes: number): number {
    const askedNs = this.upstream.slip(nowNs, this.requestBytes(lengthBytes)) + this.propagationNs
    return this.downstream.stream(askedNs, this.completionBytes(lengthBytes)) + this.propagationNs
  }

  private writeBytes(payloadBytes: number): number {
    return this.profile ? wireBytes(payloadBytes, this.profile) : 0
  }

  private completionBytes(payloadBytes: number): number {
    return this.profile ? completionWireBytes(payloadBytes, this.profile) : 0
  }

  private requestBytes(payloadBytes: number): number {
    return this.profile ? requestWireBytes(payloadBytes, this.profile) : 0
  }
}

/** One direction of the link: a resource that serves one byte after the other. */
class Wire {
  /** Time that packets occupied it since the start. */
  busyNs = 0
  private readonly nsPerByte: number
  private freeNs = 0

  constructor(nsPerByte: number) {
    this.nsPerByte = nsPerByte
  }

  /** Adds a transfer after those begun before. Returns its end. */
  stream(fromNs: number, bytes: number): number {
    const lengthNs = bytes * this.nsPerByte
    this.busyNs += lengthNs
    return (this.freeNs = Math.max(fromNs, this.freeNs) + lengthNs)
  }

  /** Adds a small packet: it is sent at once and delays the transfers in progress by its length. Returns its end. */
  slip(fromNs: number, bytes: number): number {
    const lengthNs = bytes * this.nsPerByte
    this.busyNs += lengthNs
    // A packet sent when the wire is idle again must not delay earlier ones.
    if (this.freeNs >= fromNs) this.freeNs += lengthNs
    return fromNs + lengthNs
  }
}

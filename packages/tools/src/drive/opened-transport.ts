import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { TransportName } from './transport-names.js'

/** A transport, and what is known about the machine behind it. */
export interface OpenedTransport {
  readonly name: TransportName
  readonly transport: Transport
  /** What the transport's clock counts. Never add up, or compare, a modelled time and a wall time. */
  readonly time: 'modelled' | 'wall'
  /** The controller's link, where it is known: the denominator of a rate. */
  readonly link: Link | undefined
  /**
   * The controller's serial number, where writing to it can destroy nothing that is not meant: of a simulated drive or
   * of QEMU's. Undefined of a real one, whose number has to be given.
   */
  readonly serial: string | undefined
  /** Why the machine that simulates the drive could not serve it, such as a full disk: the drive knows no such reasons. */
  readonly hostError: () => GpuNvmeError | undefined
  /** After the controller on it is closed. */
  readonly close: () => Promise<void>
}

/** One to which writing can destroy nothing that is not meant. */
export interface HarmlessTransport extends OpenedTransport {
  readonly serial: string
}

import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { TransportName } from './transport-names.js'

/** A transport with the properties of its drive. */
export interface OpenedTransport {
  readonly name: TransportName
  readonly transport: Transport
  /** Clock of the transport. Never add or compare modelled and wall time. */
  readonly time: 'modelled' | 'wall'
  /** Link of the controller if known: the denominator of rates. */
  readonly link: Link | undefined
  /**
   * Serial number of a drive that may be written without confirmation: a simulated one, or QEMU's. Undefined for a real
   * drive, whose number the user must give.
   */
  readonly serial: string | undefined
  /** Why the simulating machine could not serve the drive, such as a full disk; a drive has no status for that. */
  readonly hostError: () => GpuNvmeError | undefined
  /** Call it after closing the controller. */
  readonly close: () => Promise<void>
}

/** A drive that may be written without confirmation. */
export interface SimulatedTransport extends OpenedTransport {
  readonly serial: string
}

import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import {
  anything,
  callback,
  checkOptions,
  flag,
  listOf,
  object,
  record,
  text,
  type Checks,
} from '../../check-options.js'

/** A node of QEMU's block layer, as for `blockdev-add`: `{ driver: 'null-co', size, 'latency-ns': … }`. */
export type BlockNode = Readonly<{ driver: string } & Record<string, unknown>>

/** Zones of a namespace of the Zoned Namespace Command Set. */
export interface QemuZones {
  /** Size of a zone. */
  readonly zoneBytes: number
  /** Writable bytes of a zone. Default: all. */
  readonly capacityBytes?: number
  /** Maximum number of open zones. Default: no limit. */
  readonly maxOpen?: number
  /** Maximum number of active zones. Default: no limit. */
  readonly maxActive?: number
}

/** A namespace of a QEMU controller. */
export interface QemuNamespaceOptions {
  /** Default: 1 for the first namespace, 2 for the second, and so on. */
  readonly nsid?: number
  /** Default: 512. */
  readonly blockBytes?: number
  /** Length of a new image, which is removed with QEMU. Default: 64 MiB. */
  readonly imageBytes?: number
  /** Existing raw image to use instead of a new one. It is kept. */
  readonly image?: string
  /** Bytes of metadata per block. Default: none. */
  readonly metadataBytes?: number
  /** Places metadata after each block's data, instead of in a separate buffer. */
  readonly metadataInData?: boolean
  /** Type of protection information in the metadata. Default: none. */
  readonly protection?: 1 | 2 | 3
  /** Zones of the namespace. Default: a namespace of the NVM Command Set. */
  readonly zones?: QemuZones
  /** Returns a node between the namespace and its image (`blkdebug` for media errors), or instead of it (`null-co`). */
  readonly drive?: (image: BlockNode) => BlockNode
  /** Further properties of QEMU's `nvme-ns`. */
  readonly properties?: Readonly<Record<string, unknown>>
}

/** One controller of a QEMU machine. Omitted properties have QEMU's defaults. */
export interface QemuControllerOptions {
  /**
   * Serial number, 1 to 20 characters. Default: `QEMU0000` and so on. Controllers of a subsystem have that of its first
   * one.
   */
  readonly serial?: string
  /** MDTS: transfers of at most 2^mdts pages of 4 KiB; 0 for no limit. */
  readonly mdts?: number
  /** Maximum number of I/O queue pairs. */
  readonly maxIoQueuePairs?: number
  /** Number of MSI-X vectors. */
  readonly msixVectors?: number
  /** Controller Memory Buffer, in MiB. */
  readonly cmbMib?: number
  /** Name of its subsystem. Controllers with the same name share its namespaces. */
  readonly subsystem?: string
  /** Default: one namespace of 64 MiB. */
  readonly namespaces?: readonly QemuNamespaceOptions[]
  /** Further properties of QEMU's `nvme`. */
  readonly properties?: Readonly<Record<string, unknown>>
}

/** Options of `startQemu`. */
export interface QemuOptions {
  /** QEMU program. Default: GPUNVME_QEMU of the environment, or else `qemu-system-x86_64` on PATH. */
  readonly program?: string
  /** Default: one controller. */
  readonly controllers?: readonly QemuControllerOptions[]
  /** Guest RAM, a multiple of 1 MiB up to 2 GiB; the first 1 MiB is not ordinary memory. Default: 512 MiB. */
  readonly memoryBytes?: number
  /** Memory behind a BAR that replaces a GPU's, a power of two of at least 1 MiB. Default: none. */
  readonly vramBytes?: number
  /** Whether the host has a view of GPU memory. Default: false, as with most GPUs. */
  readonly vramView?: boolean
  /** Maps memory into this process, so that views are the memory itself. Default: none, bytes are copied by `fs`. */
  readonly host?: HardwareHost
}

export const MIB = 1024 * 1024
/** Slots of bus 0 for controllers: from 4 up to the chipset's own at the end, exclusive. */
export const FIRST_SLOT = 4
const MAX_CONTROLLERS = 31 - FIRST_SLOT

const zones: Checks<QemuZones> = {
  zoneBytes: anything,
  capacityBytes: anything,
  maxOpen: anything,
  maxActive: anything,
}
const namespaceChecks: Checks<QemuNamespaceOptions> = {
  nsid: anything,
  blockBytes: anything,
  imageBytes: anything,
  image: text,
  metadataBytes: anything,
  metadataInData: flag,
  protection: anything,
  zones: record(zones),
  drive: callback,
  properties: object,
}
const controllerChecks: Checks<QemuControllerOptions> = {
  serial: text,
  mdts: anything,
  maxIoQueuePairs: anything,
  msixVectors: anything,
  cmbMib: anything,
  subsystem: text,
  namespaces: listOf('namespaces', record(namespaceChecks)),
  properties: object,
}
const checks: Checks<QemuOptions> = {
  program: text,
  controllers: listOf('controllers', record(controllerChecks)),
  memoryBytes: anything,
  vramBytes: anything,
  vramView: flag,
  host: object,
}

/** Fills in the defaults. @throws TypeError for an unknown option, RangeError for an impossible value. */
export function machineOptions(options: QemuOptions) {
  checkOptions('startQemu', options, checks)
  const { controllers = [{}], memoryBytes = 512 * MIB, vramBytes = 0, vramView = false } = options
  demand(controllers.length >= 1 && controllers.length <= MAX_CONTROLLERS, {
    name: 'controllers',
    expected: `1 to ${MAX_CONTROLLERS} of them`,
    got: controllers.length,
  })
  demand(Number.isInteger(memoryBytes / MIB) && memoryBytes >= 2 * MIB && memoryBytes <= 2048 * MIB, {
    name: 'memoryBytes',
    expected: 'a multiple of 1 MiB from 2 MiB to 2 GiB',
    got: memoryBytes,
  })
  demand(vramBytes === 0 || (vramBytes >= MIB && Number.isInteger(Math.log2(vramBytes))), {
    name: 'vramBytes',
    expected: 'a power of two of at least 1 MiB',
    got: vramBytes,
  })
  return {
    memoryBytes,
    vramBytes,
    vramView,
    controllers: controllers.map((options, index) => {
      const { subsystem, namespaces = [{}] } = options
      // All controllers of a subsystem have its serial number.
      const first = subsystem === undefined ? index : controllers.findIndex((other) => other.subsystem === subsystem)
      const serial = options.serial ?? controllers[first]!.serial ?? `QEMU${String(first).padStart(4, '0')}`
      demand(/^[ -~]{1,20}$/.test(serial), {
        name: `controllers[${index}].serial`,
        expected: '1 to 20 ASCII characters',
        got: JSON.stringify(serial),
      })
      return {
        ...options,
        serial,
        namespaces: namespaces.map((namespace, position) => ({
          nsid: position + 1,
          blockBytes: 512,
          imageBytes: 64 * MIB,
          ...namespace,
        })),
      }
    }),
  }
}

export type MachineOptions = ReturnType<typeof machineOptions>

function demand(holds: boolean, { name, expected, got }: { name: string; expected: string; got: number | string }) {
  if (!holds) throw new RangeError(`startQemu: ${name}: expected ${expected}, got ${got}`)
}

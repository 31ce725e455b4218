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

/** A node of QEMU's block layer as `blockdev-add` takes it: `{ driver: 'null-co', size, 'latency-ns': … }`. */
export type BlockNode = Readonly<{ driver: string } & Record<string, unknown>>

/** Zones of a namespace of the Zoned Namespace Command Set. */
export interface QemuZones {
  readonly zoneBytes: number
  /** Bytes of a zone that can be written; all when not given. */
  readonly capacityBytes?: number
  /** Zones that may be open at a time; no limit when not given. */
  readonly maxOpen?: number
  /** Zones that may be active at a time; no limit when not given. */
  readonly maxActive?: number
}

/** A namespace of a QEMU controller. */
export interface QemuNamespaceOptions {
  /** 1 when not given, for the first. */
  readonly nsid?: number
  /** 512 when not given. */
  readonly blockBytes?: number
  /** The length of a new image, which goes with QEMU; 64 MiB when not given. */
  readonly imageBytes?: number
  /** A raw image that exists, in place of a new one; it stays. */
  readonly image?: string
  readonly metadataBytes?: number
  /** Metadata follows each block's data, instead of having a buffer of its own. */
  readonly metadataInData?: boolean
  /** Type of protection information, in the metadata; none when not given. */
  readonly protection?: 1 | 2 | 3
  readonly zones?: QemuZones
  /** What lies between the namespace and its image: `blkdebug` for media errors; or `null-co`, in place of the image. */
  readonly drive?: (image: BlockNode) => BlockNode
  /** More properties of QEMU's `nvme-ns`. */
  readonly properties?: Readonly<Record<string, unknown>>
}

/** One controller of a QEMU machine. Where nothing is said, it is as QEMU makes it. */
export interface QemuControllerOptions {
  /** The serial number, 1 to 20 characters; `QEMU0000` and so on when not given. A subsystem has its first one's. */
  readonly serial?: string
  /** MDTS: transfers of at most 2^mdts pages of 4 KiB; 0 is no limit. */
  readonly mdts?: number
  readonly maxIoQueuePairs?: number
  readonly msixVectors?: number
  /** Controller Memory Buffer, in MiB. */
  readonly cmbMib?: number
  /** Controllers that name the same subsystem share its namespaces. */
  readonly subsystem?: string
  /** One of 64 MiB when not given. */
  readonly namespaces?: readonly QemuNamespaceOptions[]
  /** More properties of QEMU's `nvme`. */
  readonly properties?: Readonly<Record<string, unknown>>
}

/** What QEMU machine to start. */
export interface QemuOptions {
  /** The program; GPUNVME_QEMU of the environment when not given, or else `qemu-system-x86_64` on PATH. */
  readonly program?: string
  /** One controller when not given. */
  readonly controllers?: readonly QemuControllerOptions[]
  /** Guest RAM, a multiple of 1 MiB up to 2 GiB; 512 MiB when not given. The first 1 MiB is not ordinary memory. */
  readonly memoryBytes?: number
  /** Memory behind a BAR that stands in for a GPU's, a power of two from 1 MiB on; none when not given. */
  readonly vramBytes?: number
  /** Whether the host has a view of GPU memory; it has none when not given, as with most GPUs. */
  readonly vramView?: boolean
  /** Maps memory into this process, so that views are the memory itself; without it, bytes are copied by `fs`. */
  readonly host?: HardwareHost
}

export const MIB = 1024 * 1024
/** Slots of bus 0 for controllers: from 4 to before the one that the chipset has at its end. */
export const FIRST_SLOT = 4
const MOST_CONTROLLERS = 31 - FIRST_SLOT

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

/**
 * Fills in what is not given.
 * @throws TypeError for an option that there is not, RangeError for what no machine can have.
 */
export function machineOptions(options: QemuOptions) {
  checkOptions('startQemu', options, checks)
  const { controllers = [{}], memoryBytes = 512 * MIB, vramBytes = 0, vramView = false } = options
  demand(controllers.length >= 1 && controllers.length <= MOST_CONTROLLERS, {
    name: 'controllers',
    expected: `1 to ${MOST_CONTROLLERS} of them`,
    got: controllers.length,
  })
  demand(Number.isInteger(memoryBytes / MIB) && memoryBytes >= 2 * MIB && memoryBytes <= 2048 * MIB, {
    name: 'memoryBytes',
    expected: 'a multiple of 1 MiB from 2 MiB to 2 GiB',
    got: memoryBytes,
  })
  demand(vramBytes === 0 || (vramBytes >= MIB && Number.isInteger(Math.log2(vramBytes))), {
    name: 'vramBytes',
    expected: 'a power of two from 1 MiB on',
    got: vramBytes,
  })
  return {
    memoryBytes,
    vramBytes,
    vramView,
    controllers: controllers.map((options, index) => {
      const { subsystem, namespaces = [{}] } = options
      // Controllers of a subsystem have its serial number.
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

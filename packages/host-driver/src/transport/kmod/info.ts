import { DriverError, hasCode } from '../../error.js'
import { ABI_VERSION, Info, IOMMU_MODE } from './abi.js'
import { call, type KmodNode } from './call.js'

/** Link speed as in Link Status (1 is 2.5 GT/s, 2 is 5, 3 is 8, 4 is 16, 5 is 32), and lanes. 0 if there is no link. */
export interface KmodLink {
  readonly speed: number
  readonly lanes: number
}

/** Properties of a controller when it was opened. */
export interface KmodInfo {
  readonly vendorId: number
  readonly deviceId: number
  /** 'none', 'identity': memory addresses are physical; 'translated': they are those of an IOMMU. */
  readonly iommu: 'none' | 'identity' | 'translated'
  readonly link: KmodLink
  /** Best link that the function supports. */
  readonly bestLink: KmodLink
  readonly maxPayloadBytes: number
  readonly maxReadRequestBytes: number
  /** Undefined if the machine does not say. */
  readonly numaNode: number | undefined
  /** Number of MSI-X vectors. */
  readonly vectors: number
}

/** Answer to GET_INFO. */
export type InfoAnswer = ReturnType<typeof Info.create>

/**
 * Queries the controller.
 * @throws DriverError (KMOD_VERSION) if the module has another interface, before any other request; as `call`.
 */
export function askInfo(node: KmodNode): InfoAnswer {
  const answer = Info.create({ SIZE: Info.bytes })
  try {
    call(node, 'GET_INFO', answer.data)
  } catch (error) {
    // A structure of another size is refused before its version can be read.
    if (hasCode(error, 'ERR_GPUNVME_KMOD', 'EINVAL') || hasCode(error, 'ERR_GPUNVME_KMOD', 'E2BIG'))
      throw wrongVersion(node.bdf, undefined, error)
    throw error
  }
  if (answer.ABI_VERSION !== ABI_VERSION) throw wrongVersion(node.bdf, answer.ABI_VERSION)
  return answer
}

/** Returns the properties in an answer. */
export function factsOf(answer: InfoAnswer): KmodInfo {
  const mode = answer.IOMMU_MODE
  return {
    vendorId: answer.VENDOR_ID,
    deviceId: answer.DEVICE_ID,
    iommu: mode === IOMMU_MODE.NONE ? 'none' : mode === IOMMU_MODE.IDENTITY ? 'identity' : 'translated',
    link: { speed: answer.LINK_SPEED, lanes: answer.LINK_WIDTH },
    bestLink: { speed: answer.MAX_LINK_SPEED, lanes: answer.MAX_LINK_WIDTH },
    maxPayloadBytes: answer.MAX_PAYLOAD_SIZE,
    maxReadRequestBytes: answer.MAX_READ_REQUEST_SIZE,
    numaNode: answer.NUMA_NODE === 0xffff_ffff ? undefined : answer.NUMA_NODE,
    vectors: answer.IRQ_VECTORS,
  }
}

/** Returns the PCI address in an answer, as sysfs writes it. */
export function bdfOf({ PCI_DOMAIN, PCI_BUS, PCI_DEVICE, PCI_FUNCTION }: InfoAnswer): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  return `${hex(PCI_DOMAIN, 4)}:${hex(PCI_BUS, 2)}:${hex(PCI_DEVICE, 2)}.${PCI_FUNCTION}`
}

/** @param found undefined if even the version could not be read. */
function wrongVersion(bdf: string, found: number | undefined, cause?: unknown): DriverError {
  const headline = `The version of the module gpunvme, which has ${bdf}, does not match this program`
  return new DriverError('ERR_GPUNVME_KMOD_VERSION', 'infeasible', headline, {
    facts: [`ABI version ${found ?? 'unknown'} is loaded, ${ABI_VERSION} is required`],
    next: 'unload it (modprobe -r gpunvme), then build and load the matching module: kmod/README.md',
    cause,
  })
}

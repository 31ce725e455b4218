import { NVME_CLASS_CODE, PCI_CONFIG_BYTES, PciHeader } from '@gpunvme/nvme-spec/pci'
import {
  decodeVersion,
  encodeVersion,
  VFIO_REGION,
  VFIO_USER_CAPABILITIES,
  VFIO_USER_VERSION_BYTES,
  VfioIrqInfo,
  VfioUserDeviceInfo,
  type VfioUserCapabilities,
} from '@gpunvme/nvme-spec/vfio-user'
import { DriverError } from '../../error.js'
import { eventfdCount, type VfioRegion } from '../vfio-answers.js'
import { bytesOf, type Channel } from './channel.js'
import { unsuitableFunction } from './errors.js'
import { readRegion } from './regions.js'

const MAJOR = 0
/** As SPDK's client offers; nothing newer is needed. */
const MINOR = 1

/** Capabilities of this side: answers about regions come with one descriptor each. */
const OWN: VfioUserCapabilities = { ...VFIO_USER_CAPABILITIES, maxMsgFds: 16 }

/**
 * Negotiates the version.
 * @returns the capabilities of the target.
 * @param largestPageBytes maximum of the smallest page that the target maps.
 * @throws DriverError (VFIO_USER_VERSION; VFIO_USER_FUNCTION for a target that cannot be given memory); as
 *   `Channel.ask`.
 */
export function negotiate(channel: Channel, largestPageBytes: number): VfioUserCapabilities {
  const offer = encodeVersion({ major: MAJOR, minor: MINOR, capabilities: OWN })
  const { data } = channel.ask('VERSION', offer, { minBytes: 4, maxBytes: VFIO_USER_VERSION_BYTES })
  const { major, minor, capabilities } = channel.decode('VERSION', () => decodeVersion(bytesOf(data)))
  if (major !== MAJOR || minor > MINOR) {
    const headline = `The target at ${channel.socket} uses vfio-user ${major}.${minor}, this client ${MAJOR}.${MINOR}`
    const next = `use a target that supports vfio-user ${MAJOR}.${MINOR}`
    throw new DriverError('ERR_GPUNVME_VFIO_USER_VERSION', 'usage', headline, { next })
  }
  if (capabilities.maxMsgFds === 0)
    throw unsuitableFunction(channel.socket, 'it accepts no descriptors, so memory cannot be shared with it')
  const sizes = BigInt(capabilities.pgsizes)
  const pageBytes = sizes & -sizes
  if (pageBytes > largestPageBytes)
    throw unsuitableFunction(
      channel.socket,
      `its smallest page is ${pageBytes} bytes, expected at most ${largestPageBytes}`,
    )
  return capabilities
}

/**
 * Returns whether the PCI function can be reset.
 * @throws DriverError (VFIO_USER_FUNCTION) if it is not a PCI function; as `Channel.ask`.
 */
export function deviceInfo(channel: Channel): { readonly canReset: boolean } {
  const asked = VfioUserDeviceInfo.create({ ARGSZ: VfioUserDeviceInfo.bytes })
  const { data } = channel.ask('DEVICE_GET_INFO', asked.data, VfioUserDeviceInfo.bytes)
  const { FLAGS, NUM_REGIONS } = VfioUserDeviceInfo.view(data)
  if (VfioUserDeviceInfo.FLAGS.PCI.of(FLAGS) === 0) throw unsuitableFunction(channel.socket, 'it is not a PCI function')
  if (NUM_REGIONS <= VFIO_REGION.CONFIG)
    throw unsuitableFunction(channel.socket, `it has ${NUM_REGIONS} regions and no configuration space`)
  return { canReset: VfioUserDeviceInfo.FLAGS.RESET.of(FLAGS) === 1 }
}

/** Returns how many interrupts of a kind signal an eventfd. @throws as `Channel.ask` */
export function interruptCount(channel: Channel, index: number): number {
  const asked = VfioIrqInfo.create({ ARGSZ: VfioIrqInfo.bytes, INDEX: index })
  const { data } = channel.ask('DEVICE_GET_IRQ_INFO', asked.data, VfioIrqInfo.bytes)
  return eventfdCount(data)
}

/** Minimum length of BAR0: from CAP to the doorbells of the Admin queue. */
const MIN_BAR_BYTES = 0x1008

/**
 * Checks the function.
 * @throws DriverError (VFIO_USER_FUNCTION) if it cannot be driven as an NVMe controller; as `Channel.ask`.
 */
export function checkFunction(channel: Channel, bar: VfioRegion, configBytes: number): void {
  const refuse = (problem: string): never => {
    throw unsuitableFunction(channel.socket, problem)
  }
  if (configBytes < PCI_CONFIG_BYTES)
    refuse(`its configuration space has ${configBytes} bytes, expected at least ${PCI_CONFIG_BYTES}`)
  const dword = Buffer.alloc(4)
  readRegion(channel, VFIO_REGION.CONFIG, PciHeader.RID.offset, dword)
  const classCode = dword.readUInt32LE() >>> 8
  const shown = classCode.toString(16).padStart(6, '0')
  if (classCode !== NVME_CLASS_CODE) refuse(`its class code is ${shown}h, expected 010802h`)
  if (bar.lengthBytes < MIN_BAR_BYTES)
    refuse(`its BAR0 has ${bar.lengthBytes} bytes, expected at least ${MIN_BAR_BYTES}`)
}

import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../../error.js'
import { attribute, driverBound, groupNotViable, obstacles, type PciFunction } from '../../pci/function.js'
import { accessRefused } from '../hardware-access.js'
import { API_VERSION, GroupStatus, IOMMU, VFIO } from './abi.js'
import { ask, call, callNumber } from './argument.js'

/** 'type1': an IOMMU translates, and the device can access what was mapped. 'noiommu': it can access all memory. */
export type VfioMode = 'type1' | 'noiommu'

/** A device that the kernel handed out. Closing its files ends its DMA and makes it available again. */
export interface VfioDevice {
  readonly mode: VfioMode
  /** The container to which mappings belong. */
  readonly container: number
  readonly device: number
  readonly close: () => void
}

/**
 * Opens container, group and device, in the order that the kernel requires. Nothing stays open after an error.
 * @throws DriverError (DRIVER_BOUND, NO_IOMMU, VFIO_MODE, VFIO_MISSING, VFIO_BUSY, GROUP_NOT_VIABLE, VFIO_UNSUPPORTED,
 *   HARDWARE_ACCESS, VFIO)
 */
export function openDevice(
  host: HardwareHost,
  sysRoot: string,
  found: PciFunction,
  wanted: VfioMode | undefined,
): VfioDevice {
  const { bdf, driver } = found
  if (driver !== 'vfio-pci') throw driverBound(bdf, driver, 'vfio-pci')
  const { mode, number } = groupOf(sysRoot, found, wanted)
  const open: number[] = []
  const close = () => {
    for (const fd of open.splice(0).reverse()) closeSync(fd)
  }
  const opened = (fd: number) => {
    open.push(fd)
    return fd
  }
  try {
    const container = opened(openNode(bdf, join(sysRoot, 'dev/vfio/vfio')))
    const model = modelOf(host, container, mode)
    const node = join(sysRoot, 'dev/vfio', mode === 'noiommu' ? `noiommu-${number}` : number)
    const group = opened(openNode(bdf, node))
    const status = ask(host, group, ['GROUP_GET_STATUS', VFIO.GROUP_GET_STATUS], GroupStatus)
    if (GroupStatus.FLAGS.VIABLE.of(GroupStatus.view(status).FLAGS) === 0)
      throw groupNotViable(bdf, number, obstacles(sysRoot, found))
    const descriptor = new DataView(new ArrayBuffer(4))
    descriptor.setInt32(0, container, true)
    call(host, group, ['GROUP_SET_CONTAINER', VFIO.GROUP_SET_CONTAINER], descriptor)
    callNumber(host, container, ['SET_IOMMU', VFIO.SET_IOMMU], model)
    const name = new DataView(new TextEncoder().encode(`${bdf}\0`).buffer)
    const device = opened(host.adopt(call(host, group, ['GROUP_GET_DEVICE_FD', VFIO.GROUP_GET_DEVICE_FD], name)))
    return { mode, container, device, close }
  } catch (error) {
    close()
    throw error
  }
}

function groupOf(
  sysRoot: string,
  { bdf, group }: PciFunction,
  wanted: VfioMode | undefined,
): { mode: VfioMode; number: string } {
  if (group === undefined) {
    const parameter = attribute(sysRoot, 'sys/module/vfio/parameters/enable_unsafe_noiommu_mode')
    throw noIommu(bdf, wanted === 'noiommu' ? parameter : undefined)
  }
  const mode = group.isNoIommu ? 'noiommu' : 'type1'
  if (wanted === undefined || wanted === mode) return { mode, number: group.number }
  const headline = `mode: expected '${mode}' for ${bdf}, got '${wanted}'`
  const next =
    mode === 'type1'
      ? 'omit the mode: an IOMMU translates for this device'
      : 'omit the mode: the machine has no IOMMU for this device'
  throw new DriverError('ERR_GPUNVME_VFIO_MODE', 'usage', headline, { next })
}

/** Returns the model of IOMMU to request, by what the kernel supports. */
function modelOf(host: HardwareHost, container: number, mode: VfioMode): number {
  const version = callNumber(host, container, ['GET_API_VERSION', VFIO.GET_API_VERSION])
  if (version !== API_VERSION) throw unsupported(`expected API version ${API_VERSION}, got ${version}`)
  const models = mode === 'noiommu' ? [IOMMU.NOIOMMU] : [IOMMU.TYPE1v2, IOMMU.TYPE1]
  const model = models.find((one) => callNumber(host, container, ['CHECK_EXTENSION', VFIO.CHECK_EXTENSION], one) > 0)
  if (model !== undefined) return model
  throw unsupported(
    mode === 'noiommu' ? 'it has no mode without an IOMMU' : 'it has no type1 IOMMU (module vfio_iommu_type1)',
  )
}

function openNode(bdf: string, path: string): number {
  try {
    return openSync(path, 'r+')
  } catch (error) {
    throw openNodeError(bdf, path, error as NodeJS.ErrnoException)
  }
}

/** Returns the error for a file of /dev/vfio that cannot be opened. */
export function openNodeError(bdf: string, path: string, error: NodeJS.ErrnoException): Error {
  const { code } = error
  if (code === 'ENOENT' || code === 'ENODEV') {
    const next = 'run modprobe vfio-pci; in a container, pass /dev/vfio through'
    const headline = `Cannot open ${path}: no such file or device`
    return new DriverError('ERR_GPUNVME_VFIO_MISSING', 'not-found', headline, { next, cause: error })
  }
  if (code === 'EBUSY') {
    const next = `close it there first; fuser ${path} shows the process`
    const headline = `Cannot open ${bdf}: ${path} is already open, in another process or in this one`
    return new DriverError('ERR_GPUNVME_VFIO_BUSY', 'privilege', headline, { next, cause: error })
  }
  return code === undefined ? error : accessRefused(bdf, path, code, error)
}

function unsupported(problem: string): DriverError {
  const next = 'run modprobe vfio_iommu_type1, or use another kernel'
  const headline = `The kernel's vfio is not supported: ${problem}`
  return new DriverError('ERR_GPUNVME_VFIO_UNSUPPORTED', 'infeasible', headline, { next })
}

/** @param parameter value of enable_unsafe_noiommu_mode, if that mode was requested. */
function noIommu(bdf: string, parameter: string | undefined): DriverError {
  const headline = `${bdf} has no IOMMU group: the machine has no IOMMU, or it is disabled`
  return new DriverError('ERR_GPUNVME_NO_IOMMU', 'infeasible', headline, {
    facts: parameter === undefined ? [] : [`enable_unsafe_noiommu_mode is ${parameter}`],
    next:
      parameter === undefined
        ? 'enable the IOMMU (firmware setup; kernel parameter intel_iommu=on), or use the transport sysfs'
        : 'echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode, then bind vfio-pci again',
  })
}

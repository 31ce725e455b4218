import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { attribute, DriverBoundError, GroupNotViableError, obstacles, type PciFunction } from '../../pci/function.js'
import { HardwareAccessError } from '../hardware-access.js'
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
 * @throws DriverBoundError, NoIommuError, VfioMissingError, VfioBusyError, GroupNotViableError, VfioUnsupportedError,
 *   HardwareAccessError, VfioError.
 */
export function openDevice(
  host: HardwareHost,
  sysRoot: string,
  found: PciFunction,
  wanted: VfioMode | undefined,
): VfioDevice {
  const { bdf, driver } = found
  if (driver !== 'vfio-pci') throw new DriverBoundError(bdf, driver, 'vfio-pci')
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
      throw new GroupNotViableError(bdf, number, obstacles(sysRoot, found))
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
    throw new NoIommuError(bdf, wanted === 'noiommu' ? parameter : undefined)
  }
  const mode = group.isNoIommu ? 'noiommu' : 'type1'
  if (wanted !== undefined && wanted !== mode) throw new VfioModeError(bdf, wanted, mode)
  return { mode, number: group.number }
}

/** Returns the model of IOMMU to request, by what the kernel supports. */
function modelOf(host: HardwareHost, container: number, mode: VfioMode): number {
  const version = callNumber(host, container, ['GET_API_VERSION', VFIO.GET_API_VERSION])
  if (version !== API_VERSION) throw new VfioUnsupportedError(`expected API version ${API_VERSION}, got ${version}`)
  const models = mode === 'noiommu' ? [IOMMU.NOIOMMU] : [IOMMU.TYPE1v2, IOMMU.TYPE1]
  const model = models.find((one) => callNumber(host, container, ['CHECK_EXTENSION', VFIO.CHECK_EXTENSION], one) > 0)
  if (model !== undefined) return model
  throw new VfioUnsupportedError(
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
  if (code === 'ENOENT' || code === 'ENODEV') return new VfioMissingError(path, error)
  if (code === 'EBUSY') return new VfioBusyError(bdf, path, error)
  return code === undefined ? error : new HardwareAccessError(bdf, path, code, error)
}

/** The kernel's vfio is not available. */
export class VfioMissingError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_MISSING'
  readonly category = 'not-found'
  constructor(path: string, cause?: unknown) {
    super(`Cannot open ${path}: no such file or device`, {
      next: 'run modprobe vfio-pci; in a container, pass /dev/vfio through',
      cause,
    })
  }
}

/** The group is in use: the kernel gives it to one process at a time. */
export class VfioBusyError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_BUSY'
  readonly category = 'privilege'
  constructor(bdf: string, path: string, cause?: unknown) {
    super(`Cannot open ${bdf}: ${path} is already open, in another process or in this one`, {
      next: `close it there first; fuser ${path} shows the process`,
      cause,
    })
  }
}

/** The kernel's vfio lacks something that is needed. */
export class VfioUnsupportedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_UNSUPPORTED'
  readonly category = 'infeasible'
  constructor(problem: string) {
    super(`The kernel's vfio is not supported: ${problem}`, {
      next: 'run modprobe vfio_iommu_type1, or use another kernel',
    })
  }
}

/** The function has no IOMMU group. */
export class NoIommuError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_IOMMU'
  readonly category = 'infeasible'
  /** @param parameter value of enable_unsafe_noiommu_mode, if that mode was requested. */
  constructor(bdf: string, parameter: string | undefined) {
    super(`${bdf} has no IOMMU group: the machine has no IOMMU, or it is disabled`, {
      facts: parameter === undefined ? [] : [`enable_unsafe_noiommu_mode is ${parameter}`],
      next:
        parameter === undefined
          ? 'enable the IOMMU (firmware setup; kernel parameter intel_iommu=on), or use the transport sysfs'
          : 'echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode, then bind vfio-pci again',
    })
  }
}

/** The requested mode is not the one in which the device is bound. */
export class VfioModeError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_MODE'
  readonly category = 'usage'
  constructor(bdf: string, wanted: VfioMode, found: VfioMode) {
    super(`mode: expected '${found}' for ${bdf}, got '${wanted}'`, {
      next:
        found === 'type1'
          ? 'omit the mode: an IOMMU translates for this device'
          : 'omit the mode: the machine has no IOMMU for this device',
    })
  }
}

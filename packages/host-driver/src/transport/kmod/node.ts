import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { show } from '../../check-options.js'
import { Tree } from '../../guard/tree.js'
import { userSpaceDriver } from '../../guard/user-space-driver.js'
import { checkBdf, DriverBoundError, nvmeFunction, type PciFunction } from '../../pci/function.js'
import { HardwareAccessError } from '../hardware-access.js'
import { KmodError, KmodRemovedError, type KmodNode } from './call.js'

const DRIVER = 'gpunvme'

/** A controller of the module, and its node. */
export interface FoundNode {
  readonly found: PciFunction
  readonly path: string
}

/**
 * Finds the node of a controller, or the controller of a node, in sysfs. Opens nothing.
 * @param device '/dev/gpunvme0' or '0000:0b:00.0'.
 * @throws RangeError if it is neither; PciFunctionNotFoundError, NotNvmeError; DriverBoundError; KmodMissingError
 */
export function findNode(sysRoot: string, device: string): FoundNode {
  const name = basename(device)
  if (/^gpunvme\d+$/.test(name)) {
    const bdf = linkName(join(sysRoot, 'sys/class/misc', name, 'device'))
    if (bdf === undefined) throw new KmodMissingError(device, sysRoot)
    return { found: boundFunction(sysRoot, bdf), path: device }
  }
  try {
    checkBdf(device)
  } catch {
    throw new RangeError(
      `device: expected a node such as /dev/gpunvme0 or a PCI address such as 0000:0b:00.0, got ${show(device)}`,
    )
  }
  const found = boundFunction(sysRoot, device)
  const [node] = names(join(found.path, 'misc'))
  if (node === undefined) throw new KmodMissingError(device, sysRoot)
  return { found, path: join(sysRoot, 'dev', node) }
}

/**
 * Opens a node, which excludes other users. The controller is then awake, without bus mastering.
 * @throws KmodMissingError, KmodBusyError, KmodRemovedError, HardwareAccessError, KmodError
 */
export async function openNode(
  host: HardwareHost,
  sysRoot: string,
  { found: { bdf }, path }: FoundNode,
): Promise<KmodNode> {
  try {
    return { host, bdf, path, fd: openSync(path, 'r+'), isOpen: true }
  } catch (error) {
    throw await openError(sysRoot, bdf, path, error as NodeJS.ErrnoException)
  }
}

/**
 * Closes a node, unless it is closed. With its last mapping gone, the kernel stops the controller and frees all memory.
 */
export function closeNode(node: KmodNode): void {
  if (!node.isOpen) return
  node.isOpen = false
  closeSync(node.fd)
}

/** Returns the error for a node that cannot be opened. */
export async function openError(
  sysRoot: string,
  bdf: string,
  path: string,
  error: NodeJS.ErrnoException,
): Promise<Error> {
  const { code } = error
  switch (code) {
    case undefined:
      return error
    case 'ENOENT':
      return new KmodMissingError(path, sysRoot, error)
    case 'EBUSY':
      return new KmodBusyError(bdf, path, await whoDrives(sysRoot, bdf), error)
    case 'ENODEV':
    case 'ENXIO':
      return new KmodRemovedError(bdf, error)
    case 'EACCES':
    case 'EPERM':
      return new HardwareAccessError(bdf, path, code, error)
    default:
      return new KmodError(bdf, 'open', code, error)
  }
}

async function whoDrives(sysRoot: string, bdf: string): Promise<string[]> {
  return (await userSpaceDriver(new Tree(sysRoot, bdf))).map(({ use }) => use)
}

function boundFunction(sysRoot: string, bdf: string): PciFunction {
  const found = nvmeFunction(sysRoot, bdf)
  if (found.driver !== DRIVER) throw new DriverBoundError(bdf, found.driver, DRIVER)
  return found
}

function linkName(path: string): string | undefined {
  return ifThere(() => basename(readlinkSync(path)))
}

function names(folder: string): string[] {
  return ifThere(() => readdirSync(folder)) ?? []
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** The node does not exist: the module is not loaded, has no controller, or /dev is that of a container. */
export class KmodMissingError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_KMOD_MISSING'
  readonly category = 'not-found'
  constructor(device: string, sysRoot: string, cause?: unknown) {
    const isLoaded = ifThere(() => readdirSync(join(sysRoot, 'sys/bus/pci/drivers', DRIVER))) !== undefined
    const nodes = names(join(sysRoot, 'sys/class/misc')).filter((name) => name.startsWith(DRIVER))
    super(`No /dev node of the module gpunvme for ${device}`, {
      facts: [isLoaded ? `existing nodes: ${nodes.join(', ') || 'none'}` : 'the module is not loaded'],
      next: !isLoaded
        ? 'build and install the module (kmod/README.md), then run modprobe gpunvme'
        : nodes.length === 0
          ? `bind a controller: bindDriver({ bdf, driver: 'gpunvme' }) of '@gpunvme/host-driver/pci'`
          : 'use an existing node; in a container, pass it through (--device /dev/gpunvme0)',
      cause,
    })
  }
}

/** The node is open elsewhere: the module gives a controller to one user at a time. */
export class KmodBusyError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_KMOD_BUSY'
  readonly category = 'privilege'
  constructor(bdf: string, path: string, holders: readonly string[], cause?: unknown) {
    super(`Cannot open ${bdf}: ${path} is open in another process, or in another thread of this one`, {
      facts: holders,
      next: `close it there first; fuser ${path} shows the process`,
      cause,
    })
  }
}

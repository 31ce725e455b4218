import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { show } from '../../check-options.js'
import { DriverError } from '../../error.js'
import { Tree } from '../../guard/tree.js'
import { userSpaceDriver } from '../../guard/user-space-driver.js'
import { checkBdf } from '../../machine-files/bdf.js'
import { driverBound, nvmeFunction, type PciFunction } from '../../pci/function.js'
import { accessRefused } from '../hardware-access.js'
import { kmodRefused, kmodRemoved, type KmodNode } from './call.js'
import { untranslatedRefused } from './untranslated.js'

const DRIVER = 'gpunvme'

/** A controller of the module, and its node. */
export interface FoundNode {
  readonly found: PciFunction
  readonly path: string
}

/**
 * Finds the node of a controller, or the controller of a node, in sysfs. Opens nothing.
 * @param device '/dev/gpunvme0' or '0000:0b:00.0'.
 * @throws RangeError if it is neither; DriverError (PCI_FUNCTION_NOT_FOUND, NOT_NVME, DRIVER_BOUND, KMOD_MISSING)
 */
export function findNode(sysRoot: string, device: string): FoundNode {
  const name = basename(device)
  if (/^gpunvme\d+$/.test(name)) {
    const bdf = linkName(join(sysRoot, 'sys/class/misc', name, 'device'))
    if (bdf === undefined) throw kmodMissing(device, sysRoot)
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
  if (node === undefined) throw kmodMissing(device, sysRoot)
  return { found, path: join(sysRoot, 'dev', node) }
}

/**
 * Opens a node, which excludes other users. The controller is then awake, without bus mastering.
 * @throws DriverError (KMOD_MISSING, KMOD_BUSY, KMOD_REMOVED, KMOD_UNTRANSLATED, HARDWARE_ACCESS, KMOD)
 */
export async function openNode(host: HardwareHost, sysRoot: string, { found, path }: FoundNode): Promise<KmodNode> {
  try {
    return { host, bdf: found.bdf, path, fd: openSync(path, 'r+'), isOpen: true }
  } catch (error) {
    throw await openError(sysRoot, found, path, error as NodeJS.ErrnoException)
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
  found: Pick<PciFunction, 'bdf' | 'group'>,
  path: string,
  error: NodeJS.ErrnoException,
): Promise<Error> {
  const { code } = error
  const { bdf } = found
  switch (code) {
    case undefined:
      return error
    case 'ENOENT':
      return kmodMissing(path, sysRoot, error)
    case 'EBUSY':
      return kmodBusy(bdf, path, await whoDrives(sysRoot, bdf), error)
    case 'ENODEV':
    case 'ENXIO':
      return kmodRemoved(bdf, error)
    case 'EPERM':
      return untranslatedRefused(sysRoot, found, error) ?? accessRefused(bdf, path, code, error)
    case 'EACCES':
      return accessRefused(bdf, path, code, error)
    default:
      return kmodRefused(bdf, 'open', code, error)
  }
}

async function whoDrives(sysRoot: string, bdf: string): Promise<string[]> {
  return (await userSpaceDriver(new Tree(sysRoot, bdf))).map(({ use }) => use)
}

function boundFunction(sysRoot: string, bdf: string): PciFunction {
  const found = nvmeFunction(sysRoot, bdf)
  if (found.driver !== DRIVER) throw driverBound(bdf, found.driver, DRIVER)
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
function kmodMissing(device: string, sysRoot: string, cause?: unknown): DriverError {
  const isLoaded = ifThere(() => readdirSync(join(sysRoot, 'sys/bus/pci/drivers', DRIVER))) !== undefined
  const nodes = names(join(sysRoot, 'sys/class/misc')).filter((name) => name.startsWith(DRIVER))
  const headline = `No /dev node of the module gpunvme for ${device}`
  return new DriverError('ERR_GPUNVME_KMOD_MISSING', 'not-found', headline, {
    facts: [isLoaded ? `existing nodes: ${nodes.join(', ') || 'none'}` : 'the module is not loaded'],
    next: !isLoaded
      ? 'build and install the module (kmod/README.md), then run modprobe gpunvme'
      : nodes.length === 0
        ? `bind a controller: bindDriver({ bdf, driver: 'gpunvme' }) of '@gpunvme/host-driver/pci'`
        : 'use an existing node; in a container, pass it through (--device /dev/gpunvme0)',
    cause,
  })
}

/** The node is open elsewhere: the module gives a controller to one user at a time. */
function kmodBusy(bdf: string, path: string, holders: readonly string[], cause: unknown): DriverError {
  const headline = `Cannot open ${bdf}: ${path} is open in another process, or in another thread of this one`
  return new DriverError('ERR_GPUNVME_KMOD_BUSY', 'privilege', headline, {
    facts: holders,
    next: `close it there first; fuser ${path} shows the process`,
    cause,
  })
}

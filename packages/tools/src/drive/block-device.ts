import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryRead } from '../command-line/file-error.js'
import { ToolsError } from '../command-line/tools-error.js'
import { findDrive, type FoundDrive } from './find-drive.js'

/** A namespace in Linux. */
interface KernelNamespace {
  /** 'nvme0n1'. */
  readonly name: string
  readonly nsid: number
}

/** Returns the requested namespace, or the first active one. @throws ToolsError (NO_BLOCK_DEVICE) */
export function findNamespace(sys: string, controller: string, nsid: number | undefined): KernelNamespace {
  const folder = join(sys, 'class/nvme', controller)
  const namespaces = readdirSync(folder)
    .flatMap((entry): KernelNamespace[] => {
      // With multipathing, the controller has hidden nodes, nvme0c0n1, whose block device is nvme0n1.
      const [, subsystem, number] = /^nvme(\d+)(?:c\d+)?n(\d+)$/.exec(entry) ?? []
      if (subsystem === undefined) return []
      return [{ name: `nvme${subsystem}n${number!}`, nsid: nsidOf(join(folder, entry)) ?? Number(number) }]
    })
    .sort((a, b) => a.nsid - b.nsid)
  const found = nsid === undefined ? namespaces[0] : namespaces.find((each) => each.nsid === nsid)
  if (found === undefined) throw noBlockDeviceError(controller, nsid)
  return found
}

/** Time limit for Linux's driver to create a block device after it is bound again. */
const RETURN_SECONDS = 60
const LOOK_MS = 100

/**
 * Waits until Linux's driver has a block device of the drive: it creates them some time after it is bound.
 * @throws ToolsError (NOT_RETURNED); the signal's reason
 */
export async function awaitBlockDevice(
  bdf: string,
  nsid: number | undefined,
  signal?: AbortSignal,
): Promise<FoundDrive> {
  for (const untilMs = performance.now() + RETURN_SECONDS * 1000; performance.now() < untilMs;) {
    signal?.throwIfAborted()
    const found = findDrive(bdf)
    if (found.linuxName !== undefined && hasBlockDevice(found.linuxName, nsid)) return found
    await sleep(LOOK_MS)
  }
  throw new ToolsError(
    'ERR_GPUNVME_NOT_RETURNED',
    'device',
    `Linux created no block device for ${bdf} within ${RETURN_SECONDS} s of binding its driver`,
    {
      next: ['check the kernel log: dmesg', { command: ['list', bdf] }],
    },
  )
}

function hasBlockDevice(controller: string, nsid: number | undefined): boolean {
  try {
    findNamespace('/sys', controller, nsid)
    return true
  } catch (error) {
    if (error instanceof GpuNvmeError) return false
    throw error
  }
}

function nsidOf(folder: string): number | undefined {
  return tryRead(() => Number(readFileSync(join(folder, 'nsid'), 'utf8')))
}

/** Error of a namespace without a block device in Linux. */
function noBlockDeviceError(controller: string, nsid: number | undefined): ToolsError {
  const which = nsid === undefined ? 'any namespace' : `namespace ${nsid}`
  return new ToolsError(
    'ERR_GPUNVME_NO_BLOCK_DEVICE',
    'not-found',
    `Linux has no block device of ${which} of ${controller}`,
    {
      next: { command: ['nvme', 'identify', '--drive', controller], note: 'which lists the namespaces' },
    },
  )
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { startVfioUserServer, type VfioUserServer, type VfioUserServerOptions } from '@gpunvme/nvme-sim/vfio-user'
import { runGuest, type GuestOptions, type GuestRun, type Qemu } from '../../../../cuda-native/test/vm/guest.js'
import { ModuleFolder, type Module } from '../../../../cuda-native/test/vm/modules.js'
import type { GuestParts } from '../../../../cuda-native/test/vm/parts.js'
import { kernelOf, type Series } from './kernels.js'
import { vfioUserQemu } from './qemu.js'

/** Options of a simulated drive. */
export type Drive = Omit<VfioUserServerOptions, 'socket' | 'module'>

export interface ServedGuestOptions extends Pick<GuestOptions, 'scenarios' | 'append' | 'deadlineMs' | 'onLine'> {
  readonly series: Series
  /** Drives at 0000:00:04.0, 0000:00:05.0, and so on. */
  readonly drives: readonly Drive[]
  /** Parameters of modules, in the syntax of insmod. */
  readonly parameters?: { readonly nvme_core?: string; readonly nvme?: string }
  /** QEMU options for further devices, whose drives are named in `images`. */
  readonly devices?: readonly string[]
  readonly images?: GuestOptions['images']
  readonly memoryMiB?: number
}

/** Result of a guest, with the final statistics and diagnostics of each drive. */
export interface ServedGuestRun extends GuestRun {
  readonly drives: readonly {
    readonly statistics: Awaited<ReturnType<VfioUserServer['statistics']>>
    readonly diagnostics: Awaited<ReturnType<VfioUserServer['diagnostics']>>
  }[]
}

/** ext4 requests its checksum module by name, which no module dependency shows. */
const MODULES = ['nvme', 'virtio_pci', '9pnet_virtio', '9p', 'crc32c_generic', 'ext4']
const FIRST_SLOT = 4

/** Returns the kernel and QEMU of a guest, or the reason why it cannot run. */
export function servedGuestParts(series: Series): { readonly parts: GuestParts; readonly qemu: Qemu } | string {
  const parts = kernelOf(series)
  if (typeof parts === 'string') return parts
  const qemu = vfioUserQemu()
  return typeof qemu === 'string' ? qemu : { parts, qemu }
}

/** Serves the drives, and runs a guest with them. */
export async function runServedGuest(options: ServedGuestOptions): Promise<ServedGuestRun> {
  const made = servedGuestParts(options.series)
  if (typeof made === 'string') throw new Error(made)
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-vfio-user-'))
  const servers: VfioUserServer[] = []
  try {
    for (const [index, drive] of options.drives.entries()) {
      servers.push(await startVfioUserServer({ ...drive, socket: join(folder, `${index}`), module: nativeHostModule }))
    }
    const run = await runGuest(
      guestOf(
        options,
        made,
        servers.map(({ socket }) => socket),
      ),
    )
    const drives = []
    for (const server of servers) {
      drives.push({ statistics: await server.statistics(), diagnostics: await server.diagnostics() })
    }
    return { ...run, drives }
  } finally {
    await Promise.all(servers.map((server) => server.close()))
    rmSync(folder, { recursive: true })
  }
}

/** Returns options of a guest with a drive at each of these sockets, which any process may serve. */
export function guestOf(
  options: ServedGuestOptions,
  { parts, qemu }: { readonly parts: GuestParts; readonly qemu: Qemu },
  sockets: readonly string[],
): GuestOptions {
  const {
    scenarios,
    append = '',
    deadlineMs,
    onLine,
    parameters = {},
    devices = [],
    images = {},
    memoryMiB = 512,
  } = options
  const given: Readonly<Record<string, string | undefined>> = parameters
  const modules = new ModuleFolder(parts.modules).inOrder(MODULES).map((module): Module => {
    const own = given[module.name]
    return own === undefined ? module : { ...module, parameters: own }
  })
  const memory = [
    '-object',
    `memory-backend-memfd,id=memory,size=${memoryMiB}M,share=on`,
    '-machine',
    'memory-backend=memory',
  ]
  const drives = sockets.flatMap((path, index) => {
    const device = { driver: 'vfio-user-pci', addr: `${FIRST_SLOT + index}`, socket: { type: 'unix', path } }
    return ['-device', JSON.stringify(device)]
  })
  return {
    ...{ parts, qemu, modules, scenarios, append, images, memoryMiB, deadlineMs },
    ...(onLine && { onLine }),
    programs: join(import.meta.dirname, 'programs'),
    onlyPrograms: true,
    devices: [...memory, ...drives, ...devices],
  }
}

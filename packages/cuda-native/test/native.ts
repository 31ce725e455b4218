import { existsSync } from 'node:fs'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { addonPlaces } from '../src/native-addon.js'
import { loadHardwareHost } from '../src/host/hardware-host.js'
import { loadSocketHost, type LoadedSocketHost } from '../src/host/vfio-user-host.js'

/** Whether an addon is built. An addon that exists but does not load fails the tests instead of skipping them. */
export const isBuilt: boolean = addonPlaces('gpunvme_host').some((path) => existsSync(path))

/** Suffix of the titles of skipped tests; empty if the addon is built. */
export const skipped: string = isBuilt ? '' : ' (skipped: [native] gpunvme_host is not built)'

/** The addon's hardware host. Only for tests that are not skipped. */
export const native: HardwareHost = isBuilt ? loadHardwareHost() : ({} as HardwareHost)

/** The addon's sockets, and mappings of other processes' files. Only for tests that are not skipped. */
export const sockets: LoadedSocketHost = isBuilt ? loadSocketHost() : ({} as LoadedSocketHost)

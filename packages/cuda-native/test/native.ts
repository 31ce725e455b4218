import { existsSync } from 'node:fs'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { addonPlaces } from '../src/native-addon.js'
import { loadHardwareHost } from '../src/host/hardware-host.js'
import { loadSocketHost, type LoadedSocketHost } from '../src/host/vfio-user-host.js'

/** Whether there is an addon to test. One that is there and does not load is a failure, not a reason to skip. */
export const isBuilt: boolean = addonPlaces('gpunvme_host').some((path) => existsSync(path))

/** What a title says where there is none. */
export const skipped: string = isBuilt ? '' : ' (skipped: [native] gpunvme_host is not built)'

/** The addon itself; only for tests that are not skipped. */
export const native: HardwareHost = isBuilt ? loadHardwareHost() : ({} as HardwareHost)

/** Its sockets, and its mappings of what is somebody else's; only for tests that are not skipped. */
export const sockets: LoadedSocketHost = isBuilt ? loadSocketHost() : ({} as LoadedSocketHost)

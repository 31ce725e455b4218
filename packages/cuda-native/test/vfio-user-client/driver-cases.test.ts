import { describeTransport } from '@gpunvme/host-driver/conformance'
import { afterAll, describe, test } from 'vitest'
import { isBuilt, skipped } from '../native.js'
import { ServedDrives } from './drives.js'

// Client and server use the addon, with a real socket, real eventfds and file-backed memory. The driver must pass the
// same cases as on a drive.

describe.skipIf(!isBuilt)(`driver cases over vfio-user${skipped}`, () => {
  const drives = new ServedDrives()
  afterAll(() => drives.close())
  describeTransport('a served controller', drives.open, { describe, test })
})

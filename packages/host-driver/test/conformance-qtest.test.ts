import { afterAll, describe, test } from 'vitest'
import { describeTransport } from '../conformance/index.js'
import { qemuMissing, skippedNote } from './qemu.js'
import { QtestDevices } from './qtest-devices.js'

// QEMU's controller was written by others. What it says that the host did wrong has to be nothing.

describe.skipIf(qemuMissing)(`driver cases${skippedNote}`, () => {
  const devices = new QtestDevices()
  afterAll(() => devices.close())
  describeTransport("QEMU's controller", devices.open, { describe, test })
})

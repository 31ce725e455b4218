import { afterAll, describe, test } from 'vitest'
import { describeTransport } from '../conformance/index.js'
import { qemuMissing, skippedNote } from './qemu.js'
import { QtestDevices } from './qtest-devices.js'

// QEMU's controller is an independent implementation. It must report no host errors.

describe.skipIf(qemuMissing)(`driver cases${skippedNote}`, () => {
  const devices = new QtestDevices()
  afterAll(() => devices.close())
  describeTransport("QEMU's controller", devices.open, { describe, test })
})

import { describeTransport } from '@gpunvme/host-driver/conformance'
import { afterAll, describe, test } from 'vitest'
import { isBuilt, skipped } from '../../test/native.js'
import { RealTimeDrives } from '../../test/real-time-drives.js'
import { cpuKernelEngine } from './cpu-kernel.js'

describe.skipIf(!isBuilt)(`the engine cpu-kernel${skipped}`, () => {
  const drives = new RealTimeDrives()
  afterAll(() => drives.close())
  describeTransport('a real-time simulator by the engine cpu-kernel', drives.open, {
    describe,
    test,
    engine: (transport) => cpuKernelEngine(transport),
    rings: 'powers of two',
  })
})

import { test } from 'vitest'
import { expectPlannedReads } from '../../test/kernel-rig.js'
import { isBuilt, skipped } from '../../test/native.js'
import { cpuKernelEngine } from './cpu-kernel.js'

test.skipIf(!isBuilt)(
  `the device code on a thread executes plans of the driver on a real-time simulator${skipped}`,
  async () => {
    await expectPlannedReads((transport) => cpuKernelEngine(transport))
  },
)

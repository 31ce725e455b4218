import { expect, test } from 'vitest'
import { expectPlannedReads } from '../../test/kernel-rig.js'
import { isBuilt } from '../../test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { cudaEngine, openCuda } from '../cuda/index.js'

const standin = useStandin()

test.skipIf(!hasStandin || !isBuilt)(
  `kernels execute plans of the driver on a real-time simulator${skippedWithoutStandin}`,
  async () => {
    const cuda = openCuda()
    await expectPlannedReads((transport) => cudaEngine(transport, cuda))
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  },
)

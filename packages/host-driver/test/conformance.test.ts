import { describe, test } from 'vitest'
import { describeTransport } from '../conformance/index.js'
import { simulatedDevices } from '../conformance/simulated.js'

// The simulator can be configured as each case needs: no case is skipped.
describeTransport('an ideal simulated drive', simulatedDevices(), {
  describe,
  test,
  time: 'virtual',
  allowSkips: false,
})

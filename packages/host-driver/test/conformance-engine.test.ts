import { describe, test } from 'vitest'
import { describeTransport } from '../src/conformance/index.js'
import { HostEngine } from '../src/index.js'
import { simulatedDevices } from './simulated-devices.js'

// An engine that the user made, on the transport itself: what another engine than the driver's own has to pass.
const slow = { reason: 'it takes seconds, and is about the drive', cases: ['queue-of-65536-entries', 'mdts-none'] }
describeTransport('a simulated drive by an engine of its own', simulatedDevices(), {
  describe,
  test,
  time: 'virtual',
  engine: (transport) => new HostEngine(transport),
  skip: [slow],
})

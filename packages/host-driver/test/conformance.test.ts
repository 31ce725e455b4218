import { describe, test } from 'vitest'
import { describeTransport } from '../src/conformance/index.js'
import { faulty, traced } from '../src/index.js'
import { simulatedDevices } from './simulated-devices.js'

// The simulator can be whatever a case needs: nothing is skipped.
const options = { describe, test, time: 'virtual', mayRefuse: false } as const
const slow = { reason: 'it takes seconds, and runs on the ideal drive', cases: ['queue-of-65536-entries', 'mdts-none'] }
const otherwise = { ...options, skip: [slow] }

describeTransport('an ideal simulated drive', simulatedDevices(), options)
describeTransport(
  'a simulated SN740',
  simulatedDevices((transport) => transport, 'sn740'),
  otherwise,
)
describeTransport(
  'a traced simulated drive',
  simulatedDevices((transport) => traced(transport, () => undefined)),
  otherwise,
)
describeTransport(
  'a simulated drive behind faulty, without a fault',
  simulatedDevices((transport) => faulty(transport, { rules: [] })),
  otherwise,
)

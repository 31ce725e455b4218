import { describe, test } from 'vitest'
import { describeTransport } from '../src/conformance/index.js'
import { faulty, traced } from '../src/index.js'
import { simulatedDevices } from './simulated-devices.js'

// The simulator can be whatever a case needs: nothing is skipped.
const options = { describe, test, time: 'virtual', mayRefuse: false } as const

describeTransport('an ideal simulated drive', simulatedDevices(), options)
describeTransport(
  'a simulated SN740',
  simulatedDevices((transport) => transport, 'sn740'),
  options,
)
describeTransport(
  'a traced simulated drive',
  simulatedDevices((transport) => traced(transport, () => undefined)),
  options,
)
describeTransport(
  'a simulated drive behind faulty, without a fault',
  simulatedDevices((transport) => faulty(transport, { rules: [] })),
  options,
)

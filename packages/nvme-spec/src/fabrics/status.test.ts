import { describe, expect, it } from 'vitest'
import { FABRICS_STATUS } from './status.js'
import { mayRetry, statusName } from '../status.js'

describe('FABRICS_STATUS: command specific statuses of NVMe over Fabrics (Base 2.2 §4.2.3.2, Figure 105)', () => {
  it.each([
    [0x80, 'Incompatible Format', 'INCOMPATIBLE_FORMAT', 'fabrics'],
    [0x81, 'Controller Busy', 'CONTROLLER_BUSY', 'fabrics'],
    [0x82, 'Connect Invalid Parameters', 'CONNECT_INVALID_PARAMETERS', 'fabrics'],
    [0x83, 'Connect Restart Discovery', 'CONNECT_RESTART_DISCOVERY', 'fabrics'],
    [0x84, 'Connect Invalid Host', 'CONNECT_INVALID_HOST', 'fabrics'],
    [0x85, 'Invalid Queue Type', 'INVALID_QUEUE_TYPE', 'fabrics'],
    [0x90, 'Discover Restart', 'DISCOVER_RESTART', 'admin'],
    [0x91, 'Authentication Required', 'AUTHENTICATION_REQUIRED', 'any'],
  ] as const)('SCT 1, SC %i is %s', (sc, name, symbol, from) => {
    expect(statusName(1, sc, FABRICS_STATUS)).toBe(name)
    expect(FABRICS_STATUS[symbol]).toMatchObject({ sct: 1, sc, name, returnedBy: [from] })
  })

  it('the table has eight', () => {
    expect(Object.keys(FABRICS_STATUS)).toHaveLength(8)
  })

  it('a busy controller may be retried later, and a log that changed may be read again at once', () => {
    expect(mayRetry({ sct: 1, sc: 0x81, dnr: false }, FABRICS_STATUS)).toBe('later')
    expect(mayRetry({ sct: 1, sc: 0x90, dnr: false }, FABRICS_STATUS)).toBe('same')
    expect(mayRetry({ sct: 1, sc: 0x84, dnr: false }, FABRICS_STATUS)).toBeUndefined()
  })
})

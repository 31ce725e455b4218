import { describe, expect, it } from 'vitest'
import { FABRICS_STATUS } from './fabrics.js'
import { mayRetry, statusName } from './status.js'

describe('FABRICS_STATUS: command specific statuses of Fabrics commands (Base 2.2 §4.2.3.2, Figure 105)', () => {
  it.each([
    [0x80, 'Incompatible Format', 'INCOMPATIBLE_FORMAT'],
    [0x81, 'Controller Busy', 'CONTROLLER_BUSY'],
    [0x82, 'Connect Invalid Parameters', 'CONNECT_INVALID_PARAMETERS'],
    [0x83, 'Connect Restart Discovery', 'CONNECT_RESTART_DISCOVERY'],
    [0x84, 'Connect Invalid Host', 'CONNECT_INVALID_HOST'],
    [0x85, 'Invalid Queue Type', 'INVALID_QUEUE_TYPE'],
    [0x90, 'Discover Restart', 'DISCOVER_RESTART'],
    [0x91, 'Authentication Required', 'AUTHENTICATION_REQUIRED'],
  ] as const)('SCT 1, SC %i is %s', (sc, name, symbol) => {
    expect(statusName(1, sc, FABRICS_STATUS)).toBe(name)
    expect(FABRICS_STATUS[symbol]).toMatchObject({ sct: 1, sc, name, from: ['fabrics'] })
  })

  it('there are eight', () => {
    expect(Object.keys(FABRICS_STATUS)).toHaveLength(8)
  })

  it('a busy controller may be free later, and a new snapshot may be read at once', () => {
    expect(mayRetry({ sct: 1, sc: 0x81, dnr: false }, FABRICS_STATUS)).toBe('later')
    expect(mayRetry({ sct: 1, sc: 0x90, dnr: false }, FABRICS_STATUS)).toBe('same')
    expect(mayRetry({ sct: 1, sc: 0x84, dnr: false }, FABRICS_STATUS)).toBeUndefined()
  })
})

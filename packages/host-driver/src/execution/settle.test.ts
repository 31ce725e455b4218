import type { Status } from '@gpunvme/nvme-spec'
import { describe, expect, test } from 'vitest'
import { MAX_RETRIES, retryDelayNs } from './settle.js'

/** CRDT1 to CRDT3 of a controller, in nanoseconds; the third is longer than a host waits. */
const DELAYS = [100, 200, 9e12] as const
const BUSY: Status = { sct: 0, sc: 0x82, dnr: false } // Namespace Not Ready
const ERROR: Status = { sct: 0, sc: 0x06, dnr: false } // Internal Error

describe('the delay before a retry', () => {
  test.each<[string, Status, number | undefined]>([
    ['is the first delay time for CRD 1', { ...ERROR, crd: 1 }, 100],
    ['is the second delay time for CRD 2', { ...ERROR, crd: 2 }, 200],
    ['is bounded whatever the controller states', { ...ERROR, crd: 3 }, 10_000_000_000],
    ['is absent where the controller sets Do Not Retry', { ...ERROR, crd: 1, dnr: true }, undefined],
    ['is absent for a success', { sct: 0, sc: 0, dnr: false }, undefined],
    ['is absent for a path error: this host has one path', { sct: 3, sc: 0x60, dnr: false }, undefined],
  ])('%s', (_, status, expected) => {
    expect(retryDelayNs(status, 0, DELAYS, Infinity)).toBe(expected)
  })

  test('doubles with each retry where the controller states none and asks for a later retry', () => {
    expect([0, 1, 2, 3].map((retry) => retryDelayNs(BUSY, retry, [0, 0, 0], Infinity))).toEqual([1e7, 2e7, 4e7, 8e7])
  })

  test.each([
    ['of the controller', { ...ERROR, crd: 3 }],
    ['of the driver', BUSY],
  ])('%s is cut short at the time limit of the command, and absent after it', (_, status) => {
    expect(retryDelayNs(status, 0, DELAYS, 5)).toBe(5)
    expect(retryDelayNs(status, 0, DELAYS, 0)).toBeUndefined()
  })

  test('is absent after the last retry', () => {
    expect(retryDelayNs(ERROR, MAX_RETRIES - 1, DELAYS, Infinity)).toBe(0)
    expect(retryDelayNs(ERROR, MAX_RETRIES, DELAYS, Infinity)).toBeUndefined()
  })
})

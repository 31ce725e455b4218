import { describe, expect, it } from 'vitest'
import { simulate, type ProfileName } from '../index.js'
import { controllerCases, runControllerCase } from './index.js'

const noSubsystemReset = 'CAP.NSSRS is 0: no NVM Subsystem Reset'
const noInterrupts = 'the transport has no interrupts'
const noWeights = 'CAP.AMS: no weighted round robin with urgent priority class'

const onBoth = {
  'weighted-round-robin-serves-all': noWeights,
  'urgent-commands-first': noWeights,
  'weights-share-the-controller': noWeights,
  'interrupt-of-the-admin-queue': noInterrupts,
  'interrupt-of-an-io-queue': noInterrupts,
  'interrupt-vector-of-its-own': noInterrupts,
  'interrupt-vector-shared': noInterrupts,
}

/** Cases that a profile's controller need not pass: id and reason. */
const skips: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ideal: onBoth,
  sn740: {
    ...onBoth,
    'largest-memory-page': 'CAP.MPSMAX equals CAP.MPSMIN: there is one page size',
    'nssr-reads-zero': noSubsystemReset,
    'subsystem-reset': noSubsystemReset,
    'subsystem-reset-occurred-is-cleared-by-one': noSubsystemReset,
    'subsystem-reset-ends-a-shutdown': noSubsystemReset,
  },
}

/** What the simulator does not do yet: id, and what is missing. A case that begins to pass must leave this list. */
const notYet: Readonly<Record<string, string>> = {
  'reset-restores-features': 'Temperature Threshold is not built',
  'round-robin-starves-no-queue': 'Arbitration is not built',
  'number-of-queues-does-not-change': 'each Set Features allocates anew',
  'full-cq-does-not-stall-deletion': 'what a full completion queue holds outlives its submission queue',
  'doorbell-event-sq-tail-beyond-the-queue': 'wrong doorbells are no events',
  'doorbell-event-sq-tail-of-all-ones': 'wrong doorbells are no events',
  'doorbell-event-cq-head-beyond-the-queue': 'wrong doorbells are no events',
  'doorbell-event-cq-head-past-the-tail': 'wrong doorbells are no events',
  'doorbell-event-sq-that-does-not-exist': 'wrong doorbells are no events',
  'doorbell-event-cq-that-does-not-exist': 'wrong doorbells are no events',
}

const names: readonly ProfileName[] = ['ideal', 'sn740']

describe.each(names)('the controller cases on the simulator, profile %s', (profile) => {
  const skipped: Record<string, string> = {}
  const open = () => Promise.resolve(simulate({ profile, namespaces: [{ capacityBytes: 32 * 1024 * 1024 }] }).transport)

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      const result = await runControllerCase(each, open)
      if (result.outcome === 'skipped') {
        skipped[each.id] = result.reason
        skip(result.reason)
      }
      if (each.id in notYet) expect(result.outcome, 'it passes now: take it from the list notYet').toBe('failed')
      else if (result.outcome === 'failed') throw result.error
    })
  }

  it('skips the cases that are listed, for the reasons that are listed', () => {
    expect(skipped).toEqual(skips[profile])
  })
})

describe('the list of controller cases', () => {
  const ids = controllerCases.map(({ id }) => id)

  it('has an id of its own for each', () => {
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has every case that is listed as not done yet', () => {
    expect(Object.keys(notYet).filter((id) => !ids.includes(id))).toEqual([])
  })
})

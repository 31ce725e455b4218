import { describe, expect, it } from 'vitest'
import { simulate, type ProfileName } from '../index.js'
import { controllerCases, runControllerCase } from './index.js'

const noSubsystemReset = 'CAP.NSSRS is 0: no NVM Subsystem Reset'

/** Cases that a profile's controller need not pass: id and reason. */
const skips: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ideal: {},
  sn740: {
    'nssr-reads-zero': noSubsystemReset,
    'subsystem-reset': noSubsystemReset,
    'subsystem-reset-occurred-is-cleared-by-one': noSubsystemReset,
    'subsystem-reset-ends-a-shutdown': noSubsystemReset,
  },
}

/** What the simulator does not do yet: id, and what is missing. A case that begins to pass must leave this list. */
const notYet: Readonly<Record<string, string>> = {
  'reset-restores-features': 'Temperature Threshold is not built',
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

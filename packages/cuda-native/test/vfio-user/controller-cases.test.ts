import type { Transport } from '@gpunvme/nvme-spec/transport'
import { simulate } from '@gpunvme/nvme-sim'
import { controllerCases, runControllerCase } from '@gpunvme/nvme-sim/conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isBuilt, skipped } from '../native.js'
import { serve, type Served } from './served.js'

const namespaces = [{ capacityBytes: 32 * 1024 * 1024 }]

/** The limit is sufficient even on a busy machine. */
const options = { commandLimitNs: 20e9, timeRuns: true }

describe.runIf(isBuilt)(`controller cases over vfio-user${skipped}`, () => {
  let served: Served
  beforeAll(async () => {
    served = await serve(() => ({ namespaces }))
  })
  afterAll(() => served.close())

  // Each case is a new client of the same server, and finds the controller in the power-on state.
  const open = (): Promise<Transport> => served.open(16)

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      const result = await runControllerCase(each, open, options)
      if (result.outcome === 'skipped') {
        // vfio-user must not be the reason: the same controller without it must skip the case too.
        const virtual = await runControllerCase(
          each,
          () => Promise.resolve(simulate({ namespaces }).transport),
          options,
        )
        expect(result).toEqual(virtual)
        skip(result.reason)
      }
      if (result.outcome === 'failed') throw result.error
    })
  }
})

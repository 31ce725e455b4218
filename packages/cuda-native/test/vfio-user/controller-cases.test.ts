import type { Transport } from '@gpunvme/nvme-spec/transport'
import { simulate } from '@gpunvme/nvme-sim'
import { controllerCases, runControllerCase } from '@gpunvme/nvme-sim/conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isBuilt, skipped } from '../native.js'
import { serve, type Served } from './served.js'

const namespaces = [{ capacityBytes: 32 * 1024 * 1024 }]

/** No command takes that long, on however busy a machine. */
const options = { commandLimitNs: 20e9, timeRuns: true }

describe.runIf(isBuilt)(`the controller cases on a controller that is served to our own client${skipped}`, () => {
  let served: Served
  beforeAll(async () => {
    served = await serve(() => ({ namespaces }))
  })
  afterAll(() => served.close())

  // Each case is the next client of the same server, on a controller as after power on.
  const open = (): Promise<Transport> => served.open(16)

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      const result = await runControllerCase(each, open, options)
      if (result.outcome === 'skipped') {
        // The socket is no reason: the same controller in this thread skips it too.
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

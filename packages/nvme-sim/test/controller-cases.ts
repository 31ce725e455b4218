import { describe, expect, it } from 'vitest'
import { controllerCases, runControllerCase } from '../conformance/index.js'
import { simulate, type SimulationOptions } from '../src/index.js'

/** Cases that every simulated controller skips, with the reason. */
export const skippedByAll = {
  'identify-io-command-sets': 'CAP.CSS.IOCSS is 0',
  'feature-write-cache-absent': 'VWC bit 0 is 1: there is a write cache',
  'sgl-not-dword-aligned': 'SGLS bits 1:0 are 01b: any alignment',
  'deallocated-block-error': 'NSFEAT bit 2 is 0: no errors for deallocated blocks',
}

/** Runs every controller case on a simulated controller; exactly the cases in `skips` are skipped, for these reasons. */
export function describeControllerCases(
  name: string,
  options: SimulationOptions,
  skips: Readonly<Record<string, string>>,
): void {
  describe(`controller cases on the simulator, ${name}`, () => {
    const skipped: Record<string, string> = {}
    const open = () => Promise.resolve(simulate(options).transport)

    for (const each of controllerCases) {
      it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
        const result = await runControllerCase(each, open)
        if (result.outcome === 'skipped') {
          skipped[each.id] = result.reason
          skip(result.reason)
        }
        if (result.outcome === 'failed') throw result.error
      })
    }

    it('skips exactly the listed cases, for the listed reasons', () => {
      expect(skipped).toEqual(skips)
    })
  })
}

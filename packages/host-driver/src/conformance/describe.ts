import { driverCases } from './cases/index.js'
import type { OpenTransport } from './request.js'
import { runDriverCase, type DriverCaseOptions } from './run.js'

/** Cases, by their ids, and what is the matter with them. */
export interface ListedCases {
  readonly reason: string
  readonly cases: readonly string[]
}

/** Vitest, Jest and node:test have functions of this kind. */
export interface TestFramework {
  readonly describe: (name: string, body: () => void) => unknown
  readonly test: (name: string, body: (context: { skip: (reason?: string) => unknown }) => Promise<void>) => unknown
}

export interface DescribeOptions extends TestFramework, DriverCaseOptions {
  /** Not run. */
  readonly skip?: readonly ListedCases[]
  /** Run, and known to fail. One that passes has to leave the list: it fails the test. */
  readonly known?: readonly ListedCases[]
  /** Whether a case may find that the transport is not what it needs; it is skipped then, which is true when not given. */
  readonly mayRefuse?: boolean
}

/** A test for each driver case, on the transports that `open` gives. */
export function describeTransport(name: string, open: OpenTransport, options: DescribeOptions): void {
  const { describe, test, skip = [], known = [], mayRefuse = true } = options
  const reasonIn = (lists: readonly ListedCases[], id: string) => lists.find(({ cases }) => cases.includes(id))?.reason
  describe(`driver cases on ${name}`, () => {
    test('the lists name cases that exist, each once', () => {
      const listed = [...skip, ...known].flatMap(({ cases }) => cases)
      const wrong = listed.filter(
        (id, index) => !driverCases.some((each) => each.id === id) || listed.indexOf(id) < index,
      )
      return wrong.length === 0
        ? Promise.resolve()
        : Promise.reject(new Error(`there are not, or twice: ${wrong.join(', ')}`))
    })
    for (const each of driverCases) {
      test(`${each.id}: ${each.title} (${each.spec})`, async (context) => {
        const unwanted = reasonIn(skip, each.id)
        if (unwanted !== undefined) {
          context.skip(unwanted)
          return
        }
        const result = await runDriverCase(each, open, options)
        const difference = reasonIn(known, each.id)
        if (result.outcome === 'skipped') {
          if (!mayRefuse) throw new Error(`${each.id} was skipped: ${result.reason}`)
          context.skip(result.reason)
        } else if (difference === undefined) {
          if (result.outcome === 'failed') throw result.error
        } else if (result.outcome === 'passed') {
          throw new Error(`${each.id} passes, and is listed as known to fail: "${difference}"; take it from the list`)
        }
      })
    }
  })
}

import { driverCases } from './cases/index.js'
import type { OpenTransport } from './request.js'
import { runDriverCase, type DriverCaseOptions } from './run.js'

/** Ids of cases with the reason why they are listed. */
export interface ListedCases {
  readonly reason: string
  readonly cases: readonly string[]
}

/** Test functions as in Vitest, Jest and node:test. */
export interface TestFramework {
  /** Defines a group of tests. */
  readonly describe: (name: string, body: () => void) => unknown
  /** Defines a test. Its context has `skip`, which skips it. */
  readonly test: (name: string, body: (context: { skip: (reason?: string) => unknown }) => Promise<void>) => unknown
}

/** Options of `describeTransport`. */
export interface DescribeOptions extends TestFramework, DriverCaseOptions {
  /** Cases that are not run. */
  readonly skip?: readonly ListedCases[]
  /** Cases that must fail. A listed case that passes fails its test, so that the list stays current. */
  readonly known?: readonly ListedCases[]
  /** Whether cases may be skipped because the transport does not support them. Default: true. */
  readonly allowSkips?: boolean
}

/** Defines a test for each driver case, on transports from `open`. */
export function describeTransport(name: string, open: OpenTransport, options: DescribeOptions): void {
  const { describe, test, skip = [], known = [], allowSkips = true } = options
  const reasonIn = (lists: readonly ListedCases[], id: string) => lists.find(({ cases }) => cases.includes(id))?.reason
  describe(`driver cases on ${name}`, () => {
    test('the lists name cases that exist, each once', () => {
      const listed = [...skip, ...known].flatMap(({ cases }) => cases)
      const wrong = listed.filter(
        (id, index) => !driverCases.some((each) => each.id === id) || listed.indexOf(id) < index,
      )
      return wrong.length === 0
        ? Promise.resolve()
        : Promise.reject(new Error(`unknown or listed twice: ${wrong.join(', ')}`))
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
          if (!allowSkips) throw new Error(`${each.id} was skipped: ${result.reason}`)
          context.skip(result.reason)
        } else if (difference === undefined) {
          if (result.outcome === 'failed') throw result.error
        } else if (result.outcome === 'passed') {
          throw new Error(`${each.id} passes, but is listed as known to fail: "${difference}"; remove it from the list`)
        }
      })
    }
  })
}

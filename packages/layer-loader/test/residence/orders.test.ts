import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Residence, ResidentLease, ResidentModel } from '../../src/residence/index.js'
import { smallRig } from './small-rig.js'
import { turns } from './watched.js'

const LAYERS = 6
const names = Array.from({ length: LAYERS }, (_, index) => `layer ${index}`)

const plans = fc.record({
  places: fc.array(fc.constantFrom<Residence>('vram', 'ram', 'nvme'), { minLength: LAYERS, maxLength: LAYERS }),
  tier: fc.constantFrom(1 as const, 2 as const),
  slots: fc.record({ copies: fc.integer({ min: 1, max: 4 }), drive: fc.integer({ min: 1, max: 3 }) }),
})

const steps = fc.oneof(
  fc.record({ kind: fc.constant('adopt' as const), plan: plans }),
  fc.record({
    kind: fc.constant('pass' as const),
    skip: fc.subarray(names, { maxLength: LAYERS - 1 }),
    /** Layers after which the loop is left. */
    count: fc.integer({ min: 1, max: LAYERS }),
    /** Turns of the event loop after which the pass is aborted. */
    abortAfter: fc.option(fc.nat(12), { nil: undefined }),
    isLast: fc.boolean(),
    hold: fc.boolean(),
  }),
)
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

/** Turns of the event loop that a read or copy takes; a negative number: it fails. */
const delays = fc.infiniteStream(fc.integer({ min: -1, max: 20 }).map((turn) => (turn < 0 ? turn : turn % 5)))

test('any order of plans, passes, aborts, failures and closes hands out whole layers, and frees all memory', async () => {
  const { memory, copies, open, planFor } = await smallRig(names.map(() => 8192))
  const unhandled: unknown[] = []
  const listen = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', listen)
  onTestFinished(() => void process.off('unhandledRejection', listen))

  const run = async (model: ResidentModel, step: Step, held: Set<ResidentLease>) => {
    if (step.kind === 'adopt') {
      for (const lease of held) lease.release()
      held.clear()
      const { places, tier, slots } = step.plan
      return model.adopt(planFor(places, tier, slots))
    }
    const { skip, count, abortAfter, isLast, hold } = step
    const abort = new AbortController()
    if (abortAfter !== undefined) void turns(abortAfter).then(() => abort.abort(new Error('aborted')))
    const got: string[] = []
    for await (const layer of model.pass({ skip, isLast, signal: abort.signal })) {
      got.push(layer.name)
      // `verifiedOnGpu`: its bytes were compared with the image, or with a source that was.
      expect([layer.verified, layer.verifiedOnGpu]).toEqual([true, true])
      if (hold) held.add(layer)
      else layer.release()
      if (got.length === count) break
    }
    expect(got).toEqual(names.filter((name) => !skip.includes(name)).slice(0, count))
  }

  await fc.assert(
    fc.asyncProperty(
      plans,
      fc.array(steps, { maxLength: 6 }),
      delays,
      fc.nat(10),
      async (plan, order, taken, closeAfter) => {
        let inFlight = 0
        const wait = async (what: string) => {
          const value = taken.next().value as number
          if (value < 0) throw new Error(`the ${what} failed`)
          await turns(value)
        }
        memory.gate = async () => {
          inFlight++
          await wait('read').finally(() => inFlight--)
        }
        copies.gate = () => wait('copy')
        const held = new Set<ResidentLease>()
        let model: ResidentModel | undefined
        try {
          const { places, tier, slots } = plan
          model = await open(planFor(places, tier, slots), { withoutGpu: true })
          for (const step of order) await run(model, step, held).catch(refuseUnexpected)
          const last = run(
            model,
            { kind: 'pass', skip: [], count: LAYERS, abortAfter: undefined, isLast: false, hold: false },
            held,
          )
          await Promise.race([last.catch(refuseUnexpected), turns(closeAfter)])
          await Promise.all([model.close(), model.close(), last.catch(refuseUnexpected)])
        } catch (error) {
          refuseUnexpected(error)
        }
        for (const lease of held) expect(lease.released).toBe(true)
        expect([memory.allocatedBytes, inFlight, copies.allocated.size]).toEqual([0, 0, 0])
        expect([...copies.problems, ...unhandled]).toEqual([])
      },
    ),
    { numRuns: 150, endOnFailure: true },
  )
}, 120_000)

/** Rethrows errors that no step may have. */
function refuseUnexpected(error: unknown): void {
  const known =
    /^(the (read|copy) failed|aborted|No free slot|No pass is possible|The model was closed|adopt: expected no pass)/
  if (!(error instanceof Error && known.test(error.message))) throw error
}

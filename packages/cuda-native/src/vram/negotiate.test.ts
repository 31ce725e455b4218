import { describe, expect, it, test } from 'vitest'
import { negotiateTier, type TierRequest } from './negotiate.js'
import type { ProbeVerdict } from './probe-verdict.js'
import { VramRefusedError, type VramProvider } from './provider.js'

const provider = (name: string): VramProvider => ({
  name,
  map: () => ({ segments: [], release: () => undefined }),
})
const candidate = (name: string) => ({ name, open: () => provider(name) })
const refusing = (name: string) => ({
  name,
  open: () => {
    throw new VramRefusedError({ provider: name, reason: 'window-disabled', found: 'the driver has no window' })
  },
})
const accepted: ProbeVerdict = { isAccepted: true, facts: ['every byte as it should be'] }
const refused: ProbeVerdict = { isAccepted: false, reason: 'nothing-arrived', message: 'nothing arrived', facts: ['a'] }

/** Negotiates on a machine that supports everything except for `changes`; also returns the probed providers. */
async function negotiate(changes: Partial<TierRequest> = {}) {
  const probed: string[] = []
  const result = await negotiateTier({
    maxTier: 2,
    can: { gpuRing: true, gpuRead: false, dmaToVram: true },
    ordering: { writesOrdering: 100, flushWritesOptions: 1 },
    providers: [candidate('one'), candidate('other')],
    ...changes,
    probe: (given, flush) => {
      probed.push(given.name)
      return changes.probe?.(given, flush) ?? Promise.resolve(accepted)
    },
  })
  return { ...result, probed, codes: result.reasons.map(({ tier, code, provider }) => [tier, code, provider]) }
}

it('memory whose content was verified is accepted from the first provider', async () => {
  const { tier, memory, codes, probed } = await negotiate()
  expect([tier, memory?.provider.name, codes, probed]).toEqual([2, 'one', [], ['one']])
  expect(memory?.facts).toEqual(['every byte as it should be'])
})

it('tier 1 needs nothing, and is not probed', async () => {
  expect(await negotiate({ maxTier: 1 })).toMatchObject({ tier: 1, codes: [], probed: [] })
})

describe('the tier is 1, with a reason and without a probe, if', () => {
  test('the controller cannot access GPU memory', async () => {
    const can = { gpuRing: true, gpuRead: true, dmaToVram: false }
    expect(await negotiate({ can })).toMatchObject({ tier: 1, codes: [[2, 'transport', undefined]], probed: [] })
  })

  test('it is unknown whether data are visible at their completion', async () => {
    const { tier, codes, probed, memory } = await negotiate({ ordering: undefined })
    expect([tier, codes, probed, memory]).toEqual([1, [[2, 'ordering-unknown', undefined]], [], undefined])
  })

  test('the GPU requires a flush and none is given', async () => {
    const { tier, reasons } = await negotiate({ ordering: { writesOrdering: 0, flushWritesOptions: 1 } })
    expect(tier).toBe(1)
    expect(reasons[0]).toMatchObject({ code: 'flush-missing', facts: ['writes ordering 0, flush options 1'] })
  })

  test('there is no provider of GPU memory', async () => {
    expect(await negotiate({ providers: [] })).toMatchObject({ tier: 1, codes: [[2, 'no-provider', undefined]] })
  })
})

it('a required flush is passed to the probe, and returned with the memory', async () => {
  const flush = () => undefined
  let given: unknown
  const probe = (_: VramProvider, flushing: unknown) => {
    given = flushing
    return Promise.resolve(accepted)
  }
  const { memory } = await negotiate({ ordering: { writesOrdering: 0, flushWritesOptions: 1 }, flush, probe })
  expect([given, memory?.flush]).toEqual([flush, flush])
})

it('providers are tried in order, and the failures of earlier ones are reported', async () => {
  const { tier, memory, codes } = await negotiate({
    providers: [refusing('dma-buf'), candidate('window'), candidate('third')],
    probe: ({ name }) => Promise.resolve(name === 'window' ? refused : accepted),
  })
  expect([tier, memory?.provider.name]).toEqual([2, 'third'])
  expect(codes).toEqual([
    [2, 'window-disabled', 'dma-buf'],
    [2, 'nothing-arrived', 'window'],
  ])
})

it('if every provider fails, the tier is 1, with all reasons', async () => {
  const quarantined = {} as never
  const { tier, memory, codes, reasons } = await negotiate({
    providers: [refusing('dma-buf'), candidate('window')],
    probe: () => Promise.resolve({ ...refused, next: 'try another slot', quarantined }),
  })
  expect([tier, memory]).toEqual([1, undefined])
  expect(codes).toEqual([
    [2, 'window-disabled', 'dma-buf'],
    [2, 'nothing-arrived', 'window'],
  ])
  expect(reasons[1]).toMatchObject({ message: 'nothing arrived', facts: ['a'], next: 'try another slot' })
  expect(reasons[1]!.quarantined).toBe(quarantined)
})

describe('queues in GPU memory, tier 3', () => {
  it('are not used without permission to read GPU memory', async () => {
    const { tier, codes, reasons } = await negotiate({ maxTier: 3 })
    expect([tier, codes]).toEqual([2, [[3, 'peer-reads-not-allowed', undefined]]])
    expect(reasons[0]!.next).toMatch(/losing the drive/)
  })

  it('are used if reading is allowed and its probe succeeds', async () => {
    const probe = () => Promise.resolve({ isAccepted: true, facts: ['told apart'] } as const)
    const { tier, memory, codes } = await negotiate({ maxTier: 3, peerReads: { probe } })
    expect([tier, codes, memory?.facts]).toEqual([3, [], ['every byte as it should be', 'told apart']])
  })

  it('are not used if reading is allowed but its probe fails', async () => {
    const { tier, codes, memory } = await negotiate({
      maxTier: 3,
      peerReads: { probe: () => Promise.resolve(refused) },
    })
    expect([tier, codes]).toEqual([2, [[3, 'nothing-arrived', 'one']]])
    expect(memory?.provider.name).toBe('one')
  })

  it('are the only reason for reads, which follow successful writes', async () => {
    const peerReads = { probe: () => Promise.reject(new TypeError('GPU memory was read')) }
    expect((await negotiate({ maxTier: 2, peerReads })).tier).toBe(2)
    const probe = () => Promise.resolve(refused)
    expect((await negotiate({ maxTier: 3, peerReads, probe })).tier).toBe(1)
  })
})

it('a program error in a probe is thrown, not reported as a reason', async () => {
  const probe = () => Promise.reject(new TypeError('lengthBytes: expected a number'))
  await expect(negotiate({ probe })).rejects.toThrow(TypeError)
})

it('a tier below the requested one always has a reason', async () => {
  const verdicts = [accepted, refused]
  for (const maxTier of [1, 2, 3] as const)
    for (const dmaToVram of [true, false])
      for (const ordering of [
        undefined,
        { writesOrdering: 0, flushWritesOptions: 0 },
        { writesOrdering: 200, flushWritesOptions: 0 },
      ])
        for (const providers of [[], [refusing('one')], [candidate('one')], [refusing('one'), candidate('two')]])
          for (const verdict of verdicts)
            for (const peerReads of [undefined, ...verdicts.map((each) => ({ probe: () => Promise.resolve(each) }))]) {
              const probe = () => Promise.resolve(verdict)
              const can = { gpuRing: false, gpuRead: false, dmaToVram }
              const more = peerReads === undefined ? {} : { peerReads }
              const { tier, memory, reasons } = await negotiate({ maxTier, can, ordering, providers, probe, ...more })
              expect(tier).toBeLessThanOrEqual(maxTier)
              expect(tier > 1).toBe(memory !== undefined)
              if (tier < maxTier) expect(reasons.some((reason) => reason.tier === tier + 1)).toBe(true)
            }
})

import { NotApplicable } from '@gpunvme/nvme-sim/case-kit'
import { expect, it } from 'vitest'
import { runScenario, type Scenario, hostDriver as driver, type DriverUnderTest } from '../../dst/index.js'

const MS = 1_000_000

const base: Scenario = {
  seed: 1,
  controller: {
    profile: 'ideal',
    maxEntries: 100,
    dstrd: 0,
    mpsmin: 0,
    mdts: 5,
    ioQueuePairs: 2,
    fragmented: false,
  },
  namespaces: [{ nsid: 3, blockBytes: 512, blocks: 259 }],
  options: {
    queues: 1,
    queueDepth: 2,
    maxTransferBytes: 65536,
    readyTimeoutNs: 200 * MS,
    commandTimeoutNs: 100 * MS,
    recovery: { abortNs: 10 * MS, queuesNs: 200 * MS, restartNs: 100 * MS },
  },
  timeoutNs: 20 * MS,
  inside: { rules: [] },
  boundary: { rules: [] },
  watches: false,
  steps: [],
}

/** Another host shrinks the namespace, and the completion of the following Identify has a wrong identifier. */
const unknownSize: Scenario = {
  ...base,
  inside: {
    rules: [
      {
        match: { register: 'SQyTDBL', qid: 1, nth: 1 },
        action: { kind: 'resize-namespace', nsid: 3, blocks: 158 },
      },
      { match: { qid: 0, nth: 16, times: 1 }, action: { kind: 'corrupt-cid', xor: 0xb340 } },
    ],
  },
}

/** Another host shrinks the namespace, and the following Identify ends with an error that says not to repeat it. */
const refusedIdentify: Scenario = {
  ...base,
  inside: {
    rules: [
      unknownSize.inside.rules[0]!,
      { match: { qid: 0, nth: 16, times: 1 }, action: { kind: 'status', sct: 0, sc: 0x04, dnr: true } },
    ],
  },
}

/** Seed 440394, cut down: another host shrinks the namespace, and detaches it before it is identified again. */
const emptied: Scenario = {
  ...base,
  controller: { ...base.controller, maxEntries: 16, dstrd: 0, mdts: 5 },
  namespaces: [{ nsid: 1, blockBytes: 4096, blocks: 188 }],
  options: {
    ...base.options,
    queueDepth: 3,
    completionQueues: 1,
    maxTransferBytes: 1_048_576,
    recovery: { abortNs: 10 * MS, queuesNs: 200 * MS, restartNs: 400 * MS },
  },
  timeoutNs: 50 * MS,
  inside: {
    rules: [
      { match: { register: 'SQyTDBL', nth: 10, qid: 0 }, action: { kind: 'resize-namespace', nsid: 1, blocks: 41 } },
      { match: { qid: 1, nth: 7 }, action: { kind: 'detach-namespace', nsid: 1 } },
    ],
  },
  steps: [
    plan('write', 4, [150, 1], [44, 22]),
    { ...plan('read', 5, [99, 19], [19, 11]), abortAfterNs: 60 * MS },
    { ...plan('read', 7, [180, 1], [72, 20], [127, 2], [144, 3]), shiftBytes: 2388 },
  ],
}

function plan(operation: 'read' | 'write', salt: number, ...extents: readonly [slba: number, blocks: number][]) {
  return {
    do: 'plan',
    operation,
    nsid: 1,
    extents: extents.map(([slba, blocks]) => ({ slba, blocks })),
    shiftBytes: 0,
    salt,
  } as const
}

/** The write of CC.EN is delayed and reaches a controller that was reset after AQA was written. */
const lateEnable: Scenario = {
  ...base,
  inside: {
    rules: [{ match: { register: 'CSTS', access: 'read', nth: 2 }, action: { kind: 'surprise-reset' } }],
  },
  boundary: {
    rules: [
      {
        match: { register: 'CC', access: 'write', nth: 2, every: 1, times: 2 },
        action: { kind: 'delay-write', delayNs: 120 * MS },
      },
    ],
  },
}

/** The write of a tail is delayed inside the controller, and `faulty` removes the device before it arrives. */
const lateDoorbell: Scenario = {
  ...base,
  options: { ...base.options, queueDepth: 1, maxTransferBytes: 4096 },
  inside: {
    rules: [{ match: { register: 'CQyHDBL', qid: 1, nth: 1 }, action: { kind: 'delay-write', delayNs: 5 * MS } }],
  },
  boundary: { rules: [{ match: { atNs: 4 * MS }, action: { kind: 'remove-device' } }] },
}

it('gives the driver one command timeout to detect a lost completion before it must write again', async () => {
  const { injected, failure } = await runScenario(unknownSize, driver)
  expect(injected).toEqual({ 'resize-namespace': 1, 'corrupt-cid': 1 })
  expect(failure?.message).toBeUndefined()
})

it('expects the driver to identify a smaller namespace again after LBA Out of Range', async () => {
  const { injected, failure } = await runScenario(refusedIdentify, driver)
  expect(injected).toEqual({ 'resize-namespace': 1, status: 1 })
  expect(failure?.message).toBeUndefined()
})

it('does not require a write to a namespace that was detached, and identified since as one without blocks', async () => {
  const { injected, failure } = await runScenario(emptied, driver)
  expect(injected).toEqual({ 'resize-namespace': 1, 'detach-namespace': 1 })
  expect(failure?.message).toBeUndefined()
})

it('does not blame the driver for a reset between its write of AQA and a delayed write of CC', async () => {
  const { injected, failure } = await runScenario(lateEnable, driver)
  expect(Object.keys(injected).sort()).toEqual(['delay-write', 'surprise-reset'])
  expect(failure?.message).toBeUndefined()
})

it('does not blame the driver for a delayed doorbell write that arrives after the removal', async () => {
  const { injected, failure } = await runScenario(lateDoorbell, driver)
  expect(Object.keys(injected).sort()).toEqual(['delay-write', 'remove-device'])
  expect(failure?.message).toBeUndefined()
})

it('skips a scenario with unsupported options, and checks a driver without plans by single calls', async () => {
  const scenario = {
    ...base,
    namespaces: emptied.namespaces,
    steps: [plan('write', 4, [10, 40], [0, 3]), plan('read', 0, [8, 6]), { do: 'read', nsid: 1, slba: 0, blocks: 16 }],
  }
  const none = { open: () => Promise.reject(new NotApplicable('it has no such options')) }
  expect(await runScenario(scenario as Scenario, none)).toMatchObject({ failure: undefined, isApplicable: false })
  const single: DriverUnderTest = {
    async open(transport, options) {
      const ctrl = await driver.open(transport, options)
      const namespaces = ctrl.namespaces.map((ns) => {
        const { nsid, blocks, blockBytes, dma } = ns
        return { nsid, blocks, blockBytes, dma, read: ns.read.bind(ns), write: ns.write.bind(ns) }
      })
      return { namespaces, close: () => ctrl.close() }
    },
  }
  const { failure, isApplicable, completions } = await runScenario(scenario as Scenario, single)
  expect({ failure, isApplicable, completions }).toEqual({ failure: undefined, isApplicable: true, completions: 6 })
  const forgetful: DriverUnderTest = {
    async open(transport, options) {
      const { namespaces, close } = await single.open(transport, options)
      return { namespaces: namespaces.map((ns) => ({ ...ns, write: () => Promise.resolve() })), close }
    },
  }
  expect((await runScenario(scenario as Scenario, forgetful)).failure?.assertion).toBe('data')
})

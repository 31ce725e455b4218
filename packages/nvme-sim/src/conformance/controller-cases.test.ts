import { describe, expect, it } from 'vitest'
import { zeroBased } from '@gpunvme/nvme-spec'
import { deriveProfile, simulate, type SimulationOptions } from '../index.js'
import { controllerCases, runControllerCase } from './index.js'

const noSubsystemReset = 'CAP.NSSRS is 0: no NVM Subsystem Reset'
const noWeights = 'CAP.AMS: no weighted round robin with urgent priority class'
const fewPairs = '3 I/O queue pairs, and 4 are needed'

/** What no controller here says of itself. */
const ofNone = {
  'identify-io-command-sets': 'CAP.CSS.IOCSS is 0',
  'feature-write-cache-absent': 'VWC bit 0 is 1: there is a write cache',
  'sgl-not-dword-aligned': 'SGLS bits 1:0 are 01b: any alignment',
  'deallocated-block-error': 'NSFEAT bit 2 is 0: no such error',
}

const version1 = 'VS is 1.4, and this is required from 2.0 on'

/** What takes more than one namespace, or room for one. */
const ofOneNamespace = {
  'identify-inactive-namespace': 'every valid NSID is active',
  'rw-namespace-inactive': 'every valid NSID is active',
  'rw-each-namespace': 'there is one namespace without metadata',
  'rw-metadata-separate': 'no namespace has metadata in a buffer of its own',
  'rw-metadata-extended': 'no namespace has extended blocks',
  'namespace-life': 'there is no unallocated capacity',
  'namespace-attachment-outlives-a-reset': 'there is no unallocated capacity',
  'namespace-attachment-refusals': 'there is no unallocated capacity',
  'namespace-changes-are-listed': 'there is no unallocated capacity',
}

/** Doorbells far apart, memory pages of 8 KiB, blocks of 4096 bytes, few and small queues. */
const odd: SimulationOptions = {
  profile: deriveProfile('ideal', { CAP: { DSTRD: 3, MPSMIN: 1, MQES: zeroBased(100) }, ioQueuePairs: 3 }),
  namespaces: [{ capacityBytes: 32 * 1024 * 1024, blockBytes: 4096 }],
}

const controllers: Readonly<Record<string, SimulationOptions>> = {
  // Namespaces of every kind, and NSID 3 is inactive.
  ideal: {
    spareCapacityBytes: 4 * 1024 * 1024,
    namespaces: [
      { capacityBytes: 32 * 1024 * 1024 },
      { nsid: 2, capacityBytes: 4 * 1024 * 1024, blockBytes: 4096 },
      { nsid: 4, capacityBytes: 4 * 1024 * 1024, metadataBytes: 8 },
      { nsid: 5, capacityBytes: 4 * 1024 * 1024, metadataBytes: 64, extendedLba: true },
    ],
  },
  sn740: { profile: 'sn740', namespaces: [{ capacityBytes: 32 * 1024 * 1024 }] },
  odd,
}

/** Cases that these controllers need not pass: id and reason. */
const skips: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ideal: ofNone,
  sn740: {
    ...ofNone,
    ...ofOneNamespace,
    'identify-broadcast-namespace': version1,
    'identify-command-set-controller': version1,
    'identify-command-set-namespace': version1,
    'logs-supported-are-those-that-answer': version1,
    'features-log-agrees': version1,
    'weighted-round-robin-serves-all': noWeights,
    'urgent-commands-first': noWeights,
    'weights-share-the-controller': noWeights,
    'largest-memory-page': 'CAP.MPSMAX equals CAP.MPSMIN: there is one page size',
    'nssr-reads-zero': noSubsystemReset,
    'subsystem-reset': noSubsystemReset,
    'subsystem-reset-occurred-is-cleared-by-one': noSubsystemReset,
    'subsystem-reset-ends-a-shutdown': noSubsystemReset,
  },
  odd: {
    ...ofNone,
    ...ofOneNamespace,
    'rw-offset-in-page': 'blocks of 4096 bytes do not fit into half a page',
    'many-sqs-on-one-cq': fewPairs,
    'queue-priority-without-weights': fewPairs,
    'weighted-round-robin-serves-all': fewPairs,
    'urgent-commands-first': fewPairs,
    'weights-share-the-controller': fewPairs,
    'io-queues-of-many-pages': 'CAP.MQES allows 100 entries',
  },
}

/** What the simulator does not do yet: id, and what is missing. A case that begins to pass must leave this list. */
const notYet: Readonly<Record<string, string>> = {}

describe.each(Object.entries(controllers))('the controller cases on the simulator, %s', (name, options) => {
  const skipped: Record<string, string> = {}
  const open = () => Promise.resolve(simulate(options).transport)

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
    expect(skipped).toEqual(skips[name])
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

import { zeroBased } from '@gpunvme/nvme-spec'
import { describeControllerCases, skippedByAll } from '../test/controller-cases.js'
import { deriveProfile } from '../src/index.js'

// Controllers that controller-cases.test.ts does not cover. In the slow list, which CI leaves out.

const MIB = 1024 * 1024

const noSubsystemReset = 'CAP.NSSRS is 0: no NVM Subsystem Reset'
const noWeights = 'CAP.AMS: no weighted round robin with urgent priority class'
const fewPairs = '4 I/O queue pairs are needed, got 3'

const version1 = 'VS is 1.4, the requirement applies from 2.0 on'

/** Cases that need more than one namespace, or unallocated capacity. */
const ofOneNamespace = {
  'identify-inactive-namespace': 'every valid NSID is active',
  'rw-namespace-inactive': 'every valid NSID is active',
  'rw-each-namespace': 'there is only one namespace without metadata',
  'rw-metadata-separate': 'no namespace has metadata in a separate buffer',
  'rw-metadata-extended': 'no namespace has extended blocks',
  'namespace-life': 'there is no unallocated capacity',
  'namespace-attachment-outlives-a-reset': 'there is no unallocated capacity',
  'namespace-attachment-refusals': 'there is no unallocated capacity',
  'namespace-changes-are-listed': 'there is no unallocated capacity',
}

describeControllerCases(
  'sn740',
  { profile: 'sn740', namespaces: [{ capacityBytes: 32 * MIB }] },
  {
    ...skippedByAll,
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
)

// Doorbells far apart, memory pages of 8 KiB, blocks of 4096 bytes, few and small queues.
describeControllerCases(
  'odd',
  {
    profile: deriveProfile('ideal', { CAP: { DSTRD: 3, MPSMIN: 1, MQES: zeroBased(100) }, ioQueuePairs: 3 }),
    namespaces: [{ capacityBytes: 32 * MIB, blockBytes: 4096 }],
  },
  {
    ...skippedByAll,
    ...ofOneNamespace,
    'rw-offset-in-page': 'blocks of 4096 bytes do not fit into half a page',
    'many-sqs-on-one-cq': fewPairs,
    'queue-priority-without-weights': fewPairs,
    'weighted-round-robin-serves-all': fewPairs,
    'urgent-commands-first': fewPairs,
    'weights-share-the-controller': fewPairs,
    'io-queues-of-many-pages': 'CAP.MQES allows 100 entries',
  },
)

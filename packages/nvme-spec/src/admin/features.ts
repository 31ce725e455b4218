import { adminCommand, cdw, cdwBit } from '../layout/command.js'
import { countOf, type ZeroBased } from '../layout/zero-based.js'

/** Feature Identifiers (Base 2.1 §5.1.25, Figure 385; those of the NVM Command Set in NVM 1.2 §4.1.3). */
export const FID = {
  ARBITRATION: 0x01,
  POWER_MANAGEMENT: 0x02,
  TEMPERATURE_THRESHOLD: 0x04,
  VOLATILE_WRITE_CACHE: 0x06,
  NUMBER_OF_QUEUES: 0x07,
  INTERRUPT_COALESCING: 0x08,
  INTERRUPT_VECTOR_CONFIGURATION: 0x09,
  WRITE_ATOMICITY_NORMAL: 0x0a,
  ASYNCHRONOUS_EVENT_CONFIGURATION: 0x0b,
} as const

export const SetFeatures = adminCommand(
  'Set Features',
  { opcode: 0x09, doc: 'Sets the value of a feature', spec: 'Base 2.1 §5.1.25' },
  {
    FID: cdw(10, 7, 0, 'Feature Identifier'),
    SV: cdwBit(10, 31, 'Save'),
    CDW11: cdw(11, 31, 0, 'Feature specific'),
    CDW12: cdw(12, 31, 0, 'Feature specific'),
    CDW13: cdw(13, 31, 0, 'Feature specific'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
    CDW15: cdw(15, 31, 0, 'Feature specific'),
  },
)

export const GetFeatures = adminCommand(
  'Get Features',
  { opcode: 0x0a, doc: 'Returns the value of a feature in DW0 of the completion', spec: 'Base 2.1 §5.1.11' },
  {
    FID: cdw(10, 7, 0, 'Feature Identifier'),
    SEL: cdw(10, 10, 8, 'Select', { CURRENT: 0, DEFAULT: 1, SAVED: 2, SUPPORTED: 3 }),
    CDW11: cdw(11, 31, 0, 'Feature specific'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
  },
)

/**
 * Number of Queues (FID 07h): how many I/O submission and completion queues are asked for in CDW11 of Set Features,
 * and how many are allocated in DW0 of the completion. Both are 0's based, and both may differ (Base 2.1 §5.1.25.2.1).
 */
export const numberOfQueues = {
  /** @throws RangeError for more than the 65,536 queues that 16 bits hold. */
  encode: (submissionQueues: ZeroBased, completionQueues: ZeroBased): number => {
    for (const queues of [submissionQueues, completionQueues]) {
      if ((queues & 0xffff) !== queues) {
        throw new RangeError(`Number of Queues: expected 1 to 65536 queues, got ${countOf(queues)}`)
      }
    }
    return submissionQueues + completionQueues * 0x1_0000
  },
  decode: (dword: number): { submissionQueues: ZeroBased; completionQueues: ZeroBased } => ({
    submissionQueues: (dword & 0xffff) as ZeroBased,
    completionQueues: (dword >>> 16) as ZeroBased,
  }),
} as const

import { codes } from '../layout/codes.js'
import { adminCommand, cdw, cdwBit, cdwOpen } from '../layout/command.js'

/** Feature Identifiers (Base 2.1 §5.1.25, Figure 385; those of the NVM Command Set in NVM 1.2 §4.1.3). */
export const FID = codes(
  'FID',
  { doc: 'Feature Identifiers', spec: 'Base 2.1 §5.1.25' },
  {
    ARBITRATION: 0x01,
    POWER_MANAGEMENT: 0x02,
    TEMPERATURE_THRESHOLD: 0x04,
    VOLATILE_WRITE_CACHE: 0x06,
    NUMBER_OF_QUEUES: 0x07,
    INTERRUPT_COALESCING: 0x08,
    INTERRUPT_VECTOR_CONFIGURATION: 0x09,
    WRITE_ATOMICITY_NORMAL: 0x0a,
    ASYNCHRONOUS_EVENT_CONFIGURATION: 0x0b,
  },
)

/** Sets the value of a feature; the rows of Command Dwords 11 to 15 are those of the feature (Base 2.1 §5.1.25). */
export const SetFeatures = adminCommand(
  'Set Features',
  { opcode: 0x09, doc: 'Sets the value of a feature', spec: 'Base 2.1 §5.1.25' },
  {
    FID: cdwOpen(10, 7, 0, 'Feature Identifier', FID.values),
    SV: cdwBit(10, 31, 'Save'),
    CDW11: cdw(11, 31, 0, 'Feature specific'),
    CDW12: cdw(12, 31, 0, 'Feature specific'),
    CDW13: cdw(13, 31, 0, 'Feature specific'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
    CDW15: cdw(15, 31, 0, 'Feature specific'),
  },
)

/** Returns the value of a feature in Dword 0 of the completion, or as data (Base 2.1 §5.1.11). */
export const GetFeatures = adminCommand(
  'Get Features',
  { opcode: 0x0a, doc: 'Returns the value of a feature in DW0 of the completion', spec: 'Base 2.1 §5.1.11' },
  {
    FID: cdwOpen(10, 7, 0, 'Feature Identifier', FID.values),
    SEL: cdw(10, 10, 8, 'Select', { CURRENT: 0, DEFAULT: 1, SAVED: 2, SUPPORTED: 3 }),
    CDW11: cdw(11, 31, 0, 'Feature specific'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
  },
)

import { cdwBit, cdwCount, n64, nvmCommand, struct, u32 } from '../layout/index.js'
import { contextAttributes } from './io-words.js'

/** Describes the use of ranges of logical blocks, or deallocates them (NVM 1.2 §3.3.3, Figures 43 to 45). */
export const DatasetManagement = nvmCommand(
  'Dataset Management',
  { opcode: 0x09, doc: 'Attributes of ranges of logical blocks', spec: 'NVM 1.2 §3.3.3' },
  {
    NR: cdwCount(10, 7, 0, 'Number of Ranges'),
    IDR: cdwBit(11, 0, 'Attribute: Integral Dataset for Read'),
    IDW: cdwBit(11, 1, 'Attribute: Integral Dataset for Write'),
    AD: cdwBit(11, 2, 'Attribute: Deallocate'),
  },
)

/** One of up to 256 ranges, the data of Dataset Management (NVM 1.2 §3.3.3, Figures 46 and 47). */
export const DatasetManagementRange = struct(
  'Dataset Management Range',
  { bytes: 16, doc: 'A range of logical blocks with attributes', spec: 'NVM 1.2 §3.3.3' },
  {
    CATTR: u32(0, 'Context Attributes', contextAttributes),
    LLB: u32(4, 'Length in Logical Blocks'),
    SLBA: n64(8, 'Starting LBA'),
  },
)

import { bits, count, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Arbitration (FID 01h): number of commands fetched at a time, and queue weights (Base 2.1 Figure 386). */
export const Arbitration = feature(
  'Arbitration',
  { fid: FID.ARBITRATION, doc: 'Command arbitration', spec: 'Base 2.1 §5.1.25.1.1' },
  {
    CDW11: {
      AB: bits(2, 0, 'Arbitration Burst: 2 ^ n commands; 7 means no limit'),
      LPW: count(15, 8, 'Low Priority Weight'),
      MPW: count(23, 16, 'Medium Priority Weight'),
      HPW: count(31, 24, 'High Priority Weight'),
    },
  },
)

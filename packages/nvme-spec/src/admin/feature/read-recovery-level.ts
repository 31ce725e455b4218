import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Read Recovery Level Config (FID 12h) of an NVM Set (Base 2.1 Figures 400 and 401). */
export const ReadRecoveryLevelConfig = feature(
  'Read Recovery Level Config',
  { fid: FID.READ_RECOVERY_LEVEL_CONFIG, doc: 'Read recovery of an NVM Set', spec: 'Base 2.1 §5.1.25.1.11' },
  {
    CDW11: { NVMSETID: bits(15, 0, 'NVM Set Identifier') },
    CDW12: { RRL: bits(3, 0, 'Read Recovery Level') },
    DW0: { RRL: bits(3, 0, 'Read Recovery Level') },
  },
)

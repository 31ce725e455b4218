import { FID } from '../../admin/features.js'
import { bits, feature } from '../../layout/index.js'

/**
 * LBA Status Information Attributes (FID 15h, called LBA Status Information Report Interval in Figure 91): interval for
 * querying potentially unrecoverable blocks (NVM 1.2 §4.1.3.5, Figure 99).
 */
export const LbaStatusInformationAttributes = feature(
  'LBA Status Information Attributes',
  { fid: FID.LBA_STATUS_INFORMATION_ATTRIBUTES, doc: 'Intervals of LBA status reports', spec: 'NVM 1.2 §4.1.3.5' },
  {
    CDW11: {
      LSIRI: bits(15, 0, 'LBA Status Information Report Interval in 100 ms'),
      LSIPI: bits(31, 16, 'LBA Status Information Poll Interval in 100 ms'),
    },
  },
)

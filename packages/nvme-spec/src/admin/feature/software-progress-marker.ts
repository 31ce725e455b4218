import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Software Progress Marker (FID 80h): how often an OS was not reached (Base 2.1 Figure 436). */
export const SoftwareProgressMarker = feature(
  'Software Progress Marker',
  { fid: FID.SOFTWARE_PROGRESS_MARKER, doc: 'How far booting came', spec: 'Base 2.1 §5.1.25.1.27' },
  { CDW11: { PBSLC: bits(7, 0, 'Pre-boot Software Load Count') } },
)

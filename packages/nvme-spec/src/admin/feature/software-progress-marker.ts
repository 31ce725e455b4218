import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Software Progress Marker (FID 80h): number of boots that did not reach an OS (Base 2.1 Figure 436). */
export const SoftwareProgressMarker = feature(
  'Software Progress Marker',
  { fid: FID.SOFTWARE_PROGRESS_MARKER, doc: 'Progress of booting', spec: 'Base 2.1 §5.1.25.1.27' },
  { CDW11: { PBSLC: bits(7, 0, 'Pre-boot Software Load Count') } },
)

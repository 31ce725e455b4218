import { IDENTIFY_BYTES } from '../admin/identify.js'
import { bit, count8, struct, structs, u32, u64 } from '../layout/index.js'

/** An entry of the Namespace Granularity List; 0 means not reported (NVM 1.2 §4.1.5.8, Figure 124). */
export const NamespaceGranularity = struct(
  'Namespace Granularity Descriptor',
  { bytes: 16, doc: 'Preferred granularity of a new namespace', spec: 'NVM 1.2 §4.1.5.8' },
  {
    NSG: u64(0, 'Namespace Size Granularity in bytes'),
    NCG: u64(8, 'Namespace Capacity Granularity in bytes'),
  },
)

/** Returned by CNS 16h (NVM 1.2 §4.1.5.8, Figure 123). */
export const NamespaceGranularityList = struct(
  'Namespace Granularity List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 64 granularities', spec: 'NVM 1.2 §4.1.5.8' },
  {
    NGA: u32(0, 'Namespace Granularity Attributes', { GDM: bit(0, 'Granularity Descriptor Mapping') }),
    ND: count8(4, 'Number of Descriptors'),
    NGD: structs(32, 64, NamespaceGranularity, 'One for each LBA format, or one for all'),
  },
)

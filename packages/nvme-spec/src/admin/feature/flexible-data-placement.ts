import { bit, bits, feature, struct, u8 } from '../../layout/index.js'
import { FID } from '../features.js'

const placement = {
  FDPE: bit(0, 'Flexible Data Placement Enable'),
  // libnvme masks four of these bits; later Linux drivers treat the byte as one field.
  FDPCIDX: bits(15, 8, 'Flexible Data Placement Configuration Index'),
}

/** Flexible Data Placement (FID 1Dh): of an Endurance Group (NVME_FEAT_FDP_ENABLED_SHIFT and the one below). */
export const FlexibleDataPlacement = feature(
  'Flexible Data Placement',
  {
    fid: FID.FLEXIBLE_DATA_PLACEMENT,
    doc: 'Flexible Data Placement of an Endurance Group',
    spec: 'libnvme 1.3 NVME_FEAT_FDP_INDEX_SHIFT',
  },
  { CDW11: { ENDGID: bits(15, 0, 'Endurance Group Identifier') }, CDW12: placement, DW0: placement },
)

/** An entry of the list that Get Features returns for Flexible Data Placement Events (Base 2.1 Figures 421 and 422). */
export const SupportedFdpEvent = struct(
  'Supported FDP Event Descriptor',
  { bytes: 2, doc: 'A type of FDP event and whether it is enabled', spec: 'Base 2.1 §5.1.25.1.21' },
  {
    FDPET: u8(0, 'FDP Event Type'),
    FDPETA: u8(1, 'FDP Event Type Attributes', { FDPEE: bit(0, 'FDP Event Enable') }),
  },
)

/** Flexible Data Placement Events (FID 1Eh) of a Reclaim Unit Handle; Set Features takes event types, one byte each. */
export const FlexibleDataPlacementEvents = feature(
  'Flexible Data Placement Events',
  {
    fid: FID.FLEXIBLE_DATA_PLACEMENT_EVENTS,
    doc: 'FDP events of a Reclaim Unit Handle',
    spec: 'libnvme 1.3 nvme_feat_fdp_events_cdw11',
    data: SupportedFdpEvent,
  },
  {
    CDW11: { PHNDL: bits(15, 0, 'Placement Handle'), NOET: bits(23, 16, 'Number of FDP Event Types') },
    CDW12: { FDPEE: bit(0, 'FDP Event Enable') },
    // Number of descriptors that follow; the page that names the row was not read.
    DW0: {},
  },
)

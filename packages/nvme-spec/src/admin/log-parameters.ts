import { bit, bits, word32 } from '../layout/index.js'

// Contents of Get Log Page's field LSP, for the log pages that use it. The figures number the bits of Command Dword 10,
// in which LSP begins at bit 8; these rows count from bit 0 of LSP: `{ LID: 0x0d, LSP: PersistentEventLsp.encode({ ACT:
// 1 }) }`.

/** LSP of Telemetry Host-Initiated (LID 07h; Base 2.1 §5.1.12.1.8, Figure 213). */
export const TelemetryHostLsp = word32(
  'Telemetry Host-Initiated LSP',
  { doc: 'Capture of new telemetry data', spec: 'Base 2.1 §5.1.12.1.8' },
  {
    CTHID: bit(0, 'Create Telemetry Host-Initiated Data'),
    MCDA: bits(3, 1, 'Maximum Created Data Area', {
      CONTROLLER_DETERMINES: 0,
      DATA_AREA_1: 1,
      DATA_AREAS_1_TO_2: 2,
      DATA_AREAS_1_TO_3: 3,
      DATA_AREAS_1_TO_4: 4,
    }),
  },
)

/** LSP of Asymmetric Namespace Access (LID 0Ch; Base 2.3 §5.2.12.1.13, Figure 226). */
export const AnaLsp = word32(
  'Asymmetric Namespace Access LSP',
  { doc: 'Omission of namespaces', spec: 'Base 2.3 §5.2.12.1.13' },
  { RGO: bit(0, 'Return Groups Only') },
)

/** LSP of the Persistent Event Log (LID 0Dh; Base 2.3 §5.2.12.1.14, Figure 229). */
export const PersistentEventLsp = word32(
  'Persistent Event Log LSP',
  { doc: 'Action on the reporting context', spec: 'Base 2.3 §5.2.12.1.14' },
  {
    ACT: bits(1, 0, 'Action', {
      READ: 0,
      ESTABLISH_CONTEXT_AND_READ: 1,
      RELEASE_CONTEXT: 2,
      ESTABLISH_CONTEXT_AND_READ_HEADER: 3,
    }),
  },
)

/** LSP of Command and Feature Lockdown (LID 14h; Base 2.3 §5.2.12.1.20, Figure 270). */
export const LockdownLsp = word32(
  'Command and Feature Lockdown LSP',
  { doc: 'Contents of the list', spec: 'Base 2.3 §5.2.12.1.20' },
  {
    SCP: bits(3, 0, 'Scope', { ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 }),
    CNTTS: bits(5, 4, 'Contents', { CAN_BE_PROHIBITED: 0, PROHIBITED: 1, PROHIBITED_OUT_OF_BAND: 2 }),
  },
)

/** LSP of Boot Partition (LID 15h; Base 2.3 §5.2.12.1.21, Figure 272). */
export const BootPartitionLsp = word32(
  'Boot Partition LSP',
  { doc: 'Selected Boot Partition', spec: 'Base 2.3 §5.2.12.1.21' },
  { BPID: bit(0, 'Boot Partition Identifier') },
)

/** LSP of Reachability Groups (LID 1Ah; Base 2.3 §5.2.12.1.25, Figure 278). */
export const ReachabilityGroupsLsp = word32(
  'Reachability Groups LSP',
  { doc: 'Omission of namespaces', spec: 'Base 2.3 §5.2.12.1.25' },
  { RGO: bit(0, 'Return Groups Only') },
)

/** LSP of Reachability Associations (LID 1Bh; Base 2.3 §5.2.12.1.26, Figure 281). */
export const ReachabilityAssociationsLsp = word32(
  'Reachability Associations LSP',
  { doc: 'Omission of groups', spec: 'Base 2.3 §5.2.12.1.26' },
  { RAO: bit(0, 'Return Associations Only') },
)

/** LSP of FDP Events (LID 23h; Base 2.1 §5.1.12.1.31, Figure 287). */
export const FdpEventsLsp = word32(
  'FDP Events LSP',
  { doc: 'Selected event types', spec: 'Base 2.1 §5.1.12.1.31' },
  { FDPET: bits(0, 0, 'FDP Event Type', { CONTROLLER_EVENTS: 0, HOST_EVENTS: 1 }) },
)

/** LIDSP of Telemetry Host-Initiated in Supported Log Pages (Base 2.1 §5.1.12.1.8.1, Figure 215). */
export const TelemetryHostLidsp = word32(
  'Telemetry Host-Initiated LIDSP',
  { doc: 'Support of Telemetry Host-Initiated', spec: 'Base 2.1 §5.1.12.1.8.1' },
  { MCDAS: bit(0, 'Maximum Created Data Area Support') },
)

/** LIDSP of the Persistent Event Log in Supported Log Pages (Base 2.1 §5.1.12.1.14.1, Figure 228). */
export const PersistentEventLidsp = word32(
  'Persistent Event Log LIDSP',
  { doc: 'Support of the Persistent Event Log', spec: 'Base 2.1 §5.1.12.1.14.1' },
  { ECRH: bit(0, 'Establish Context and Read 512 Bytes of Header Supported') },
)

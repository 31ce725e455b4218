import { bit, bits, dwordBits, feature, struct, structs } from '../../layout/index.js'
import { FID } from '../features.js'

/** Power Management (FID 02h): the requested or current power state (Base 2.1 Figures 387 and 388). */
export const PowerManagement = feature(
  'Power Management',
  { fid: FID.POWER_MANAGEMENT, doc: 'Power state of the controller', spec: 'Base 2.1 §5.1.25.1.2' },
  { CDW11: { PS: bits(4, 0, 'Power State'), WH: bits(7, 5, 'Workload Hint') } },
)

/** Idle time and target state of an autonomous transition (Base 2.1 §5.1.25.1.6, Figure 393). */
export const AutonomousPowerStateTransitionEntry = struct(
  'Autonomous Power State Transition Entry',
  { bytes: 8, doc: 'Target and idle time of a transition', spec: 'Base 2.1 §5.1.25.1.6' },
  {
    ITPS: dwordBits(0, bits(7, 3, 'Idle Transition Power State')),
    ITPT: dwordBits(0, bits(31, 8, 'Idle Time Prior to Transition in milliseconds')),
  },
)

/** An entry for each power state (Base 2.1 §5.1.25.1.6). */
export const AutonomousPowerStateTransitions = struct(
  'Autonomous Power State Transitions',
  { bytes: 256, doc: 'One entry per power state', spec: 'Base 2.1 §5.1.25.1.6' },
  { APST: structs(0, 32, AutonomousPowerStateTransitionEntry, 'Entries by power state') },
)

/** Autonomous Power State Transition (FID 0Ch), with its table as data (Base 2.1 Figures 392 and 393). */
export const AutonomousPowerStateTransition = feature(
  'Autonomous Power State Transition',
  {
    fid: FID.AUTONOMOUS_POWER_STATE_TRANSITION,
    doc: 'Transitions to lower power states when idle',
    spec: 'Base 2.1 §5.1.25.1.6',
    data: AutonomousPowerStateTransitions,
  },
  { CDW11: { APSTE: bit(0, 'Autonomous Power State Transition Enable') } },
)

/** Host Controlled Thermal Management (FID 10h): where throttling begins (Base 2.1 Figure 398). */
export const HostControlledThermalManagement = feature(
  'Host Controlled Thermal Management',
  {
    fid: FID.HOST_CONTROLLED_THERMAL_MANAGEMENT,
    doc: 'Throttling temperatures',
    spec: 'Base 2.1 §5.1.25.1.9',
  },
  {
    CDW11: {
      TMT2: bits(15, 0, 'Thermal Management Temperature 2 in kelvins'),
      TMT1: bits(31, 16, 'Thermal Management Temperature 1 in kelvins'),
    },
  },
)

/** Non-Operational Power State Config (FID 11h): whether background work may exceed the state's power (Figure 399). */
export const NonOperationalPowerStateConfig = feature(
  'Non-Operational Power State Config',
  {
    fid: FID.NON_OPERATIONAL_POWER_STATE_CONFIG,
    doc: 'Background work in non-operational power states',
    spec: 'Base 2.1 §5.1.25.1.10',
  },
  { CDW11: { NOPPME: bit(0, 'Non-Operational Power State Permissive Mode Enable') } },
)

/** Spinup Control (FID 1Ah): whether rotational media wait for a spin-up request (Base 2.1 Figures 412 and 413). */
export const SpinupControl = feature(
  'Spinup Control',
  { fid: FID.SPINUP_CONTROL, doc: 'Initial spinup of rotational media', spec: 'Base 2.1 §5.1.25.1.18' },
  { CDW11: { SCE: bit(0, 'Spinup Control Enable') }, DW0: { SCS: bit(0, 'Spinup Control State') } },
)

/** Power Loss Signaling Config (FID 1Bh); the names of its modes are on a page that was not read. */
export const PowerLossSignalingConfig = feature(
  'Power Loss Signaling Config',
  {
    fid: FID.POWER_LOSS_SIGNALING_CONFIG,
    doc: 'Behavior before power loss',
    spec: 'libnvme 1.16 NVME_FEAT_PLS_MODE_SHIFT',
  },
  { CDW11: { PLSM: bits(1, 0, 'Power Loss Signaling Mode') } },
)

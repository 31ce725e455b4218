import { bit, struct, u128, u16, u32, u8 } from '../layout/index.js'

/**
 * SMART / Health Information (LID 02h; Base 2.1 §5.1.12.1.3, Figures 206 and 207). Temperatures are in kelvins, as on
 * the wire; 128-bit counters are bigints. A temperature sensor that does not exist reads 0.
 */
export const SmartHealthLog = struct(
  'SMART / Health Information',
  { bytes: 512, doc: 'The log page (LID 02h)', spec: 'Base 2.1 §5.1.12.1.3' },
  {
    CW: u8(0, 'Critical Warning', {
      ASCBT: bit(0, 'Available Spare Capacity Below Threshold'),
      TTC: bit(1, 'Temperature Threshold Condition'),
      NDR: bit(2, 'NVM Subsystem Degraded Reliability'),
      AMRO: bit(3, 'All Media Read-Only'),
      VMBF: bit(4, 'Volatile Memory Backup Failed'),
      PMRRO: bit(5, 'Persistent Memory Region Read-Only'),
    }),
    CTEMP: u16(1, 'Composite Temperature in kelvins'),
    AVSP: u8(3, 'Available Spare in percent'),
    AVSPT: u8(4, 'Available Spare Threshold in percent'),
    PUSED: u8(5, 'Percentage Used; 255 means more than 254'),
    EGCWS: u8(6, 'Endurance Group Critical Warning Summary', {
      EGASCBT: bit(0, 'Endurance Group Available Spare Capacity Below Threshold'),
      EGDR: bit(2, 'Endurance Group Degraded Reliability'),
      EGRO: bit(3, 'Endurance Group Read-Only'),
    }),
    DUR: u128(32, 'Data Units Read, in units of 1,000 * 512 bytes'),
    DUW: u128(48, 'Data Units Written, in units of 1,000 * 512 bytes'),
    HRC: u128(64, 'Host Read Commands'),
    HWC: u128(80, 'Host Write Commands'),
    CBT: u128(96, 'Controller Busy Time in minutes'),
    PWRC: u128(112, 'Power Cycles'),
    POH: u128(128, 'Power On Hours'),
    UPL: u128(144, 'Unexpected Power Losses'),
    MDIE: u128(160, 'Media and Data Integrity Errors'),
    NEILE: u128(176, 'Number of Error Information Log Entries'),
    WCTT: u32(192, 'Warning Composite Temperature Time in minutes'),
    CCTT: u32(196, 'Critical Composite Temperature Time in minutes'),
    TSEN1: u16(200, 'Temperature Sensor 1 in kelvins'),
    TSEN2: u16(202, 'Temperature Sensor 2 in kelvins'),
    TSEN3: u16(204, 'Temperature Sensor 3 in kelvins'),
    TSEN4: u16(206, 'Temperature Sensor 4 in kelvins'),
    TSEN5: u16(208, 'Temperature Sensor 5 in kelvins'),
    TSEN6: u16(210, 'Temperature Sensor 6 in kelvins'),
    TSEN7: u16(212, 'Temperature Sensor 7 in kelvins'),
    TSEN8: u16(214, 'Temperature Sensor 8 in kelvins'),
    TMT1TC: u32(216, 'Thermal Management Temperature 1 Transition Count'),
    TMT2TC: u32(220, 'Thermal Management Temperature 2 Transition Count'),
    TTTMT1: u32(224, 'Total Time For Thermal Management Temperature 1 in seconds'),
    TTTMT2: u32(228, 'Total Time For Thermal Management Temperature 2 in seconds'),
  },
)

import { describe, expect, it } from 'vitest'
import { formatStatus, STATUS, statusName } from './status.js'

// Base 2.1 §4.2.3, Figures 102 to 104, 106 and 107, typed as they stand there: Status Code, name.
const figures: Record<number, string> = {
  0: `
    00h Successful Completion | 01h Invalid Command Opcode | 02h Invalid Field in Command | 03h Command ID Conflict |
    04h Data Transfer Error | 05h Commands Aborted due to Power Loss Notification | 06h Internal Error |
    07h Command Abort Requested | 08h Command Aborted due to SQ Deletion |
    09h Command Aborted due to Failed Fused Command | 0Ah Command Aborted due to Missing Fused Command |
    0Bh Invalid Namespace or Format | 0Ch Command Sequence Error | 0Dh Invalid SGL Segment Descriptor |
    0Eh Invalid Number of SGL Descriptors | 0Fh Data SGL Length Invalid | 10h Metadata SGL Length Invalid |
    11h SGL Descriptor Type Invalid | 12h Invalid Use of Controller Memory Buffer | 13h PRP Offset Invalid |
    14h Atomic Write Unit Exceeded | 15h Operation Denied | 16h SGL Offset Invalid |
    18h Host Identifier Inconsistent Format | 19h Keep Alive Timer Expired | 1Ah Keep Alive Timeout Invalid |
    1Bh Command Aborted due to Preempt and Abort | 1Ch Sanitize Failed | 1Dh Sanitize In Progress |
    1Eh SGL Data Block Granularity Invalid | 1Fh Command Not Supported for Queue in CMB |
    20h Namespace is Write Protected | 21h Command Interrupted | 22h Transient Transport Error |
    23h Command Prohibited by Command and Feature Lockdown | 24h Admin Command Media Not Ready |
    25h Invalid Key Tag | 26h Host Dispersed Namespace Support Not Enabled | 27h Host Identifier Not Initialized |
    28h Incorrect Key | 29h FDP Disabled | 2Ah Invalid Placement Handle List | 80h LBA Out of Range |
    81h Capacity Exceeded | 82h Namespace Not Ready | 83h Reservation Conflict | 84h Format In Progress |
    85h Invalid Value Size | 86h Invalid Key Size | 87h KV Key Does Not Exist | 88h Unrecovered Error |
    89h Key Exists`,
  1: `
    00h Completion Queue Invalid | 01h Invalid Queue Identifier | 02h Invalid Queue Size |
    03h Abort Command Limit Exceeded | 05h Asynchronous Event Request Limit Exceeded | 06h Invalid Firmware Slot |
    07h Invalid Firmware Image | 08h Invalid Interrupt Vector | 09h Invalid Log Page | 0Ah Invalid Format |
    0Bh Firmware Activation Requires Conventional Reset | 0Ch Invalid Queue Deletion |
    0Dh Feature Identifier Not Saveable | 0Eh Feature Not Changeable | 0Fh Feature Not Namespace Specific |
    10h Firmware Activation Requires NVM Subsystem Reset | 11h Firmware Activation Requires Controller Level Reset |
    12h Firmware Activation Requires Maximum Time Violation | 13h Firmware Activation Prohibited |
    14h Overlapping Range | 15h Namespace Insufficient Capacity | 16h Namespace Identifier Unavailable |
    18h Namespace Already Attached | 19h Namespace Is Private | 1Ah Namespace Not Attached |
    1Bh Thin Provisioning Not Supported | 1Ch Controller List Invalid | 1Dh Device Self-test In Progress |
    1Eh Boot Partition Write Prohibited | 1Fh Invalid Controller Identifier |
    20h Invalid Secondary Controller State | 21h Invalid Number of Controller Resources |
    22h Invalid Resource Identifier | 23h Sanitize Prohibited While Persistent Memory Region is Enabled |
    24h ANA Group Identifier Invalid | 25h ANA Attach Failed | 26h Insufficient Capacity |
    27h Namespace Attachment Limit Exceeded | 28h Prohibition of Command Execution Not Supported |
    29h I/O Command Set Not Supported | 2Ah I/O Command Set Not Enabled | 2Bh I/O Command Set Combination Rejected |
    2Ch Invalid I/O Command Set | 2Dh Identifier Unavailable | 2Eh Namespace Is Dispersed |
    2Fh Invalid Discovery Information | 30h Zoning Data Structure Locked | 31h Zoning Data Structure Not Found |
    32h Insufficient Discovery Resources | 33h Requested Function Disabled | 34h ZoneGroup Originator Invalid |
    35h Invalid Host | 36h Invalid NVM Subsystem | 37h Invalid Controller Data Queue | 38h Not Enough Resources |
    39h Controller Suspended | 3Ah Controller Not Suspended | 3Bh Controller Data Queue Full |
    80h Conflicting Attributes | 81h Invalid Protection Information | 82h Attempted Write to Read Only Range |
    83h Command Size Limit Exceeded | 84h Invalid Command ID | 85h Incompatible Namespace or Format |
    86h Fast Copy Not Possible | 87h Overlapping I/O Range | 88h Namespace Not Reachable |
    89h Insufficient Resources | B8h Zoned Boundary Error | B9h Zone Is Full | BAh Zone Is Read Only |
    BBh Zone Is Offline | BCh Zone Invalid Write | BDh Too Many Active Zones | BEh Too Many Open Zones |
    BFh Invalid Zone State Transition`,
  2: `
    80h Write Fault | 81h Unrecovered Read Error | 82h End-to-end Guard Check Error |
    83h End-to-end Application Tag Check Error | 84h End-to-end Reference Tag Check Error | 85h Compare Failure |
    86h Access Denied | 87h Deallocated or Unwritten Logical Block | 88h End-to-End Storage Tag Check Error`,
  3: `
    00h Internal Path Error | 01h Asymmetric Access Persistent Loss | 02h Asymmetric Access Inaccessible |
    03h Asymmetric Access Transition | 60h Controller Pathing Error | 70h Host Pathing Error |
    71h Command Aborted By Host`,
}

const rows = Object.entries(figures).flatMap(([sct, text]) =>
  text.split('|').map((row) => {
    const [, sc, name] = /([0-9A-F]{2})h (.+?)\s*$/.exec(row.trim())!
    return { sct: Number(sct), sc: Number.parseInt(sc!, 16), name: name! }
  }),
)

describe('status codes (Base 2.1 §4.2.3)', () => {
  it.each(rows)('SCT $sct, SC $sc is $name', ({ sct, sc, name }) => {
    expect(statusName(sct, sc)).toBe(name)
  })

  it('the table has each of them once, and none beside them', () => {
    const key = ({ sct, sc }: { sct: number; sc: number }) => sct * 256 + sc
    const inOrder = <T extends { sct: number; sc: number }>(list: T[]) => list.toSorted((a, b) => key(a) - key(b))
    expect(inOrder(Object.values(STATUS))).toEqual(inOrder(rows))
  })

  it('are named in upper case after their names', () => {
    expect(STATUS.SUCCESS).toEqual({ sct: 0, sc: 0, name: 'Successful Completion' })
    for (const [key, { name }] of Object.entries(STATUS)) {
      if (key !== 'SUCCESS') expect(key).toBe(name.toUpperCase().replace(/[^A-Z0-9]+/g, '_'))
    }
  })

  it('one that the spec does not name is told by its type and number', () => {
    expect(statusName(0, 0x17)).toBe('Generic Command Status 17h')
    expect(statusName(1, 0xc0)).toBe('Command Specific Status C0h')
    expect(statusName(2, 0x00)).toBe('Media and Data Integrity Error 00h')
    expect(statusName(3, 0x05)).toBe('Path Related Status 05h')
    expect(statusName(5, 0x01)).toBe('Reserved Status Code Type 5h 01h')
    expect(statusName(7, 0xff)).toBe('Vendor Specific Status FFh')
  })
})

describe('formatStatus', () => {
  it('gives name, type, code, and the flags that are set', () => {
    expect(formatStatus({ sct: 0, sc: 0x80, dnr: true })).toBe('LBA Out of Range (SCT 0h SC 80h, DNR)')
    expect(formatStatus({ sct: 2, sc: 0x81, dnr: false })).toBe('Unrecovered Read Error (SCT 2h SC 81h)')
    expect(formatStatus({ sct: 1, sc: 0x0c, dnr: true, more: true })).toBe(
      'Invalid Queue Deletion (SCT 1h SC 0Ch, DNR, M)',
    )
  })
})

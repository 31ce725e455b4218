import { describe, expect, it } from 'vitest'
import { FABRICS_STATUS } from './fabrics/status.js'
import { formatStatus, mayRetry, STATUS, statusName, statusOf } from './status.js'

// Status Code and name, copied from Base 2.1 §4.2.3, Figures 102 to 104, 106 and 107. 98h to 9Ch are from Base 2.2,
// B6h and B7h from libnvme 1.3.
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
    89h Insufficient Resources |
    8Ah Insufficient Program Resources | 8Bh Invalid Memory Namespace | 8Ch Invalid Memory Range Set |
    8Dh Invalid Memory Range Set Identifier | 8Eh Invalid Program Data | 8Fh Invalid Program Index |
    90h Invalid Program Type | 91h Maximum Memory Ranges Exceeded | 92h Maximum Memory Range Sets Exceeded |
    93h Maximum Programs Activated | 94h Maximum Program Bytes Exceeded | 95h Memory Range Set In Use |
    96h No Program | 97h Overlapping Memory Ranges | 98h Program Not Activated | 99h Program In Use |
    9Ah Program Index Not Downloadable | 9Bh Program Too Big | 9Ch Successful Media Verification Read |
    B6h Invalid Zone Operation Request | B7h ZRWA Resources Unavailable |
    B8h Zoned Boundary Error | B9h Zone Is Full | BAh Zone Is Read Only |
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
    const [, sc, name] = /([0-9A-F]{2})h (.+)$/.exec(row.trim())!
    return { sct: Number(sct), sc: Number.parseInt(sc!, 16), name: name! }
  }),
)

const key = ({ sct, sc }: { sct: number; sc: number }) => `${sct}h/${sc.toString(16).toUpperCase().padStart(2, '0')}h`

describe('status codes (Base 2.1 §4.2.3)', () => {
  it.each(rows)('SCT $sct, SC $sc is $name', ({ sct, sc, name }) => {
    expect(statusName(sct, sc)).toBe(name)
  })

  it('the table has each of these once, and no others', () => {
    const keys = Object.values(STATUS).map(key)
    expect(keys.toSorted()).toEqual(rows.map(key).toSorted())
  })

  it.each([
    // By definition: only for Sanitize since NVMe 1.3 (Base 2.2 Figure 102), and only for Admin commands.
    ['admin', '0h/1Fh 0h/24h'],
    // The last column of Figure 102, and the KV Command Set.
    ['nvm zns', '0h/14h 0h/1Eh 0h/80h'],
    // Figure 102 has NVM and ZNS; the KV Command Set lists it for all of its commands (KV 1.0d §3.1).
    ['nvm zns kv', '0h/84h'],
    ['kv', '0h/85h 0h/86h 0h/87h 0h/88h 0h/89h'],
    // Figure 103, Commands Affected: only Admin commands, except for 2Eh (Reservations).
    [
      'admin',
      `1h/00h 1h/01h 1h/02h 1h/03h 1h/05h 1h/06h 1h/07h 1h/08h 1h/09h 1h/0Ah 1h/0Bh 1h/0Ch 1h/0Dh 1h/0Eh 1h/0Fh 1h/10h
       1h/11h 1h/12h 1h/13h 1h/14h 1h/15h 1h/16h 1h/18h 1h/19h 1h/1Ah 1h/1Bh 1h/1Ch 1h/1Dh 1h/1Eh 1h/1Fh 1h/20h 1h/21h
       1h/22h 1h/23h 1h/24h 1h/25h 1h/26h 1h/27h 1h/28h 1h/29h 1h/2Ah 1h/2Bh 1h/2Ch 1h/2Dh 1h/2Fh 1h/30h 1h/31h 1h/32h
       1h/33h 1h/34h 1h/35h 1h/36h 1h/37h 1h/38h 1h/39h 1h/3Ah 1h/3Bh`,
    ],
    // NVM 1.2 Figure 18, Commands Affected: the ZNS Command Set includes these commands (ZNS 1.1 §3.3); the KV Command
    // Set defines no such status (KV 1.0d §3.1). Format NVM is among the commands that write.
    ['nvm zns', '1h/80h 1h/81h 1h/83h 1h/85h 1h/86h 1h/87h 1h/89h'],
    ['admin nvm zns', '1h/82h'],
    // Reservations; Cancel (Base 2.1 Figure 558); statuses that Figure 104 lists without commands.
    [
      'io',
      `1h/2Eh 1h/84h 1h/88h 1h/8Ah 1h/8Bh 1h/8Ch 1h/8Dh 1h/8Eh 1h/8Fh 1h/90h 1h/91h 1h/92h 1h/93h 1h/94h 1h/95h 1h/96h
       1h/97h 1h/98h 1h/99h 1h/9Ah 1h/9Bh 1h/9Ch`,
    ],
    ['zns', '1h/B6h 1h/B7h 1h/B8h 1h/B9h 1h/BAh 1h/BBh 1h/BCh 1h/BDh 1h/BEh 1h/BFh'],
    // NVM 1.2 Figure 19
    ['nvm', '2h/85h 2h/87h'],
    [
      'any',
      `0h/00h 0h/01h 0h/02h 0h/03h 0h/04h 0h/05h 0h/06h 0h/07h 0h/08h 0h/09h 0h/0Ah 0h/0Bh 0h/0Ch 0h/0Dh 0h/0Eh 0h/0Fh
       0h/10h 0h/11h 0h/12h 0h/13h 0h/15h 0h/16h 0h/18h 0h/19h 0h/1Ah 0h/1Bh 0h/1Ch 0h/1Dh 0h/20h 0h/21h 0h/22h
       0h/23h 0h/25h 0h/26h 0h/27h 0h/28h 0h/29h 0h/2Ah 0h/81h 0h/82h 0h/83h`,
    ],
    ['any', '2h/80h 2h/81h 2h/82h 2h/83h 2h/84h 2h/86h 2h/88h'],
    ['any', '3h/00h 3h/01h 3h/02h 3h/03h 3h/60h 3h/70h 3h/71h'],
  ])('are returned by %s commands: %s', (from, list) => {
    const codes = list.split(/\s+/)
    const [sct] = codes[0]!.split('h')
    const found = Object.values(STATUS).filter((code) => code.sct === Number(sct) && code.returnedBy.join(' ') === from)
    expect(found.map(key)).toEqual(codes)
    expect(found.map(({ sct, sc }) => statusOf(sct, sc))).toEqual(found)
  })

  it('have their names in upper case as keys', () => {
    expect(STATUS.SUCCESS).toMatchObject({ sct: 0, sc: 0, name: 'Successful Completion' })
    for (const [key, { name }] of Object.entries(STATUS)) {
      if (key !== 'SUCCESS') expect(key).toBe(name.toUpperCase().replace(/[^A-Z0-9]+/g, '_'))
    }
  })

  it('a status without a name is named by its type and number', () => {
    expect(statusName(0, 0x17)).toBe('Generic Command Status 17h')
    expect(statusName(1, 0xc0)).toBe('Command Specific Status C0h')
    expect(statusName(2, 0x00)).toBe('Media and Data Integrity Error 00h')
    expect(statusName(3, 0x05)).toBe('Path Related Status 05h')
    expect(statusName(5, 0x01)).toBe('Reserved Status Code Type 5h 01h')
    expect(statusName(7, 0xff)).toBe('Vendor Specific Status FFh')
  })
})

describe('formatStatus', () => {
  it('names a status whose code Fabrics commands share with others by the given table', () => {
    expect(formatStatus({ sct: 1, sc: 0x81, dnr: false })).toBe('Invalid Protection Information (SCT 1h SC 81h)')
    expect(formatStatus({ sct: 1, sc: 0x81, dnr: false }, FABRICS_STATUS)).toBe('Controller Busy (SCT 1h SC 81h)')
    expect(formatStatus({ sct: 0, sc: 0x02, dnr: true }, FABRICS_STATUS)).toBe(
      'Invalid Field in Command (SCT 0h SC 02h, DNR)',
    )
  })

  it('has the name, type and code, and the flags that are set', () => {
    expect(formatStatus({ sct: 0, sc: 0x80, dnr: true })).toBe('LBA Out of Range (SCT 0h SC 80h, DNR)')
    expect(formatStatus({ sct: 2, sc: 0x81, dnr: false })).toBe('Unrecovered Read Error (SCT 2h SC 81h)')
    expect(formatStatus({ sct: 1, sc: 0x0c, dnr: true, more: true })).toBe(
      'Invalid Queue Deletion (SCT 1h SC 0Ch, DNR, M)',
    )
  })
})

describe('mayRetry', () => {
  it('rejects a status without type and code, instead of allowing a retry', () => {
    expect(() => mayRetry({} as never)).toThrow(
      new TypeError('Status Code Type: expected an integer from 0 to 7, got undefined'),
    )
    expect(() => mayRetry({ sct: 2, sc: 256, dnr: false })).toThrow(
      new RangeError('Status Code: expected an integer from 0 to 255, got 256'),
    )
  })

  const failed = (sct: number, sc: number, rest: object = {}) => ({ sct, sc, dnr: false, ...rest })

  it.each([
    // From the definitions: transient conditions, conditions that take time, conditions of one path.
    ['same', `0h/04h 0h/06h 0h/07h 0h/08h 0h/09h 0h/0Ah 0h/1Bh 0h/21h 0h/22h 0h/88h 2h/80h 2h/81h`],
    [
      'later',
      `0h/05h 0h/1Dh 0h/24h 0h/82h 0h/84h 1h/03h 1h/05h 1h/1Dh 1h/30h 1h/38h 1h/39h 1h/3Bh 1h/89h 1h/8Ah 1h/93h 1h/95h
       1h/99h 1h/B7h 1h/BDh 1h/BEh 3h/03h`,
    ],
    ['other-path', `3h/00h 3h/01h 3h/02h 3h/60h 3h/70h 3h/71h`],
  ] as const)('returns %s for the statuses listed', (retry, list) => {
    const codes = list.split(/\s+/)
    expect(
      Object.values(STATUS)
        .filter((code) => code.retry === retry)
        .map(key),
    ).toEqual(codes)
    for (const code of Object.values(STATUS)) {
      if (code.retry === retry) expect(mayRetry(failed(code.sct, code.sc))).toBe(retry)
    }
  })

  it('success and errors in the command itself are not retried', () => {
    expect(mayRetry(failed(0, 0x00))).toBeUndefined()
    expect(mayRetry(failed(0, 0x02))).toBeUndefined()
    expect(mayRetry(failed(0, 0x80))).toBeUndefined()
  })

  it('Do Not Retry prevents every retry', () => {
    for (const { sct, sc } of Object.values(STATUS)) {
      expect(mayRetry({ sct, sc, dnr: true, crd: 1 })).toBeUndefined()
    }
    expect(mayRetry({ sct: 7, sc: 0xff, dnr: true })).toBeUndefined()
  })

  it('a Command Retry Delay requests a retry after that delay', () => {
    expect(mayRetry(failed(0, 0x21, { crd: 1 }))).toBe('later')
    expect(mayRetry(failed(0, 0x02, { crd: 3 }))).toBe('later')
    expect(mayRetry(failed(0, 0x21, { crd: 0 }))).toBe('same')
    expect(mayRetry(failed(3, 0x02, { crd: 1 }))).toBe('other-path')
  })

  it('for a status without a name, DNR alone decides: 0 allows a retry', () => {
    expect(mayRetry(failed(7, 0x01))).toBe('same')
    expect(mayRetry(failed(3, 0xc0))).toBe('other-path')
  })
})

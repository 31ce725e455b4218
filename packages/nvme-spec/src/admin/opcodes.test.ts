import { describe, expect, it } from 'vitest'
import { allCommands } from '../all.js'
import { ADMIN_OPCODE } from './opcodes.js'

// Base 2.1 §5, Figure 141: Combined Opcode and Command.
const figure141 = `
  00 Delete I/O Submission Queue | 01 Create I/O Submission Queue | 02 Get Log Page
  04 Delete I/O Completion Queue | 05 Create I/O Completion Queue | 06 Identify | 08 Abort | 09 Set Features
  0a Get Features | 0c Asynchronous Event Request | 0d Namespace Management | 10 Firmware Commit
  11 Firmware Image Download | 14 Device Self-test | 15 Namespace Attachment | 18 Keep Alive | 19 Directive Send
  1a Directive Receive | 1c Virtualization Management | 1d NVMe-MI Send | 1e NVMe-MI Receive | 20 Capacity Management
  21 Discovery Information Management | 22 Fabric Zoning Receive | 24 Lockdown | 25 Fabric Zoning Lookup
  28 Clear Exported NVM Resource Configuration | 29 Fabric Zoning Send | 2a Create Exported NVM Subsystem
  2d Manage Exported NVM Subsystem | 31 Manage Exported Namespace | 35 Manage Exported Port
  39 Send Discovery Log Page | 3d Track Send | 3e Track Receive | 41 Migration Send | 42 Migration Receive
  45 Controller Data Queue | 7c Doorbell Buffer Config | 7f Fabrics | 80 Format NVM | 81 Security Send
  82 Security Receive | 84 Sanitize | 85 Load Program | 86 Get LBA Status | 88 Program Activation Management
  89 Memory Range Set Management`
  .split(/[|\n]/)
  .map((row) => row.trim())
  .filter((row) => row !== '')
  .map((row) => [Number.parseInt(row.slice(0, 2), 16), row.slice(3)] as const)

describe('ADMIN_OPCODE (Base 2.1 §5, Figure 141)', () => {
  it('has the opcodes of the figure, under the names of the figure, and no others', () => {
    const names = figure141.map(([opcode, name]) => [
      name
        .replace(/I\/O Submission Queue/, 'IO SQ')
        .replace(/I\/O Completion Queue/, 'IO CQ')
        .toUpperCase()
        .replace(/[ -]/g, '_'),
      opcode,
    ])
    expect(Object.entries(ADMIN_OPCODE.values)).toEqual(names)
  })

  it.each(allCommands.filter(({ set }) => set === 'admin').map(({ name, opcode }) => [name, opcode] as const))(
    '%s is the command of its opcode',
    (name, opcode) => {
      expect(figure141).toContainEqual([opcode, name])
    },
  )
})

import { beforeAll, describe, expect, test } from 'vitest'
import { Controller } from '@gpunvme/host-driver'
import { simulate } from '@gpunvme/nvme-sim'
import { CNS } from '@gpunvme/nvme-spec'
import { judgeMissing } from '../../../nvme-spec/test/nvme-cli/nvme.js'
import { ASKED } from './vfio-user/asked.js'
import { CHANGED, RESETS } from './vfio-user/changed.js'
import { expectKernel, kernelErrors, mistakes, Steps } from './vfio-user/ended.js'
import { kernelsFor } from './vfio-user/kernels.js'
import { runServedGuest, servedGuestParts, type ServedGuestRun } from './vfio-user/served-guest.js'
import { scenarioOf } from './vfio-user/steps.js'
import { TOLD } from './vfio-user/told.js'

// nvme-cli on a simulated drive that Linux's driver uses through vfio-user. Expected values are those of told.ts, or
// of the specification.

/** Reads Identify data of the same simulated drive with our driver, in this process. */
async function identifyHere() {
  const { transport } = simulate(TOLD)
  const controller = await Controller.open(transport)
  const asBytes = { decode: (view: DataView) => view }
  const bytesOf = ({ buffer, byteOffset, byteLength }: DataView) => Buffer.from(buffer, byteOffset, byteLength)
  const namespace = async (nsid: number) => bytesOf(await controller.identify(CNS.NAMESPACE, asBytes, { nsid }))
  const found = { controller: bytesOf(controller.identity.raw), one: await namespace(1), three: await namespace(3) }
  await controller.close()
  return found
}

const MODEL = 'gpunvme told by a test'.padEnd(40)
const SERIAL = 'VFIO-USER-0001'.padEnd(20)
const FIRMWARE = '7.3.1'.padEnd(8)

describe.each(kernelsFor('6.1'))('nvme-cli on Linux %s', (series) => {
  const made = judgeMissing ?? servedGuestParts(series)
  if (typeof made === 'string') {
    test('nvme-cli on a vfio-user drive', ({ skip }) => skip(made))
    return
  }
  let guest: ServedGuestRun
  let asked: Steps
  let changed: Steps
  let reset: Steps

  beforeAll(async () => {
    guest = await runServedGuest({
      series,
      drives: [TOLD],
      // nvme-cli reads registers through sysfs, which a strict kernel does not allow.
      append: 'iomem=relaxed',
      scenarios: [scenarioOf('asked', ASKED, 1), scenarioOf('changed', CHANGED), scenarioOf('reset', RESETS)],
      deadlineMs: 900_000,
    })
    asked = new Steps(guest, 'asked')
    changed = new Steps(guest, 'changed')
    reset = new Steps(guest, 'reset')
  })

  test('Identify data is byte-identical to what our driver reads from the same simulator', async () => {
    const here = await identifyHere()
    const bytes = (name: string) => Buffer.from(asked.text(name), 'base64')
    expect(bytes('id-ctrl bytes').equals(here.controller)).toBe(true)
    expect(bytes('id-ns 1 bytes').equals(here.one)).toBe(true)
    expect(bytes('id-ns 3 bytes').equals(here.three)).toBe(true)
  })

  test('id-ctrl and sysfs show the configured controller', () => {
    expect(asked.json('id-ctrl')).toMatchObject({
      ...{ vid: 0x1de5, ssvid: 0x1de6, mdts: 6, ver: 0x20100, cntrltype: 1, wctemp: 351, cctemp: 361, nn: 3 },
      ...{ sn: SERIAL, mn: MODEL, fr: FIRMWARE, tnvmcap: `${320 * 1024 * 1024}` },
    })
    const lines = asked.text('sys').trimEnd().split('\n')
    expect(Object.fromEntries(lines.map((line) => line.split('=') as [string, string]))).toEqual({
      ...{ model: MODEL, serial: SERIAL, firmware_rev: FIRMWARE, cntlid: '0', state: 'live' },
      ...{ '/tmp/one/size': '524288', '/tmp/one/queue/logical_block_size': '512' },
      ...{ '/tmp/one/eui': '02 12 23 34 45 56 67 78', '/tmp/one/nguid': 'a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf' },
      // MDTS: 2 ^ 6 pages of 4 KiB.
      '/tmp/one/queue/max_hw_sectors_kb': '256',
      ...{ '/tmp/three/size': '131072', '/tmp/three/queue/logical_block_size': '4096' },
      ...{ 'device/vendor': '0x1de5', 'device/device': '0x0108', 'device/class': '0x010802' },
    })
  })

  test('list, list-ns, id-ns and ns-descs show the configured namespaces', () => {
    const { Devices } = asked.json('list') as { Devices: { NameSpace: number }[] }
    const known = { Firmware: '7.3.1', ModelNumber: MODEL.trimEnd(), SerialNumber: SERIAL.trimEnd() }
    expect(Devices.toSorted((a, b) => a.NameSpace - b.NameSpace)).toMatchObject([
      { NameSpace: 1, ...known, PhysicalSize: 256 * 1024 * 1024, MaximumLBA: 524_288, SectorSize: 512 },
      { NameSpace: 3, ...known, PhysicalSize: 64 * 1024 * 1024, MaximumLBA: 16_384, SectorSize: 4096 },
    ])
    for (const name of ['list-ns', 'list-ns --all'])
      expect(asked.json(name)).toEqual({ nsid_list: [{ nsid: 1 }, { nsid: 3 }] })
    expect(asked.json('id-ns 3')).toMatchObject({ nsze: 16_384, flbas: 1, nvmcap: `${64 * 1024 * 1024}` })
    expect(asked.json('ns-descs')).toMatchObject({
      'ns-descs': [
        { type: 'eui64', eui64: '0212233445566778' },
        { type: 'nguid', nguid: 'a0a1a2a3a4a5a6a7a8a9aaabacadaeaf' },
        { type: 'uuid' },
        { type: 'csi', csi: '0' },
      ],
    })
  })

  test('smart-log, error-log and fw-log are those of a new drive at 35 °C', () => {
    const smart = asked.json('smart-log') as Record<string, unknown>
    expect(smart).toMatchObject({
      ...{ critical_warning: 0, temperature: 308, avail_spare: 100, spare_thresh: 10, percent_used: 0 },
      ...{ power_cycles: '1', unsafe_shutdowns: '0', media_errors: '0', num_err_log_entries: '0' },
      ...{ host_write_commands: '0', data_units_written: '0' },
    })
    // Linux looked for partition tables.
    expect(Number(smart['host_read_commands'])).toBeGreaterThan(0)
    const { errors } = asked.json('error-log') as { errors: { error_count: number }[] }
    expect(errors.map(({ error_count }) => error_count)).toEqual([0, 0, 0, 0])
    const firmware = Buffer.from(asked.text('fw-log'), 'base64')
    expect([firmware.length, firmware[0], firmware.toString('latin1', 8, 16)]).toEqual([512, 1, FIRMWARE])
  })

  test('effects-log lists the supported commands and their effects', () => {
    const [effects] = asked.json('effects-log') as [Record<'admin_cmd_set' | 'io_cmd_set', Record<string, number>>]
    const opcodes = (of: Record<string, number>) =>
      Object.fromEntries(Object.entries(of).map(([name, value]) => [/_(\d+)/.exec(name)?.[1] ?? name, value]))
    // Bit 0: supported; 1: changes blocks; 2 and 3: changes capabilities and inventory of namespaces; 16: exclusive.
    expect(opcodes(effects.admin_cmd_set)).toMatchObject({ 2: 1, 6: 1, 8: 1, 9: 1, 10: 1, 13: 9, 21: 9, 128: 0x10007 })
    expect(opcodes(effects.io_cmd_set)).toMatchObject({ 0: 1, 1: 3, 2: 1, 4: 3, 5: 1, 8: 3, 9: 3, 12: 1, 25: 3 })
  })

  test('show-regs shows the registers of an enabled controller', () => {
    const registers = JSON.parse(asked.of('show-regs').stdout) as Record<string, number>
    // CC: IOCQES 4, IOSQES 6, EN. Linux sets AQA to 32 entries for each queue.
    expect(registers).toMatchObject({ vs: 0x20100, csts: 1, aqa: 0x001f_001f, intms: 0, cmbsz: 0 })
    expect(registers['cc']! & 0xff_0001).toBe(0x46_0001)
  })

  test('get-feature returns initial values, and set-feature changes and saves values', () => {
    const value = (name: string) => /0x[0-9a-f]{8}$/.exec(asked.text(name).trim())?.[0]
    expect(value('temperature threshold')).toBe('0x0000015f')
    expect(value('volatile write cache')).toBe('0x00000001')
    // Two CPUs with a queue of each kind; 0's based.
    expect(value('number of queues')).toBe('0x00010001')
    expect(changed.text('set-feature')).toMatch(/Current value:0x0000015a\n$/)
    expect(changed.text('set-feature --save')).toMatch(/Saved value:0x0000015b\n$/)
  })

  test('write, read, compare, copy, write-zeroes, verify, dsm and flush work', () => {
    for (const name of ['write', 'read', 'compare', 'copy', 'read copied', 'write-zeroes', 'read zeroes', 'verify'])
      changed.text(name)
    for (const name of ['write again', 'dsm', 'read deallocated', 'blkdiscard', 'flush']) changed.text(name)
    // Do Not Retry is not set, since another write might change the outcome.
    expect(changed.status('compare others')).toBe('0x4285')
  })

  test('write-uncor makes blocks unreadable, and the drive counts and logs the errors', () => {
    changed.text('write-uncor')
    expect(changed.status('verify unreadable')).toBe('0x6281')
    expect(changed.status('read unreadable')).toBe('0x6281')
    const cached = changed.of('read unreadable by the page cache')
    expect([cached.code, cached.stderr]).toEqual([1, expect.stringContaining('Input/output error')])
    expect(kernelErrors([cached])).toContainEqual(
      expect.stringMatching(/critical medium error, dev nvme\dn\d, sector 8 /),
    )
    const { media_errors, num_err_log_entries } = changed.json('media errors') as Record<string, string>
    expect([Number(media_errors) >= 3, num_err_log_entries]).toEqual([true, media_errors])
    const { errors } = changed.json('errors') as { errors: { error_count: number; lba: number; nsid: number }[] }
    expect(errors[0]).toMatchObject({ error_count: Number(num_err_log_entries), lba: 8, nsid: 1 })
  })

  test('invalid commands return the status of the specification', () => {
    const statuses = ['out of range', 'unknown opcode', 'unknown log'].map((name) => changed.status(name))
    expect(statuses).toEqual(['0x6080', '0x6001', '0x6109'])
  })

  test('format changes the block size, also in the kernel', () => {
    changed.text('format')
    expect(
      changed
        .text('formatted')
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['4096', '524288', '"flbas":1,', ''])
    expect(changed.text('formatted back')).toMatch(/\n512\n$/)
  })

  test('after a reset, subsystem reset and function reset, the drive works and has its data', () => {
    for (const name of ['before', 'reset', 'subsystem-reset', 'reset once more', 'function reset']) reset.text(name)
    for (const name of ['after reset', 'after subsystem-reset', 'after function reset'])
      expect([name, reset.text(name)]).toEqual([name, 'live\n'])
    expectKernel(reset.of('after function reset'), [])
  })

  test('the kernel reports only intended errors, and the simulator only reads of INTMS and INTMC', () => {
    const asIntended = 'read unreadable by the page cache'
    const steps = [...asked.all, ...changed.all, ...reset.all].filter(({ name }) => name !== asIntended)
    expect(kernelErrors(steps)).toEqual([])
    expect(guest.kernel.filter((line) => /nvme|BUG|WARNING|Oops|Call Trace/.test(line))).toEqual([])
    // show-regs reads all registers.
    expect(mistakes(guest.drives[0]!.diagnostics).toSorted()).toEqual([
      'host read INTMC while MSI-X is enabled: use the masks in the MSI-X table',
      'host read INTMS while MSI-X is enabled: use the masks in the MSI-X table',
    ])
    expect(guest.finished, guest.console).toBe(true)
  })
})

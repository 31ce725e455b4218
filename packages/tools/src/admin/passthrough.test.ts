import { GetFeatures, GetLogPage, Identify, LID } from '@gpunvme/nvme-spec'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FakeKernel, refusal } from '../../test/fake-kernel.js'
import { scratch } from '../../test/gpunvme.js'
import { NVME_IOCTL_ADMIN_CMD, openPassthrough, requireQuestion } from './passthrough.js'
import { withLinux } from './with-admin-view.js'

const folder = scratch()
const node = join(folder, 'nvme0')
writeFileSync(node, '')
const openFiles = () => readdirSync('/proc/self/fd').length
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('a query is encoded as in linux/nvme_ioctl.h 6.1, with a page as data buffer', async () => {
  // _IOWR('N', 0x41, struct nvme_passthru_cmd), computed by gcc 12 from that header.
  expect(NVME_IOCTL_ADMIN_CMD).toBe(0xc0484e41)
  const kernel = new FakeKernel()
  const passthrough = await openPassthrough(kernel, node)
  const { reader } = passthrough
  await reader.logPage(LID.SMART_HEALTH_INFORMATION, { lengthBytes: 512, nsid: 1 })
  await reader.getFeature({ fid: 0xc1, name: 'x', doc: '', spec: 'vendor x' })
  const [identify, log, feature] = kernel.commands.map(hex)
  const data = '00100000007f0000' + '00000000' + '00100000'
  expect(identify).toBe('06000000' + '00'.repeat(20) + data + '01000000' + '00'.repeat(28))
  // CDW10: NUMDL 127, RAE, LID 2.
  expect(log).toBe('02000000' + '01000000' + '00'.repeat(16) + data + '02807f00' + '00'.repeat(28))
  expect(feature).toBe('0a000000' + '00'.repeat(20) + data + 'c1000000' + '00'.repeat(28))
  passthrough.close()
})

test('requireQuestion allows only Identify, Get Features and log pages that retain events', () => {
  const entry = (write: (view: DataView) => void) => {
    const view = new DataView(new ArrayBuffer(64))
    write(view)
    return view
  }
  for (let opcode = 0; opcode <= 0xff; opcode++) {
    const bare = entry((view) => view.setUint8(0, opcode))
    if ([0x06, 0x0a].includes(opcode)) requireQuestion(bare)
    else expect(() => requireQuestion(bare), String(opcode)).toThrow('only queries are allowed')
  }
  const page = (values: object) => entry((view) => GetLogPage.encode(view, 0, { LID: 7, NUMDL: 127, ...values }))
  requireQuestion(page({ RAE: 1 }))
  // RAE=0 would clear an event that the Linux driver waits for. LSP=1 would capture telemetry.
  expect(() => requireQuestion(page({ RAE: 0 }))).toThrow(TypeError)
  expect(() => requireQuestion(page({ RAE: 1, LSP: 1 }))).toThrow(TypeError)
  // More than the buffer can hold.
  requireQuestion(page({ RAE: 1, NUMDL: 1023 }))
  expect(() => requireQuestion(page({ RAE: 1, NUMDL: 1024 }))).toThrow(TypeError)
  expect(() => requireQuestion(page({ RAE: 1, NUMDU: 1 }))).toThrow(TypeError)
  expect([Identify.opcode, GetLogPage.opcode, GetFeatures.opcode]).toEqual([0x06, 0x02, 0x0a])
})

test('a status of the drive is decoded into an error, and the returned data is used', async () => {
  const kernel = new FakeKernel()
  kernel.answer = (opcode, _cdw10, data) => {
    data.fill(0x5a)
    // Do Not Retry, Invalid Field in Command, as nvme_user_cmd returns them.
    return opcode === 0x0a ? { status: 0x4002 } : { dw0: 7 }
  }
  const passthrough = await openPassthrough(kernel, node)
  const { reader } = passthrough
  expect(reader.identity.raw.getUint32(4092, true)).toBe(0x5a5a_5a5a)
  const refused = reader.getFeature({ fid: 2, name: 'x', doc: '', spec: 'vendor x' })
  await expect(refused).rejects.toThrow('Get Features failed: Invalid Field in Command (SCT 0h SC 02h, DNR)')
  await expect(refused).rejects.toMatchObject({ code: 'ERR_GPUNVME_COMMAND', sct: 0, sc: 2, dnr: true })
  passthrough.close()
})

test.each([
  ['EACCES', 'privilege', 'permission denied (EACCES)'],
  ['EPERM', 'privilege', 'not permitted (EPERM)'],
  ['ENOTTY', 'not-found', 'it is not an NVMe controller (ENOTTY)'],
  ['ENODEV', 'device', 'the kernel cannot reach the drive (ENODEV)'],
  ['EINTR', 'device', 'the kernel cannot reach the drive (EINTR)'],
])('an ioctl that fails with %s has category %s, and all files are closed', async (code, category, message) => {
  const kernel = new FakeKernel()
  const before = openFiles()
  kernel.answer = () => {
    throw refusal(code, 'ioctl')
  }
  const refused = openPassthrough(kernel, node)
  await expect(refused).rejects.toMatchObject({
    code: 'ERR_GPUNVME_PASSTHROUGH',
    category,
    message: expect.stringContaining(`(${code})`) as string,
  })
  await expect(refused).rejects.toThrow(`Cannot send Identify to ${node}: ${message}`)
  expect(kernel.live.size).toBe(0)
  expect(openFiles()).toBe(before)
})

test('openPassthrough reports the limit if memory cannot be locked', async () => {
  const kernel = new FakeKernel()
  const before = openFiles()
  kernel.memlockBytes = 1024
  await expect(openPassthrough(kernel, node)).rejects.toThrow('RLIMIT_MEMLOCK allows 1024')
  expect(openFiles()).toBe(before)
})

test('withLinux rejects a drive without a device node and one without a Linux name', async () => {
  const drive = { bdf: '0000:0b:00.0', path: folder, driver: 'nvme', group: undefined }
  const use = () => Promise.reject(new Error('not reached'))
  const missing = withLinux(new FakeKernel(), { ...drive, linuxName: 'nvme5' }, folder, use)
  await expect(missing).rejects.toThrow(/nvme5: the node does not exist \(ENOENT\)\n {2}Try: /)
  await expect(missing).rejects.toMatchObject({ category: 'not-found' })
  const unmade = withLinux(new FakeKernel(), { ...drive, linuxName: undefined }, folder, use)
  await expect(unmade).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_LINUX_NAME', category: 'device' })
})

test('withLinux maps registers on first use, and releases everything after an error', async () => {
  const kernel = new FakeKernel()
  const before = openFiles()
  const drive = { bdf: '0000:0b:00.0', path: folder, driver: 'nvme', group: undefined, linuxName: 'nvme0' }
  const registers = new Uint8Array(4096)
  registers.set([0, 4, 1, 0], 8)
  writeFileSync(join(folder, 'resource0'), registers)
  const used = withLinux(kernel, drive, folder, ({ readRegister, name, by }) => {
    expect([name, by]).toEqual(['0000:0b:00.0 (nvme0)', 'linux'])
    expect(readRegister({ offset: 8, widthBits: 32 } as Parameters<typeof readRegister>[0])).toBe(0x0001_0400)
    expect(kernel.live.size).toBe(2)
    return Promise.reject(new Error('verb failed'))
  })
  await expect(used).rejects.toThrow('verb failed')
  expect(kernel.live.size).toBe(0)
  expect(openFiles()).toBe(before)
})

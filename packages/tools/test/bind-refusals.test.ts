import { nvmeFunction } from '@gpunvme/host-driver/pci'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { takeDrive } from '../src/binding/take-drive.js'
import { inProcess } from './binding/in-process.js'
import { BDF, BOUND, ORIGINAL, SERIAL, Tree } from './binding/tree.js'
import { json } from './gpunvme.js'

const disk = vi.hoisted(() => ({ isFull: false }))

vi.mock('../src/command-line/replace-file.js', async (importOriginal) => {
  const real = await importOriginal<typeof import('../src/command-line/replace-file.js')>()
  const replaceFile: typeof real.replaceFile = (...args) => {
    if (!disk.isFull) return real.replaceFile(...args)
    return Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' }))
  }
  return { ...real, replaceFile }
})

let tree: Tree
beforeEach(() => {
  tree = new Tree()
})

const CONFIRMED = ['--serial', SERIAL, '--yes']

/** Runs a command that must fail with this exit code and not change the drive. Returns stderr. */
async function refused(code: number, ...args: string[]): Promise<string> {
  const ended = await inProcess(tree, ...args)
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(tree.state()).toEqual(ORIGINAL)
  return ended.stderr
}

test('bind rejects a mounted drive with its holder and the command to release it', async () => {
  tree.mount('/home')
  for (const words of [CONFIRMED, ['--dry-run']]) {
    const said = await refused(4, 'bind', 'nvme0', ...words)
    expect(said).toContain(`Refused to take over ${BDF}: this machine uses it\n  nvme0n1p1 is mounted on /home\n`)
    expect(said).toContain('  Try: umount /home; or choose another drive\n')
  }
})

test('bind rejects another serial number and missing confirmation without printing the serial number', async () => {
  const other = await refused(4, 'bind', 'nvme0', '--serial', 'OTHER', '--yes')
  expect(other).toContain("its serial number is not 'OTHER'")
  const unconfirmed = await refused(4, 'bind', 'nvme0')
  for (const said of [other, unconfirmed]) {
    expect(said).not.toContain(SERIAL)
    expect(said).toContain(
      'Try: look up the serial number of the intended drive on its label, or by gpunvme list ADDRESS',
    )
  }
  expect(await refused(4, 'bind', 'nvme0', '--serial', SERIAL)).toContain('stdin is not a terminal')
})

test('bind without confirmation lists the uses that cannot be detected', async () => {
  const said = (await refused(4, 'bind', 'nvme0')).replace(/\s+/g, ' ')
  expect(said).toContain(
    'No use of the drive was found. gpunvme cannot detect: - files that a process mapped into memory, or registered with io_uring',
  )
  expect(said).toContain('another machine or guest that shares the drive')
})

test('bind does not accept the serial number of a previous drive at the same address', async () => {
  expect((await inProcess(tree, 'bind', 'nvme0', ...CONFIRMED)).code).toBe(0)
  const file = `run/gpunvme/${BDF}.json`
  const entry = JSON.parse(readFileSync(join(tree.root, file), 'utf8')) as object
  expect((await inProcess(tree, 'unbind', BDF)).code).toBe(0)
  // The drive was returned by other means and replaced by another one without a driver.
  tree.file(file, JSON.stringify({ ...entry, bootId: 'another' }))
  for (const path of ['driver', 'nvme']) tree.remove(`${tree.device()}/${path}`)
  const { code, stderr } = await inProcess(tree, 'bind', BDF, ...CONFIRMED)
  expect(code).toBe(4)
  expect(stderr).toContain('Try: pass --serial ADDRESS --yes with the PCI address of the intended drive')
})

test('takeDrive rejects a drive that was replaced after confirmation', async () => {
  const taking = {
    root: tree.root,
    found: nvmeFunction(tree.root, BDF),
    driver: null,
    known: { name: 'nvme0', serial: 'CONFIRMED', model: null },
    by: { user: 'root', command: 'gpunvme bind' },
    isHeld: false,
  }
  await expect(takeDrive(taking)).rejects.toThrow(`its serial number was CONFIRMED, and is now ${SERIAL}`)
  expect(tree.state()).toEqual(ORIGINAL)
})

test('unbind rejects a name of two bound drives, and lists their addresses', async () => {
  expect((await inProcess(tree, 'bind', 'nvme0', ...CONFIRMED)).code).toBe(0)
  const other = '0000:0c:00.0'
  const text = readFileSync(join(tree.root, `run/gpunvme/${BDF}.json`), 'utf8')
  tree.file(`run/gpunvme/${other}.json`, text.replaceAll(BDF, other))
  const { code, stderr } = await inProcess(tree, 'unbind', 'nvme0')
  expect(code).toBe(2)
  expect(stderr).toContain(`several drives bound by gpunvme were named nvme0\n  ${BDF}, ${other}\n`)
  expect(tree.state()).toEqual(BOUND)
  expect((await inProcess(tree, 'unbind', BDF)).code).toBe(0)
})

test('bind accepts the address of a drive without a known serial number', async () => {
  const other = '0000:0c:00.0'
  tree.function(other, '0x010802')
  expect(await refused(4, 'bind', other, '--to', 'none')).toContain('Try: pass --serial ADDRESS --yes')
  expect((await inProcess(tree, 'bind', other, '--to', 'none', '--serial', other, '--yes')).code).toBe(0)
  expect(tree.state(other)).toEqual([undefined, 'gpunvme-none', 'on'])
})

test('bind and unbind reject other devices, missing drives and invalid names', async () => {
  tree.function('0000:0b:00.1', '0x0c0330', 'xhci_hcd')
  for (const verb of ['bind', 'unbind']) {
    expect(await refused(3, verb, '0b:00.1')).toContain('is not an NVMe controller: class code 0c0330h')
    expect(await refused(3, verb, '0000:0c:00.0')).toContain(`NVMe controllers here: ${BDF}`)
    expect(await refused(3, verb, 'nvme7')).toContain('Linux has no drive named nvme7')
    expect(await refused(2, verb, '../../etc')).toContain("'../../etc' is not the name of a drive")
  }
  expect(await refused(3, 'unbind', 'nvme0')).toContain(`${BDF} is not bound by gpunvme`)
})

test('bind and unbind reject contradictory arguments', async () => {
  expect(await refused(2, 'bind', 'nvme0', '--to', 'nvme')).toContain('expected vfio-pci, kmod or none')
  // Options after -- belong to the command: the error is text, not JSON.
  expect(await refused(3, 'bind', 'nvme7', '--', 'gpunvme', 'identify', '--json')).toContain(
    'Linux has no drive named nvme7',
  )
  expect(await refused(2, 'unbind')).toContain('unbind requires a drive')
  expect(await refused(2, 'unbind', 'nvme0', '--all')).toContain('--all and an address are mutually exclusive')
  const both = await inProcess(tree, 'bind', 'nvme0', '--json', 'true')
  expect(both.code).toBe(2)
  expect(json(both)).toMatchObject({ error: { category: 'usage' } })
})

test('bind suggests modprobe for a driver that is not loaded', async () => {
  expect(await refused(3, 'bind', 'nvme0', '--to', 'kmod', ...CONFIRMED)).toContain('Try: modprobe gpunvme')
  tree.remove('sys/bus/pci/drivers/vfio-pci')
  expect(await refused(3, 'bind', 'nvme0', ...CONFIRMED)).toContain('Try: modprobe vfio-pci')
})

test('bind rejects a shared IOMMU group, and lists its functions and drivers', async () => {
  tree.function('0000:0b:00.1', '0x0c0330', 'xhci_hcd')
  tree.group('0000:0b:00.1', '12')
  const said = await refused(4, 'bind', 'nvme0', '--to', 'vfio-pci', ...CONFIRMED)
  expect(said).toContain(`IOMMU group 12 of ${BDF} is not viable`)
  expect(said).toContain('0000:0b:00.1 is bound to xhci_hcd')
})

test('bind rejects vfio-pci without an IOMMU, and suggests alternatives', async () => {
  tree.remove(`${tree.device()}/iommu_group`)
  const said = await refused(7, 'bind', 'nvme0', '--to', 'vfio-pci', ...CONFIRMED)
  expect(said).toContain('it has no IOMMU group')
  expect(said).toContain('intel_iommu=on')
  expect(said).toContain('use the transport sysfs, with no driver')
})

test('bind returns a drive that does not leave D3cold', async () => {
  tree.file(`${tree.device()}/power_state`, 'D3cold\n')
  expect(await refused(5, 'bind', 'nvme0', ...CONFIRMED)).toContain(
    'does not wake up: the kernel reports power state D3cold',
  )
  expect(await refused(3, 'unbind', BDF)).toContain('is not bound by gpunvme')
})

test('unbind rejects a drive in use, and names the process', async () => {
  expect((await inProcess(tree, 'bind', 'nvme0', ...CONFIRMED)).code).toBe(0)
  mkdirSync(join(tree.root, 'proc/4242/fd'), { recursive: true })
  tree.file('proc/4242/comm', 'nvmf_tgt\n')
  symlinkSync('/dev/vfio/12', join(tree.root, 'proc/4242/fd/7'))
  const { code, stderr } = await inProcess(tree, 'unbind', BDF)
  expect(code).toBe(4)
  expect(stderr).toContain(`Cannot unbind ${BDF}: it is in use`)
  expect(stderr).toContain('open in process 4242 (nvmf_tgt)')
  expect(stderr).toContain(`Try: end the listed uses, then gpunvme unbind ${BDF} --root ${tree.root}`)
  expect(tree.state()).toEqual(BOUND)
  tree.remove('proc/4242')
  expect((await inProcess(tree, 'unbind', BDF)).code).toBe(0)
})

test('bind does not take a drive if it cannot write its record', async () => {
  disk.isFull = true
  const said = await refused(7, 'bind', 'nvme0', ...CONFIRMED).finally(() => (disk.isFull = false))
  expect(said).toContain(`Cannot write ${tree.root}/run/gpunvme/${BDF}.json: no space left on the disk`)
})

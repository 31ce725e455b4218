import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { inProcess } from './binding/in-process.js'
import { BDF, BOUND, MODEL, ORIGINAL, SERIAL, Tree } from './binding/tree.js'
import { json } from './gpunvme.js'

// bind, unbind and list on a tree whose kernel is test/binding/fake-kernel.mjs. On a real kernel: test/vm/bind.vm.ts.

let tree: Tree
beforeEach(() => {
  tree = new Tree()
})

const CONFIRMED = ['--serial', SERIAL, '--yes']
const bind = (...args: string[]) => inProcess(tree, 'bind', 'nvme0', ...args)
const stateFile = () => join(tree.root, 'run/gpunvme', `${BDF}.json`)

describe('bind and unbind', () => {
  test('take a drive from Linux, and restore its state', async () => {
    const bound = await bind(...CONFIRMED)
    expect([bound.code, bound.stderr]).toEqual([
      0,
      'No block device disappears: it has no namespace in Linux. The contents of the drive are unknown.\n',
    ])
    expect(bound.stdout.replaceAll(tree.root, 'DIR')).toBe(
      [
        `${BDF} (nvme0) is bound to vfio-pci (previously nvme)`,
        '  why        the IOMMU is on (group 12)',
        '  transport  vfio',
        `  next       gpunvme nvme identify --drive ${BDF}`,
        `  undo       gpunvme unbind ${BDF} --root DIR`,
        '',
      ].join('\n'),
    )
    expect(tree.state()).toEqual(BOUND)
    expect(existsSync(join(tree.root, 'sys/class/nvme/nvme0'))).toBe(false)

    // By the former Linux name, which does not exist now.
    const back = await inProcess(tree, 'unbind', 'nvme0')
    expect([back.code, back.stdout]).toEqual([0, `${BDF} was returned to nvme\n`])
    expect(tree.state()).toEqual(ORIGINAL)
    expect(existsSync(stateFile())).toBe(false)
  })

  test('read a serial number that is not UTF-8 as one character per byte', async () => {
    tree.file(`sys/bus/pci/devices/${BDF}/nvme/nvme0/serial`, Buffer.from('S\xe9RIAL\n', 'latin1'))
    const listed = json(await inProcess(tree, 'list', '--json')) as { drives: { serial: string }[] }
    expect(listed.drives.map(({ serial }) => serial)).toEqual(['S\xe9RIAL'])
    expect(json(await bind('--serial', 'S\xe9RIAL', '--yes', '--json'))).toMatchObject({ serial: 'S\xe9RIAL' })
  })

  test('list the block devices that disappear, with their formats, before the drive is taken', async () => {
    tree.partition('ntfs')
    const lost = [
      'These block devices disappear until the drive is unbound again. Their contents are kept.',
      '- nvme0n1, 1 TiB: gpt',
      '- nvme0n1p1, 512 GiB: ntfs',
    ]
    const plan = await bind('--dry-run')
    expect(plan.stdout).toContain(lost.map((line) => `  ${line}\n`).join(''))
    expect(json(await bind('--dry-run', '--json'))).toMatchObject({
      blockDevices: [
        { name: 'nvme0n1', sizeBytes: 2 ** 40, contents: 'gpt' },
        { name: 'nvme0n1p1', sizeBytes: 2 ** 39, contents: 'ntfs' },
      ],
    })
    const refused = await bind()
    expect([refused.code, refused.stderr.startsWith(lost.join('\n'))]).toEqual([4, true])
    expect(tree.state()).toEqual(ORIGINAL)
    expect((await bind(...CONFIRMED)).stderr).toBe(`${lost.join('\n')}\n`)
  })

  test('print the steps, the reason and the undo command as JSON', async () => {
    const bound = json(await bind(...CONFIRMED, '--json'))
    expect(bound).toMatchObject({
      schema: 'gpunvme.bind/1',
      ...{ address: BDF, name: 'nvme0', serial: SERIAL, model: MODEL },
      ...{ driver: 'vfio-pci', previous: 'nvme', transport: 'vfio', dryRun: false },
      reason: 'the IOMMU is on (group 12)',
      stateFile: stateFile(),
      undo: `gpunvme unbind ${BDF} --root ${tree.root}`,
    })
    expect((bound as { steps: { name: string }[] }).steps.map(({ name }) => name)).toEqual([
      'set driver_override',
      'unbind nvme',
      'bind vfio-pci',
      'set power/control',
    ])
    expect(json(await inProcess(tree, 'unbind', '0b:00.0', '--json'))).toMatchObject({
      schema: 'gpunvme.unbind/1',
      drives: [{ address: BDF, name: 'nvme0', result: 'given back', driver: 'nvme' }],
      failures: [],
    })
  })

  test('print shell commands with --dry-run, and change nothing', async () => {
    const plan = await bind('--dry-run', '--to', 'none')
    const device = `${tree.root}/sys/bus/pci/devices/${BDF}`
    expect([plan.code, plan.stderr]).toEqual([0, ''])
    expect(plan.stdout).toBe(
      [
        `${BDF} would be bound to no driver: requested by --to none`,
        '  No block device disappears: it has no namespace in Linux. The contents of the drive are unknown.',
        '  # set driver_override',
        `  echo gpunvme-none > ${device}/driver_override`,
        '  # unbind nvme',
        `  echo ${BDF} > ${device}/driver/unbind`,
        '',
      ].join('\n'),
    )
    expect(tree.state()).toEqual(ORIGINAL)
    expect(existsSync(join(tree.root, 'run'))).toBe(false)

    await bind(...CONFIRMED)
    const back = await inProcess(tree, 'unbind', '--all', '--dry-run')
    expect(back.stdout).toContain(`${BDF} would be returned to nvme\n  # unbind vfio-pci\n  echo ${BDF} > `)
    expect(back.stdout).toContain(`  echo > ${device}/driver_override\n`)
    expect(tree.state()).toEqual(BOUND)
    expect(existsSync(stateFile())).toBe(true)
  })

  test('choose the kernel module, then vfio-pci, then no driver', async () => {
    tree.driver('gpunvme')
    expect((await bind('--dry-run')).stdout).toContain('bound to gpunvme: the module gpunvme is loaded')
    tree.remove('sys/bus/pci/drivers/gpunvme')
    expect((await bind('--dry-run')).stdout).toContain('bound to vfio-pci: the IOMMU is on')
    tree.remove(`${tree.device()}/iommu_group`)
    expect((await bind('--dry-run')).stdout).toContain('bound to no driver: there is no IOMMU, or it is off, and')
  })

  test('reject a second bind of a drive, and keep its record', async () => {
    await bind(...CONFIRMED)
    const again = await inProcess(tree, 'bind', BDF, '--to', 'none', '--dry-run')
    expect(again.code).toBe(4)
    expect(again.stderr).toContain(`${BDF} is already bound by gpunvme, to vfio-pci`)
    expect(again.stderr).toContain(`Try: gpunvme unbind ${BDF} --root ${tree.root}`)
    expect((await inProcess(tree, 'unbind', BDF)).code).toBe(0)
    expect(tree.state()).toEqual(ORIGINAL)
  })

  test('bind and unbind with --all return all possible drives, and report failures', async () => {
    await bind(...CONFIRMED)
    const other = '0000:0c:00.0'
    tree.function(other, '0x010802', 'nvme')
    await inProcess(tree, 'bind', other, '--to', 'none', '--serial', other, '--yes')
    writeFileSync(stateFile(), '{}')
    const all = await inProcess(tree, 'unbind', '--all', '--json')
    expect(all.code).toBe(7)
    expect(json(all)).toMatchObject({
      drives: [{ address: other, result: 'given back', driver: 'nvme' }],
      failures: [{ address: BDF, code: 'ERR_GPUNVME_BINDING_STATE' }],
    })
    expect(tree.state(other)).toEqual(ORIGINAL)
    expect(tree.state()).toEqual(BOUND)
  })
})

describe('the record of a binding', () => {
  const change = (fields: object) => {
    const entry = JSON.parse(readFileSync(stateFile(), 'utf8')) as object
    writeFileSync(stateFile(), JSON.stringify({ ...entry, ...fields }))
  }

  test('a binding record from before a reboot is deleted without changes', async () => {
    await bind(...CONFIRMED)
    change({ bootId: 'another' })
    const before = tree.state()
    const back = await inProcess(tree, 'unbind', BDF)
    expect(back).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('a reboot has ended all bindings') as string,
    })
    expect(tree.state()).toEqual(before)
    expect(existsSync(stateFile())).toBe(false)
  })

  test('the binding record of a missing or returned drive is deleted', async () => {
    await bind(...CONFIRMED)
    tree.remove(tree.device())
    expect(json(await inProcess(tree, 'list', BDF, '--json'))).toMatchObject({
      drives: [{ address: BDF, name: 'nvme0', present: false, owner: 'past', closed: 'it is gone from the bus' }],
    })
    const { stdout } = await inProcess(tree, 'list')
    expect(stdout).toMatch(
      /Gone from the bus\. gpunvme bound it just now for \S+; that binding has ended\. Next: .* unbind 0000/,
    )
    const back = await inProcess(tree, 'unbind', BDF)
    expect(back).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('its record was deleted: the binding is no longer in effect') as string,
    })
    expect((await inProcess(tree, 'unbind', BDF)).code).toBe(3)
  })

  test('a binding with a running holder is not undone by another process', async () => {
    await bind(...CONFIRMED)
    const [pid, startTicks] = [process.ppid, startOf(process.ppid)]
    change({ holder: { pid, startTicks } })
    const refused = await inProcess(tree, 'unbind', BDF)
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain(`${BDF} is in use by process ${pid}, which returns it when it ends`)
    // A process with the same pid and another start time is a different one.
    change({ holder: { pid, startTicks: `${startTicks}0` } })
    expect((await inProcess(tree, 'unbind', BDF)).code).toBe(0)
    expect(tree.state()).toEqual(ORIGINAL)
  })

  test.each([
    ['is empty', ''],
    ['is an array', '[1]'],
    ['has another schema', '{"schema":"gpunvme.binding/2"}'],
    ['is too long', ' '.repeat(70_000)],
  ])('a binding record that %s is rejected, and the drive does not change', async (_, text) => {
    await bind(...CONFIRMED)
    writeFileSync(stateFile(), text)
    const refused = await inProcess(tree, 'unbind', BDF)
    expect(refused.code).toBe(7)
    expect(refused.stderr).toContain(`Cannot use ${stateFile()}`)
    const { drives } = json(await inProcess(tree, 'list', '--json')) as { drives: object[] }
    expect(drives).toMatchObject([{ address: BDF, owner: 'unknown', driver: 'vfio-pci' }])
    expect(drives[0]).not.toHaveProperty('next')
    expect((await inProcess(tree, 'list', BDF)).stdout).toContain(`  unknown    Cannot use ${stateFile()}`)
    expect((await inProcess(tree, 'list')).stdout).toContain(
      `Unknown whether gpunvme bound it: Cannot use ${stateFile()}`,
    )
    expect(tree.state()).toEqual(BOUND)
  })

  test('a binding record cannot refer to another driver path or address', async () => {
    await bind(...CONFIRMED)
    const { record } = JSON.parse(readFileSync(stateFile(), 'utf8')) as { record: object }
    change({ record: { ...record, previous: '../../../../away' } })
    expect((await inProcess(tree, 'unbind', BDF)).stderr).toContain('expected a driver name')
    change({ record: { ...record, bdf: '0000:0c:00.0' } })
    expect((await inProcess(tree, 'unbind', BDF)).stderr).toContain('it is the record of 0000:0c:00.0')
    expect(tree.state()).toEqual(BOUND)
  })
})

describe('list of the drives that bind takes', () => {
  test('shows a drive of Linux with the command to bind it', async () => {
    const { code, stdout } = await inProcess(tree, 'list', 'nvme0')
    expect(code).toBe(0)
    expect(stdout.replaceAll(tree.root, 'DIR')).toBe(
      [
        `${BDF}  nvme0  ${MODEL}`,
        `  serial     ${SERIAL}`,
        '  driver     nvme',
        '  link       unknown',
        '  in use     no, contents unknown',
        "  transport  none: it is bound to the kernel's driver nvme",
        '  next       on that machine: sudo gpunvme bind nvme0',
        '',
        'host bridge 0000:0b',
        `└─ 0b:00.0  SSD nvme0 ${MODEL}`,
        '',
        'No discrete GPU found.',
        '',
      ].join('\n'),
    )
  })

  test('shows time, user and undo command of a binding, and the name before it', async () => {
    await bind(...CONFIRMED)
    const { stdout } = await inProcess(tree, 'list', '0b:00.0')
    expect(stdout).toMatch(/^ {2}driver {5}vfio-pci, by gpunvme$/m)
    expect(stdout).toMatch(/^ {2}bound {6}just now \(20\d\d-.*Z\) for \S+: gpunvme /m)
    expect(stdout).toContain(`  next       on that machine: gpunvme nvme identify --drive ${BDF}\n`)
    expect(stdout).toContain(`  undo       on that machine: sudo gpunvme unbind ${BDF}\n`)
    const all = await inProcess(tree, 'list')
    expect(all.stdout).toContain(`${BDF}  nvme0  ${MODEL}     -  vfio-pci`)
    expect(all.stdout).toMatch(
      /Bound by gpunvme just now for \S+\. Opened by transport vfio\. Next: .*\n {2}Undo: .* unbind/,
    )
    const listed = json(await inProcess(tree, 'list', '--json'))
    expect(listed).toMatchObject({
      schema: 'gpunvme.list/1',
      drives: [
        {
          ...{ address: BDF, name: 'nvme0', model: MODEL, serial: SERIAL, present: true, group: 12 },
          ...{ driver: 'vfio-pci', owner: 'ours', transport: 'vfio' },
          bound: { driver: 'vfio-pci', previous: 'nvme', stateFile: stateFile() },
          undo: `on that machine: sudo gpunvme unbind ${BDF}`,
        },
      ],
    })
    expect((listed as { drives: object[] }).drives[0]).not.toHaveProperty('closed')
  })

  test('distinguishes drives of Linux, drives bound by other programs, and free drives', async () => {
    tree.function('0000:0c:00.0', '0x010802', 'vfio-pci')
    tree.function('0000:0d:00.0', '0x010802')
    const { drives } = json(await inProcess(tree, 'list', '--json')) as { drives: object[] }
    expect(drives).toMatchObject([
      { address: BDF, owner: 'linux' },
      { owner: 'foreign', transport: 'vfio', next: 'on that machine: gpunvme nvme identify --drive 0000:0c:00.0' },
      { owner: 'free', transport: 'sysfs', next: 'on that machine: sudo gpunvme bind 0000:0d:00.0' },
    ])
    for (const drive of drives) expect(drive).not.toHaveProperty('bound')
  })

  test('does not suggest to bind a drive that is in use or off the bus', async () => {
    tree.mount('/home')
    const used = await inProcess(tree, 'list', BDF)
    expect(used.stdout).toContain('  in use     nvme0n1p1 mounted on /home; cannot be bound\n')
    expect(used.stdout).not.toContain('gpunvme bind')
    tree.file(`${tree.device()}/config`, new Uint8Array(64).fill(0xff))
    tree.file('proc/self/mountinfo', '')
    const gone = await inProcess(tree, 'list', BDF)
    expect(gone.stdout).toContain('  transport  none: it is off the bus: configuration space reads as all ones\n')
    expect(gone.stdout).not.toContain('gpunvme bind')
  })

  test('shows a drive used by a program as not available', async () => {
    tree.function('0000:0c:00.0', '0x010802', 'vfio-pci')
    tree.group('0000:0c:00.0', '13')
    tree.file('proc/77/comm', 'qemu\n')
    mkdirSync(join(tree.root, 'proc/77/fd'), { recursive: true })
    symlinkSync('/dev/vfio/13', join(tree.root, 'proc/77/fd/5'))
    const { stdout } = await inProcess(tree, 'list', '0c:00.0')
    expect(stdout).toMatch(/^ {2}in use .*driven from user space.*cannot be bound$/ms)
    expect(stdout).toContain('  transport  none: it is in use\n')
  })

  test('rejects a root that is not a machine', async () => {
    tree.file('file', '')
    expect((await inProcess(tree, 'list', '--root', join(tree.root, 'dev-null'))).code).toBe(3)
    const file = await inProcess(tree, 'list', '--root', join(tree.root, 'file'))
    expect([file.code, file.stderr]).toEqual([3, expect.stringContaining('it is not a directory')])
    const empty = await inProcess(tree, 'list', '--root', '')
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('--root requires the name of a directory')])
    mkdirSync(join(tree.root, 'hollow'))
    const hollow = await inProcess(tree, 'list', '--root', join(tree.root, 'hollow'))
    expect([hollow.code, hollow.stderr]).toEqual([3, expect.stringContaining('it has neither sys/ nor proc/')])
  })
})

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!
}

import { isKnown, valueOf } from '../../machine/known.js'
import type { Drive } from '../../machine/machine.js'
import type { PciFunction } from '../../machine/pci-function.js'
import { functionAt } from '../../machine/index.js'
import { firmwareSwitch } from '../advice.js'
import { gpunvme, sysfs, type Facts } from '../facts.js'
import { command, finding, hands, read, type Draft, type Finding, type Step } from '../finding.js'
import { callDrive, isSystemDrive } from './drives.js'
import { kmodState } from './software.js'

/** Drivers for user-space access, and the transport that each provides. */
const GIVEN = new Map([
  ['vfio-pci', 'vfio'],
  ['gpunvme', 'kmod'],
])

/** Drivers that other functions of a vfio group may have. */
const HARMLESS = ['vfio-pci', 'pci-stub', 'pcieport']

const HUGE_PAGE_BYTES = 2_097_152
/** Enough for two layers of a 70B model: 2 x 670 MiB. */
const ADVISED_HUGE_PAGES = 768

/** Checks how a program can access each drive: its current driver, and the steps to bind another. */
export function checkTransports(facts: Facts): Finding[] {
  return facts.machine.drives.flatMap((drive) => {
    const found = functionAt(facts.machine, drive.address)
    // The system drive and absent drives get no steps.
    if (found === undefined || !found.isResponding || isSystemDrive(drive)) return []
    return checkDrive(facts, drive, found).map((draft) => finding('drives', { ...draft, subjects: [drive.address] }))
  })
}

function checkDrive(facts: Facts, drive: Drive, found: PciFunction): Draft[] {
  const { address, driver } = found
  const given = driver === undefined ? undefined : GIVEN.get(driver)
  const evidence = [read(sysfs(address, 'driver'), driver ?? 'none')]
  const level = lockdownWithoutTranslation(facts, found)
  if (level !== undefined && (given === 'kmod' || (given === undefined && found.group === undefined)))
    return [lockedDown(facts, drive, found, level)]
  if (given !== undefined)
    return [
      ...forDmaBuf(facts, drive, found),
      {
        id: 'drive-bound',
        severity: 'ok',
        title: `${callDrive(drive)} is bound to ${driver!}: use the transport ${given}`,
        evidence,
        opens: ['memory'],
      },
    ]
  return found.group === undefined ? withoutGroup(facts, drive, found) : byVfio(facts, drive, found, found.group)
}

/** vfio cannot map memory of devices that have a kernel driver, such as a GPU's. */
function forDmaBuf(facts: Facts, drive: Drive, { address, driver }: PciFunction): Draft[] {
  if (driver === 'gpunvme' || facts.machine.gpus.length === 0) return []
  return [
    {
      id: 'drive-by-vfio',
      severity: 'note',
      title: `${callDrive(drive)} is bound to vfio-pci, which cannot map GPU memory (dma-buf); the module gpunvme can`,
      steps: [command(gpunvme(facts, `bind ${address} --to kmod`, 'root'))],
      closes: ['tier2-dma-buf'],
    },
  ]
}

/**
 * With an IOMMU group: our module if it is loaded, else vfio, which limits the drive to mapped memory and stops it when
 * the program ends.
 */
function byVfio(facts: Facts, drive: Drive, found: PciFunction, number: number): Draft[] {
  const others = obstacles(facts, found)
  const kmod = kmodState(facts)
  const evidence = [
    read(sysfs(found.address, 'driver'), found.driver ?? 'none'),
    read(sysfs(found.address, 'iommu_group'), number),
  ]
  if (kmod.isLoaded && lockdownWithoutTranslation(facts, found) === undefined)
    return [{ ...toBind(drive, found, [bind(facts, found)], BY_MODULE), evidence }]
  if (others.length > 0) {
    const names = others.map(({ address, driver }) => `${address} (${driver!})`).join(', ')
    return [
      {
        id: 'group-shared',
        severity: 'problem',
        title: `${callDrive(drive)} shares its IOMMU group with devices of the kernel`,
        cause: `vfio needs the whole group ${number}, including ${names}. The module gpunvme does not use groups.`,
        evidence: [...evidence, read(`/sys/kernel/iommu_groups/${number}/devices`, names)],
        steps: [...kmod.steps, bind(facts, found)],
        closes: ['memory'],
      },
    ]
  }
  const missing = lacksVfio(facts)
  if (missing !== undefined)
    return [
      {
        id: 'vfio-missing',
        severity: 'problem',
        title: `The kernel has no vfio-pci for ${callDrive(drive)}: use the module gpunvme`,
        evidence: [...evidence, read(missing, 'no vfio-pci')],
        steps: [...kmod.steps, bind(facts, found)],
        closes: ['memory'],
      },
    ]
  return [
    {
      ...toBind(
        drive,
        found,
        [bind(facts, found, isVfioLoaded(facts) ? undefined : 'sudo modprobe vfio-pci')],
        'vfio-pci',
      ),
      evidence,
    },
  ]
}

const BY_MODULE = 'the module gpunvme'

/** Without an IOMMU group: our module if it is loaded, else /sys and huge pages. */
function withoutGroup(facts: Facts, drive: Drive, found: PciFunction): Draft[] {
  const kmod = kmodState(facts)
  const evidence = [
    read(sysfs(found.address, 'driver'), found.driver ?? 'none'),
    read(sysfs(found.address, 'iommu_group'), 'none'),
  ]
  if (kmod.isLoaded) return [{ ...toBind(drive, found, [bind(facts, found)], BY_MODULE), evidence }]
  const hasDriver = found.driver !== undefined
  const steps = [...hugePages(facts), ...(hasDriver ? [bind(facts, found)] : [])]
  if (steps.length > 0) return [{ ...toBind(drive, found, steps, '/sys and huge pages'), evidence }]
  return [
    {
      id: 'drive-free',
      severity: 'ok',
      title: `${callDrive(drive)} has no driver: use the transport sysfs`,
      evidence,
      opens: ['memory'],
    },
  ]
}

/** Returns the level of lockdown if no IOMMU translates for the drive: then neither /sys nor our module can open it. */
function lockdownWithoutTranslation({ machine }: Facts, { group }: PciFunction): string | undefined {
  const level = valueOf(machine.kernel.lockdown)
  if (level === undefined || level === 'none') return undefined
  const type = machine.iommu.groups.find(({ number }) => number === group)?.type
  return group === undefined || type === 'identity' ? level : undefined
}

function lockedDown(facts: Facts, drive: Drive, { address, driver, group }: PciFunction, level: string): Draft {
  const evidence = [
    read(sysfs(address, 'driver'), driver ?? 'none'),
    read(sysfs(address, 'iommu_group'), group ?? 'none'),
    read('/sys/kernel/security/lockdown', level),
  ]
  const how = group === undefined ? 'without an IOMMU rules out every transport' : 'with iommu=pt rules out the module'
  return {
    id: 'locked-down-without-iommu',
    severity: 'blocker',
    title: `${callDrive(drive)}: the kernel is locked down, which ${how}`,
    cause:
      'Lockdown blocks registers in /sys, and the module gpunvme unless an IOMMU translates. vfio works if the IOMMU is on.',
    evidence,
    steps:
      group === undefined
        ? [firmwareSwitch(facts.machine, 'iommu')]
        : [hands('boot without iommu=pt, or bind the drive to vfio-pci')],
    closes: ['memory'],
  }
}

function toBind(drive: Drive, found: PciFunction, steps: readonly Step[], to: string): Draft {
  const name = callDrive(drive)
  const isBound = found.driver !== undefined
  const from = isBound ? `It is bound to the kernel's ${found.driver}.` : 'It has no driver.'
  return {
    id: 'drive-to-hand-over',
    severity: 'note',
    title: isBound ? `Bind ${name} to user space, by ${to}` : `Prepare ${name} for user space, by ${to}`,
    cause: `${from} User space can use it after that; unbind reverses it.`,
    steps,
    closes: ['memory'],
  }
}

/** `bind` chooses the driver in the same way. */
function bind(facts: Facts, { address }: PciFunction, before?: string): Step {
  const step = gpunvme(facts, `bind ${address}`, 'root')
  return command(before === undefined ? step : { words: [`${before} && `, step] })
}

function isVfioLoaded({ machine: { modules } }: Facts): boolean {
  const loaded = valueOf(modules.loaded)?.map(({ name }) => name) ?? []
  return loaded.includes('vfio_pci') || (valueOf(modules.builtIn) ?? []).includes('vfio_pci')
}

/** Other functions of the group that have a kernel driver. As in the kernel, bridges do not count. */
function obstacles({ machine }: Facts, found: PciFunction): PciFunction[] {
  return machine.functions.filter(
    ({ address, group, driver, classCode }) =>
      group === found.group &&
      address !== found.address &&
      driver !== undefined &&
      !HARMLESS.includes(driver) &&
      classCode >> 16 !== 0x06,
  )
}

/** Returns the source that shows that vfio-pci is missing; undefined if it exists or is unknown. */
function lacksVfio({ machine: { kernel, modules } }: Facts): string | undefined {
  const config = valueOf(kernel.config)
  const setting = config?.options['VFIO_PCI']
  if (config !== undefined && setting !== undefined) return setting === 'n' ? config.source : undefined
  if (!isKnown(modules.onDisk) || !isKnown(modules.builtIn) || !isKnown(modules.loaded)) return undefined
  const all = [...modules.onDisk, ...modules.builtIn, ...modules.loaded.map(({ name }) => name)]
  return all.includes('vfio_pci') ? undefined : '/lib/modules'
}

function hugePages({ machine: { memory } }: Facts): Step[] {
  const pool = memory.hugePages.find(({ pageBytes, node }) => pageBytes === HUGE_PAGE_BYTES && node === undefined)
  if (pool !== undefined && pool.freePages > 0) return []
  return [command(`echo ${ADVISED_HUGE_PAGES} | sudo tee /proc/sys/vm/nr_hugepages`)]
}

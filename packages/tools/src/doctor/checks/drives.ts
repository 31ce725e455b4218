import type { Holder } from '@gpunvme/host-driver'
import { isKnown, valueOf } from '../../machine/known.js'
import type { Drive, Machine, Namespace, Temperature } from '../../machine/machine.js'
import { describeContents, holdsKnownData } from '../../machine/contents.js'
import { functionAt } from '../../machine/index.js'
import { formatBytes } from '../../terminal/units.js'
import { sysfs, type Facts } from '../facts.js'
import { command, finding, hands, read, type Draft, type Finding, type Step } from '../finding.js'

/** Checks the users, state, temperature and namespaces of each drive. Other checks cover its links and transports. */
export function checkDrives(facts: Facts): Finding[] {
  return facts.machine.drives
    .flatMap((drive) => checkDrive(facts, drive).map((draft) => ({ ...draft, subjects: [drive.address] })))
    .map((draft) => finding('drives', draft))
}

function checkDrive(facts: Facts, drive: Drive): Draft[] {
  return [
    ...usedBy(facts.machine, drive),
    ...state(drive),
    ...temperature(drive),
    ...namespaces(drive),
    ...lentMemory(drive),
    ...reset(facts, drive),
  ]
}

/** Returns model and name: 'SN740 (nvme1)'. */
export function callDrive({ address, name, model }: Drive): string {
  const words = [valueOf(model), name].filter((word) => word !== undefined && word !== '')
  return words.length === 0 ? address : `${address} (${words.join(', ')})`
}

function usedBy({ drives }: Machine, drive: Drive): Draft[] {
  const { holders } = drive
  const name = callDrive(drive)
  if (!isKnown(holders))
    return [
      {
        id: 'drive-use-unknown',
        severity: 'unknown',
        title: `Unknown whether ${name} is in use, so it is left alone`,
        evidence: [read('mounts, swap, holders, open files', holders.unknown)],
        closes: ['memory'],
      },
    ]
  if (holders.length === 0)
    return [
      {
        id: 'drive-unused',
        // The user may miss the data, although the running system does not use them.
        severity: holdsKnownData(drive.namespaces) ? 'note' : 'ok',
        title: `${name} is not in use, ${describeContents(drive.namespaces)}`,
        evidence: [read('mounts, swap, holders, open files', 'none')],
        opens: ['memory'],
      },
    ]
  const isSystem = isSystemDrive(drive)
  const uses = [...new Set(holders.map(({ device, use }) => `${device} is ${use}`))]
  if (holders.every(isProgram)) return [driven(name, uses)]
  const isOtherFree = drives.some((other) => other !== drive && isForPrograms(other))
  const draft = {
    id: isSystem ? 'drive-is-system' : 'drive-in-use',
    severity: isOtherFree ? 'note' : 'blocker',
    evidence: uses.slice(0, 4).map((use) => read('in use', use)),
    closes: ['memory'],
  } as const satisfies Partial<Draft>
  if (isSystem)
    return [
      {
        ...draft,
        title: `${name} is the system drive: it cannot be bound to user space`,
        cause: 'Streaming requires a separate NVMe SSD that the system does not use.',
      },
    ]
  return [
    {
      ...draft,
      title: `${name} is in use: it cannot be bound to user space`,
      cause: 'A drive bound to user space disappears from the kernel, and its users get errors.',
      steps: releases(holders),
    },
  ]
}

/** Whether the drive is unused, or used by a user-space driver. */
function isForPrograms({ holders }: Drive): boolean {
  return isKnown(holders) && holders.every(isProgram)
}

function isProgram({ use }: Holder): boolean {
  return use.startsWith('driven from user space')
}

/** Finding for a drive in use by a user-space driver. */
function driven(name: string, uses: readonly string[]): Draft {
  return {
    id: 'drive-driven',
    severity: 'note',
    title: `${name} is in use by a user-space driver`,
    evidence: uses.map((use) => read('in use', use)),
    steps: [hands('wait until that process ends')],
    closes: ['memory'],
  }
}

/** Whether the running system requires the contents of the drive. */
export function isSystemDrive({ holders }: Drive): boolean {
  return isKnown(holders) && holders.some(({ use }) => SYSTEM_USE.test(use))
}

const SYSTEM_USE =
  /mounted on (\/|\/boot|\/boot\/\S*|\/efi|\/usr|\/var|\/home|\/nix|\/nix\/store)(,|$)|EFI system partition/

function releases(holders: readonly Holder[]): Step[] {
  const steps = holders.flatMap(({ device, use }) => release(device, use))
  return steps.filter((step, index) => steps.findIndex(({ action }) => action === step.action) === index)
}

/** Returns a command if it is certain, else words, because only the user knows what depends on the drive. */
function release(device: string, use: string): Step {
  const [, where] = /^mounted on (\S+)$/.exec(use) ?? []
  if (where !== undefined) return command(`sudo umount ${where}`)
  if (use.startsWith('swap')) return command(`sudo swapoff /dev/${device}`)
  const [, array, above] = /^held by (md\d+) \([^)]*\), mounted on (\S+)$/.exec(use) ?? []
  if (array !== undefined && above !== undefined)
    return command(`sudo umount ${above} && sudo mdadm --stop /dev/${array}`)
  return hands(`stop using it: ${device} is ${use}`)
}

function state(drive: Drive): Draft[] {
  if (drive.state === undefined || drive.state === 'live') return []
  const isDead = drive.state === 'dead'
  return [
    {
      id: 'drive-not-live',
      severity: 'problem',
      title: `The kernel reports ${callDrive(drive)} as "${drive.state}"`,
      cause: 'It does not respond, or is being reset.',
      evidence: [read(`/sys/class/nvme/${drive.name ?? '?'}/state`, drive.state)],
      steps: [
        command('sudo dmesg | grep nvme'),
        ...(isDead ? [hands('power off, wait ten seconds, power on; if it stays dead, it is defective')] : []),
      ],
      closes: isDead ? ['memory'] : [],
    },
  ]
}

function temperature(drive: Drive): Draft[] {
  const known = valueOf(drive.temperature)
  if (known === undefined) return []
  const { celsius, warningCelsius } = known
  const evidence = [read(`hwmon of ${drive.name ?? drive.address}`, limits(known))]
  if (warningCelsius !== undefined && celsius >= warningCelsius - 10)
    return [
      {
        id: 'drive-hot',
        severity: celsius >= warningCelsius ? 'problem' : 'note',
        title: `${callDrive(drive)} is at ${celsius} °C; warning threshold ${warningCelsius} °C`,
        cause:
          'Long reads heat a drive without a heatsink until it throttles; one lost a third of its rate after a minute.',
        evidence,
        steps: [hands('add a heatsink or airflow')],
      },
    ]
  return [{ id: 'drive-cool', severity: 'ok', title: `${callDrive(drive)} is at ${celsius} °C`, evidence }]
}

function limits({ celsius, warningCelsius, criticalCelsius }: Temperature): string {
  const bounds = [
    ...(warningCelsius === undefined ? [] : [`warning ${warningCelsius}`]),
    ...(criticalCelsius === undefined ? [] : [`critical ${criticalCelsius}`]),
  ]
  return bounds.length === 0 ? `${celsius} °C` : `${celsius} °C, ${bounds.join(', ')}`
}

function namespaces(drive: Drive): Draft[] {
  const known = valueOf(drive.namespaces)
  // A drive without a kernel driver, or given up by it, has no namespaces to list.
  if (known === undefined || drive.name === undefined || drive.state === 'dead') return []
  if (known.length === 0)
    return [
      {
        id: 'no-namespace',
        severity: 'problem',
        title: `${callDrive(drive)} has no namespace`,
        evidence: [read(`/sys/class/nvme/${drive.name}`, 'no namespace')],
      },
    ]
  return known.map((namespace) => describeNamespace(namespace))
}

function describeNamespace({ name, sizeBytes, blockBytes, maxTransferBytes }: Namespace): Draft {
  const max = maxTransferBytes === undefined ? '' : `, up to ${formatBytes(maxTransferBytes)} per command`
  return {
    id: 'namespace',
    severity: 'ok',
    title: `${name}: ${formatBytes(sizeBytes)} in blocks of ${formatBytes(blockBytes)}${max}`,
    evidence: [read(`/sys/block/${name}/queue/logical_block_size`, blockBytes)],
  }
}

function lentMemory(drive: Drive): Draft[] {
  if (valueOf(drive.hostMemoryBuffer) !== true) return []
  return [
    {
      id: 'host-memory-buffer',
      severity: 'ok',
      title: `${callDrive(drive)} has no DRAM and uses host memory (HMB); our driver provides it too`,
      evidence: [read('Host Memory Buffer', 'lent by the kernel')],
    },
  ]
}

/** A hung drive without a Function Level Reset needs a bus reset or a power cycle. */
function reset(facts: Facts, drive: Drive): Draft[] {
  const found = functionAt(facts.machine, drive.address)
  if (found === undefined || valueOf(found.hasFunctionLevelReset) !== false) return []
  return [
    {
      id: 'no-function-reset',
      severity: 'note',
      title: `${callDrive(drive)} has no Function Level Reset: if it hangs, it needs a power cycle`,
      evidence: [read(sysfs(drive.address, 'config'), 'DevCap.FLR=0')],
    },
  ]
}

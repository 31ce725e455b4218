import { expect } from 'vitest'
import type { Mode } from './modes.js'

const matching = (pattern: RegExp) => expect.stringMatching(pattern) as unknown

/** Results of guest/refusals.ts by attempt. */
export type Refused = Record<string, { code: string; category: string; message: string; left?: string[] }>

/** Expects an error with this code and message, and no change of the machine's state. */
function refusal(code: string, says: RegExp, category: string): object {
  return { code: `ERR_GPUNVME_${code}`, category, message: matching(says), left: [] }
}

/** Expects an error in another process, whose state ends with it. */
function refusalOfUser(code: string, says: RegExp): object {
  return { code: `ERR_GPUNVME_${code}`, category: 'privilege', message: matching(says) }
}

const LISTED = /NVMe controllers here: 0000:00:04\.0, [^]*Try: give one of these addresses/

const EVERYWHERE = {
  kernelHasIt: refusal('DRIVER_BOUND', /The kernel's driver nvme is bound[^]*Try: bindDriver/, 'privilege'),
}

/** Result of an attempt that succeeded. */
const NOT_REFUSED = { code: 'none', category: 'none', message: 'the attempt succeeded' }

const HUGE_PAGES = {
  noHugePages: refusal('HUGE_PAGES', /of 2 MiB: 1 needed, 0 free[^]*Try: echo 97 > /, 'infeasible'),
  tooFewHugePages: refusal('HUGE_PAGES', /of 2 MiB: 256 needed, 95 free[^]*Try: echo 257 > /, 'infeasible'),
}

const OPEN_ALREADY = refusal('DEVICE_HELD', /this process has it open already/, 'privilege')

const VFIO = {
  userOpens: refusalOfUser('HARDWARE_ACCESS', /\/dev\/vfio\/\S+: EACCES[^]*Try: run as root, or make that file/),
  openAlready: OPEN_ALREADY,
}

const MODULE = {
  ...EVERYWHERE,
  noNode: refusal('KMOD_MISSING', /existing nodes: gpunvme0\n.*Try: use an existing node/, 'not-found'),
  openAlready: OPEN_ALREADY,
  openElsewhere: {
    ...refusalOfUser(
      'KMOD_BUSY',
      /its gpunvme0 is open in process \d+ \(\S+\)\n.*fuser \/dev\/gpunvme0 shows the process/,
    ),
  },
  userOpens: refusalOfUser('HARDWARE_ACCESS', /\/dev\/gpunvme0: EACCES[^]*Try: run as root, or make that file/),
  noHugePages: refusal('HUGE_PAGES', /of 2 MiB: 1 needed, 0 free/, 'infeasible'),
  tooMuch: { code: 'none', category: 'none', message: matching(/expected at most 67108864 in one piece/), left: [] },
}

/** Expected errors in each mode, and of `enable`, before VFIO is usable. */
export const REFUSALS: Readonly<Record<Mode['name'] | 'enable', object>> = {
  kmod: {
    ...MODULE,
    userHasTheNode: refusalOfUser(
      'KMOD_UNTRANSLATED',
      /this process lacks CAP_SYS_RAWIO\n[^]*Try: run as root or with/,
    ),
  },
  'kmod-iommu': {
    ...MODULE,
    // With IOMMU translation, access to the node is sufficient.
    userHasTheNode: NOT_REFUSED,
    littleMemlock: refusalOfUser('MEMLOCK_LIMIT', /RLIMIT_MEMLOCK allows 65536[^]*Try: ulimit -l \d+/),
    // The limit that the error suggests is sufficient.
    advisedMemlock: NOT_REFUSED,
  },
  'kmod-pt': {},
  enable: {
    noDriver: refusal('DRIVER_NOT_LOADED', /no driver of that name\n.*Try: modprobe vfio-pci/, 'not-found'),
    notEnabled: refusal('BIND', /bind vfio-pci[^]*EINVAL[^]*echo 1 > \/sys\/module\/vfio\/parameters/, 'failure'),
  },
  sysfs: {
    ...EVERYWHERE,
    ...HUGE_PAGES,
    noFunction: refusal('PCI_FUNCTION_NOT_FOUND', LISTED, 'not-found'),
    noController: refusal('NOT_NVME', LISTED, 'not-found'),
    userBinds: refusalOfUser('DEVICE_USE_UNKNOWN', /\/dev\/nvme\dn1: EACCES[^]*Try: run as root/),
    userOpens: refusalOfUser('CONFIG_SPACE_ACCESS', /EACCES[^]*Try: run as root/),
    openAlready: OPEN_ALREADY,
  },
  'vfio-noiommu': {
    ...EVERYWHERE,
    ...HUGE_PAGES,
    ...VFIO,
    userHasTheGroup: refusalOfUser('HARDWARE_ACCESS', /EPERM[^]*CAP_SYS_RAWIO/),
  },
  vfio: {
    ...EVERYWHERE,
    ...VFIO,
    iommuIsOn: refusal('IOMMU_ACTIVE', /do not reach memory[^]*Try: use the transport vfio/, 'infeasible'),
    // Access to the group is sufficient without root.
    userHasTheGroup: NOT_REFUSED,
    littleMemlock: refusalOfUser('MEMLOCK_LIMIT', /RLIMIT_MEMLOCK allows 65536[^]*Try: ulimit -l \d+/),
    // The limit that the error suggests is sufficient.
    advisedMemlock: NOT_REFUSED,
    noHugePages: refusal('HUGE_PAGES', /of 2 MiB: 1 needed, 0 free/, 'infeasible'),
    otherMode: refusal('VFIO_MODE', /expected 'type1' for 0000:00:04\.0, got 'noiommu'/, 'usage'),
    groupInUse: refusal('GROUP_NOT_VIABLE', /0000:00:08\.1 is bound to nvme[^]*Try: unbind them/, 'privilege'),
    groupInUseLater: refusal('GROUP_NOT_VIABLE', /0000:00:08\.1 is bound to nvme[^]*Try: unbind them/, 'privilege'),
  },
}

import type { Flavour, PfnShape } from './driver-state.js'
import { findFunctions, hashOfCode } from './c-source.js'

/** Functions of os-mlock.c that find the page behind a mapping of registers, and their callers. */
export const PFN_FUNCTIONS = ['nv_follow_flavors', 'nv_follow_pfn', 'get_io_ptes', 'os_lookup_user_io_memory'] as const

export type PfnFunction = (typeof PFN_FUNCTIONS)[number]

/** A shape found in published sources. */
export interface KnownShape {
  readonly shape: PfnShape
  readonly flavours: readonly Flavour[]
  /** `hashOfCode` of each function; null if absent. Several if they differ only in irrelevant details. */
  readonly functions: Readonly<Record<PfnFunction, readonly string[] | null>>
  /** Versions with this shape. */
  readonly versions: string
  /** Where it was read. */
  readonly source: string
}

const GET_IO_PTES = ['65c8889037d917cfc84674adc8008e757edfad035df59f5a26f80dd539425a23']
/** The first one did not check yet that the mapping is one of registers. */
const OS_LOOKUP = [
  'a8864bf9b00cc184895127b501b099761ba54c1401cd8f073ed628f76dca86e5',
  'e7dc3764c538ef71688048020356881ad36819b4029bcc44a1493f4cd3523937',
]
const OS_LOOKUP_CHECKED = OS_LOOKUP.slice(1)
/** Either `follow_pfn`, if conftest finds it, or nv_follow_flavors. */
const FOLLOW_PFN_OR_FLAVORS = ['151fb3e91e167c80ee8fb87a5135a2ff834277fcfbe50968f6ae237972a61390']

const GITHUB = 'github.com/NVIDIA/open-gpu-kernel-modules, by tag'

/**
 * Open: all 193 tags from 515.43.04 to 595.45.04, and Ubuntu's packages up to 595.99.02. Proprietary: Debian's
 * nvidia-kernel-source and Ubuntu's nvidia-kernel-source-VERSION, of the versions that `versions` lists.
 */
export const KNOWN_SHAPES: readonly KnownShape[] = [
  {
    shape: 'follow_pfn-only',
    flavours: ['open', 'proprietary'],
    functions: {
      nv_follow_flavors: null,
      nv_follow_pfn: ['16ef48af15606c0af0f0aa87d5f6b3388bcdd415cc51a181a14e5ab15095080f'],
      get_io_ptes: GET_IO_PTES,
      os_lookup_user_io_memory: OS_LOOKUP,
    },
    versions:
      'open up to 535.183.06, 545, 550.40.07 to 550.40.63, 550.54.14 to 550.78, 555.42; proprietary 470.256.02, 525.105.17, 530.41.03, 535.161.08, 535.171.04, 545.29.06, 550.67',
    source: `${GITHUB}; Debian 470.256.02; Ubuntu`,
  },
  {
    shape: 'follow_pte-or-fail',
    flavours: ['open'],
    functions: {
      nv_follow_flavors: null,
      nv_follow_pfn: ['7fcd41b6fbdb7986ea0e31ec8e2c066aa3ad47761ca4d8c06a4b9f601791d88c'],
      get_io_ptes: GET_IO_PTES,
      os_lookup_user_io_memory: OS_LOOKUP_CHECKED,
    },
    versions:
      'open 535.216.01 to 535.230.02, 550.40.65 to 550.40.85, 550.90.07 to 550.144.03, 555.52.04 to 565.77, 570.86.15 to 570.123.06, 570.124',
    source: GITHUB,
  },
  {
    shape: 'follow_pfnmap-or-fail',
    flavours: ['open'],
    functions: {
      nv_follow_flavors: ['72c2aba552d5c75ed84aba2cb423541982928153c0af733d6f65495a7beeb591'],
      nv_follow_pfn: FOLLOW_PFN_OR_FLAVORS,
      get_io_ptes: GET_IO_PTES,
      os_lookup_user_io_memory: OS_LOOKUP_CHECKED,
    },
    versions: 'open 535.247.01 to 535.288.01, 550.163.01, 570.123.07 to 570.123.19, 570.133.07 to 595.99.02',
    source: `${GITHUB}; Debian 550.163.01; Ubuntu 580.159.03 to 595.99.02`,
  },
  {
    shape: 'follow_pfn-or-fail',
    flavours: ['proprietary'],
    functions: {
      nv_follow_flavors: null,
      nv_follow_pfn: ['f60de18015abb28fbdd4e4347fd273c2077baaf1703091c98bd48b40c25ba276'],
      get_io_ptes: GET_IO_PTES,
      os_lookup_user_io_memory: OS_LOOKUP_CHECKED,
    },
    versions: 'proprietary 535.216.03, 535.230.02, 565.57.01',
    source: 'Debian 535.216.03; Ubuntu 535.230.02, 565.57.01',
  },
  {
    shape: 'follow_pfn-or-fail',
    flavours: ['proprietary'],
    functions: {
      nv_follow_flavors: ['b2521b3c4a25d43be2451fab99bcef78b6eee54dd6c4c68fe823dc232f05dbc2'],
      nv_follow_pfn: FOLLOW_PFN_OR_FLAVORS,
      get_io_ptes: GET_IO_PTES,
      os_lookup_user_io_memory: OS_LOOKUP_CHECKED,
    },
    versions:
      'proprietary 535.247.01, 535.261.03, 535.274.02, 550.163.01, 570.133.07, 570.133.20, 580.82.07, 580.126.20, 580.142, 580.159.03, 580.178.04, 595.58.03, 595.91.07, 595.99.02',
    source: 'Debian 535.261.03, 535.274.02, 550.163.01; Ubuntu the others',
  },
]

/** Returns the shape in the table that matches all functions of a source; undefined if none does. */
export function shapeOf(source: string, flavour: Flavour, table: readonly KnownShape[]): KnownShape | undefined {
  const hashes = new Map(PFN_FUNCTIONS.map((name) => [name, hashOfFunction(source, name)]))
  const found = table.filter(
    ({ flavours, functions }) =>
      flavours.includes(flavour) && PFN_FUNCTIONS.every((name) => matches(hashes.get(name), functions[name])),
  )
  return found.length === 1 ? found[0] : undefined
}

/** Null if absent, undefined if defined more than once. */
function hashOfFunction(source: string, name: PfnFunction): string | null | undefined {
  const [place, another] = findFunctions(source, name)
  if (another !== undefined) return undefined
  return place === undefined ? null : hashOfCode(source.slice(place.start, place.end))
}

function matches(hash: string | null | undefined, known: readonly string[] | null): boolean {
  if (known === null) return hash === null
  return typeof hash === 'string' && known.includes(hash)
}

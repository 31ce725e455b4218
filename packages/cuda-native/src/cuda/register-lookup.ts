/** NVIDIA's loaded kernel module. */
export interface NvidiaModule {
  /** Whether it is the open variant. */
  readonly isOpen: boolean
  /** Such as '580.95.05'. */
  readonly version: string
}

/**
 * Whether NVIDIA's module can look up the page frames of a drive's registers, as their registration with CUDA requires.
 * 'needs-open': only the open variant can, since the kernel exports the function to GPL modules only. 'needs-newer': the
 * module does not use the function that this kernel has.
 */
export type RegisterLookup = 'works' | 'needs-open' | 'needs-newer'

/** First version of each branch that uses a kernel function; newer branches always use it. */
type Since = readonly (readonly [branch: number, minor: number, patch: number])[]

// From os-mlock.c of all 193 tags of NVIDIA/open-gpu-kernel-modules.
const FOLLOW_PTE: Since = [
  [535, 216, 1],
  [550, 90, 7],
  [570, 86, 15],
]
const FOLLOW_PFNMAP: Since = [
  [535, 247, 1],
  [550, 163, 1],
  [570, 133, 7],
]

/**
 * Predicts whether a module can look up registers on a kernel, from the functions that both are known to have: follow_pfn
 * up to Linux 6.9, for all modules; follow_pte in 6.10 and 6.11, and follow_pfnmap_start from 6.12 on, for GPL modules only.
 * A patched build may differ.
 * @param kernelRelease such as '6.12.3-generic'.
 */
export function registerLookup({ isOpen, version }: NvidiaModule, kernelRelease: string): RegisterLookup {
  const kernel = numbersOf(kernelRelease)
  if (isBelow(kernel, [6, 10])) return 'works'
  if (!isOpen) return 'needs-open'
  const since = isBelow(kernel, [6, 12]) ? FOLLOW_PTE : FOLLOW_PFNMAP
  const numbers = numbersOf(version)
  const first = since.find(([branch]) => branch >= numbers[0]!) ?? []
  return isBelow(numbers, first) ? 'needs-newer' : 'works'
}

function numbersOf(version: string): number[] {
  return (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number)
}

function isBelow(version: readonly number[], other: readonly number[]): boolean {
  const at = other.findIndex((number, index) => number !== (version[index] ?? 0))
  return at !== -1 && (version[at] ?? 0) < other[at]!
}

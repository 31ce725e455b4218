import type { DescribedDriver, DescribedLookup } from '../../nvidia/described-driver.js'

/** NVIDIA's driver as a whole: running, on disk, and libcuda, all of one version. */
export function openDriver(version: string, pfn: DescribedLookup = 'follow_pfnmap_start') {
  return driver(version, 'open', pfn)
}

/** The proprietary flavour: from Linux 6.10 on its module looks up nothing. */
export function proprietaryDriver(version: string, pfn: DescribedLookup = 'none') {
  return driver(version, 'proprietary', pfn)
}

function driver(version: string, flavour: 'open' | 'proprietary', pfn: DescribedLookup): DescribedDriver {
  return { running: { version, flavour }, onDisk: { version, flavour, pfn }, libcuda: version }
}

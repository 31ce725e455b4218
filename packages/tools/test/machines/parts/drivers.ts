import type { DescribedDriver, DescribedLookup } from '../../nvidia/described-driver.js'

/** NVIDIA's driver with one version of the running module, the module on disk and libcuda. */
export function openDriver(version: string, pfn: DescribedLookup = 'follow_pfnmap_start') {
  return driver(version, 'open', pfn)
}

/** The proprietary flavour, whose module calls no PFN lookup function from Linux 6.10 on. */
export function proprietaryDriver(version: string, pfn: DescribedLookup = 'none') {
  return driver(version, 'proprietary', pfn)
}

function driver(version: string, flavour: 'open' | 'proprietary', pfn: DescribedLookup): DescribedDriver {
  return { running: { version, flavour }, onDisk: { version, flavour, pfn }, libcuda: version }
}

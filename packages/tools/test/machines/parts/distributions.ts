import type { DescribedDistribution } from '../described.js'

const COMMON = {
  VFIO: 'm',
  VFIO_PCI: 'm',
  VFIO_IOMMU_TYPE1: 'm',
  AMD_IOMMU: 'y',
  INTEL_IOMMU: 'y',
  STRICT_DEVMEM: 'y',
  PCIEASPM: 'y',
  BLK_DEV_NVME: 'm',
  HUGETLBFS: 'y',
  MODULES: 'y',
  MODULE_SIG: 'y',
  DMA_SHARED_BUFFER: 'y',
  SECURITY_LOCKDOWN_LSM: 'y',
} as const

/** Distributions with the configuration of their kernels. */
export const distributions = {
  debian12: {
    id: 'debian',
    version: '12',
    name: 'Debian GNU/Linux 12 (bookworm)',
    config: { ...COMMON, IO_STRICT_DEVMEM: 'y' },
  },
  debian13: {
    id: 'debian',
    version: '13',
    name: 'Debian GNU/Linux 13 (trixie)',
    config: { ...COMMON, IO_STRICT_DEVMEM: 'y' },
  },
  ubuntu2204: {
    id: 'ubuntu',
    version: '22.04',
    name: 'Ubuntu 22.04.5 LTS',
    like: 'debian',
    config: { ...COMMON, VFIO_NOIOMMU: 'y', INTEL_IOMMU_DEFAULT_ON: 'y' },
  },
  ubuntu2404: {
    id: 'ubuntu',
    version: '24.04',
    name: 'Ubuntu 24.04.3 LTS',
    like: 'debian',
    config: { ...COMMON, VFIO_NOIOMMU: 'y', PCI_P2PDMA: 'y', INTEL_IOMMU_DEFAULT_ON: 'y' },
  },
  fedora42: {
    id: 'fedora',
    version: '42',
    name: 'Fedora Linux 42 (Workstation Edition)',
    config: { ...COMMON, IO_STRICT_DEVMEM: 'y', PCI_P2PDMA: 'y' },
  },
  arch: {
    id: 'arch',
    name: 'Arch Linux',
    config: { ...COMMON, VFIO_NOIOMMU: 'y', IO_STRICT_DEVMEM: 'y', PCI_P2PDMA: 'y' },
  },
  rocky9: {
    id: 'rocky',
    version: '9.4',
    name: 'Rocky Linux 9.4 (Blue Onyx)',
    like: 'rhel centos fedora',
    config: { ...COMMON, IO_STRICT_DEVMEM: 'y', INTEL_IOMMU_DEFAULT_ON: 'y' },
  },
} as const satisfies Record<string, DescribedDistribution>

// Requests that the kernel or the driver rejects. Each has its own error, and changes nothing.
import { chmodSync, chownSync, readlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bindDriver } from '@gpunvme/host-driver/pci'
import { openSysfs } from '@gpunvme/host-driver/sysfs'
import { openVfio } from '@gpunvme/host-driver/vfio'
import {
  driverOf,
  fixed,
  host,
  kernelDevices,
  mode,
  openTransport,
  print,
  sysfsFolder,
  take,
  twins,
  vram,
} from './lib.js'
import { asUser, NOBODY, Refusals, withoutHugePages } from './refusals-of.js'

const refusals = new Refusals()
const driver = mode === 'sysfs' ? null : 'vfio-pci'

await kernelDevices(fixed)
await refusals.of('kernelHasIt', () => openTransport(fixed))
if (mode === 'sysfs') {
  await refusals.of('noFunction', () => bindDriver({ bdf: '0000:00:1e.7', driver }))
  await refusals.of('noController', () => bindDriver({ bdf: vram, driver }))
  refusals.found['userBinds'] = asUser('bind')
}

if (mode === 'vfio') {
  await using unbound = await bindDriver({ bdf: fixed.bdf, driver: null })
  await refusals.of('iommuIsOn', () => openSysfs({ host, bdf: unbound.bdf }))
}

{
  await using binding = await take(fixed)
  refusals.found['userOpens'] = asUser('read')
  if (mode !== 'vfio') await withoutHugePages(() => refusals.of('noHugePages', () => openTransport(binding)))
  await using transport = await openTransport(binding)
  if (mode !== 'vfio') {
    await refusals.of('tooFewHugePages', () => Promise.resolve().then(() => transport.dma.alloc(2 ** 29)))
  }
  await refusals.of('openAlready', () => openTransport(binding))
}

if (mode !== 'sysfs') {
  await using binding = await take(fixed)
  const group = basename(readlinkSync(join(sysfsFolder(fixed.bdf), 'iommu_group')))
  const node = `/dev/vfio/${mode === 'vfio' ? '' : 'noiommu-'}${group}`
  chownSync(node, NOBODY, NOBODY)
  chmodSync(node, 0o600)
  refusals.found['userHasTheGroup'] = asUser('read')
  if (mode === 'vfio') {
    refusals.found['littleMemlock'] = asUser('read', 64)
    // The limit that the error suggests must be sufficient.
    const advice = /ulimit -l (\d+)/.exec(refusals.found['littleMemlock'].message)?.[1]
    refusals.found['advisedMemlock'] = asUser('read', Number(advice))
    await withoutHugePages(() =>
      refusals.of('noHugePages', () => openVfio({ host, bdf: binding.bdf, hugePages: true })),
    )
    await refusals.of('otherMode', () => openVfio({ host, bdf: binding.bdf, mode: 'noiommu' }))
  }
}

if (mode === 'vfio') {
  const [bdf, other] = twins
  await refusals.of('groupInUse', () => bindDriver({ bdf, driver }))
  await using neighbour = await bindDriver({ bdf: other, driver: null })
  await using binding = await bindDriver({ bdf, driver })
  // The other function of the group returns to the kernel's driver after this one is bound to vfio-pci.
  writeFileSync(join(sysfsFolder(neighbour.bdf), 'driver_override'), '\n')
  writeFileSync('/sys/bus/pci/drivers/nvme/bind', other)
  await refusals.of('groupInUseLater', () => openVfio({ host, bdf: binding.bdf }))
}

for (let tries = 0; driverOf({ bdf: fixed.bdf }) !== 'nvme' && tries < 100; tries++) await sleep(50)
print({ refusals: refusals.found })

// Requests that the module or the driver rejects. Each has its own error, and changes nothing.
import { chmodSync, chownSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openKmod } from '@gpunvme/host-driver/kmod'
import { driverOf, fixed, host, kernelDevices, mode, openTransport, print, take } from './lib.js'
import { asUser, NOBODY, Refusals, withoutHugePages } from './refusals-of.js'

const NODE = '/dev/gpunvme0'
const ROOT = 0

const refusals = new Refusals()
await kernelDevices(fixed)
await refusals.of('kernelHasIt', () => openTransport(fixed))
{
  await using binding = await take(fixed)
  await refusals.of('noNode', () => openKmod({ host, device: '/dev/gpunvme7' }))
  refusals.found['userOpens'] = asUser('read')
  await withoutHugePages(() =>
    refusals.of('noHugePages', () => openKmod({ host, device: binding.bdf, hugePages: true })),
  )
  {
    await using transport = await openTransport(binding)
    await refusals.of('openAlready', () => openTransport(binding))
    refusals.found['openElsewhere'] = asUser('read', 'unlimited', ROOT)
    await refusals.of('tooMuch', () => Promise.resolve().then(() => transport.dma.alloc(2 ** 27, { contiguous: true })))
  }
  chownSync(NODE, NOBODY, NOBODY)
  chmodSync(NODE, 0o600)
  refusals.found['userHasTheNode'] = asUser('read')
  // Without IOMMU translation, access to the node is not sufficient.
  if (mode === 'kmod-iommu') {
    refusals.found['littleMemlock'] = asUser('read', 64)
    // The limit that the error suggests must be sufficient.
    const advice = /ulimit -l (\d+)/.exec(refusals.found['littleMemlock'].message)?.[1]
    refusals.found['advisedMemlock'] = asUser('read', Number(advice))
  }
}
for (let tries = 0; driverOf({ bdf: fixed.bdf }) !== 'nvme' && tries < 100; tries++) await sleep(50)
print({ refusals: refusals.found })

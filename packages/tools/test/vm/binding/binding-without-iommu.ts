// Binds a drive on a machine without an IOMMU: to no driver, and to the gpunvme module when it is loaded.
import { existsSync } from 'node:fs'
import { busybox, GPUNVME, gpunvme, linuxName, mountRun, print, SPARE, stateOf } from './lib-of-binding.js'

mountRun()
const { bdf, serial } = SPARE
const confirmed = ['--serial', serial, '--yes']
await linuxName(bdf)

print({ case: 'bind', ended: gpunvme('bind', bdf, ...confirmed, '--json'), after: stateOf(bdf) })
print({ case: 'unbind', ended: gpunvme('unbind', '--all', '--json'), after: stateOf(bdf), name: await linuxName(bdf) })
print({ case: 'vfio-pci', ended: gpunvme('bind', bdf, '--to', 'vfio-pci', ...confirmed), after: stateOf(bdf) })
const run = () => gpunvme('bind', bdf, ...confirmed, '--', ...GPUNVME, 'nvme', 'identify', '--drive', bdf, '--json')
print({ case: 'command', ended: run(), after: stateOf(bdf) })

if (existsSync('/tmp/vm/modules/gpunvme.ko')) {
  busybox('insmod', '/tmp/vm/modules/gpunvme.ko')
  print({ case: 'module', ended: run(), after: stateOf(bdf) })
}
